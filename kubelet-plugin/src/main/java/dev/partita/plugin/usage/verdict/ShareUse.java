package dev.partita.plugin.usage.verdict;

import dev.partita.plugin.usage.measure.ShareRef;
import dev.partita.plugin.usage.measure.WatchedShare;
import java.util.List;
import java.util.Set;

/**
 * What a share is used for at one moment: all that a condition or a decision needs.
 *
 * @param processes those that hold some of it
 * @param cores whether its core limit holds, by the word of its processes
 * @param beside other shares of the card that a container has together with it
 * @param memory whether its memory limit holds
 */
public record ShareUse(
    WatchedShare share,
    List<ProcessUse> processes,
    CoreState cores,
    Set<ShareRef> beside,
    MemoryState memory) {

  public ShareUse {
    processes = List.copyOf(processes);
    beside = Set.copyOf(beside);
  }

  /** The same with another word on its core limit. */
  public ShareUse with(CoreState word) {
    return new ShareUse(share, processes, word, beside, memory);
  }

  /** Bytes of the card that its processes hold, by NVML. */
  public long bytes() {
    return processes.stream().mapToLong(ProcessUse::bytes).sum();
  }

  /** What contexts and modules of its processes take, in bytes. */
  public long overheadBytes() {
    return processes.stream().mapToLong(ProcessUse::overheadBytes).sum();
  }
}
