package dev.partita.plugin.usage.verdict;

import dev.partita.plugin.usage.measure.OverheadBook;
import dev.partita.plugin.usage.measure.ShareRef;
import dev.partita.plugin.usage.measure.WatchedShare;
import dev.partita.plugin.usage.region.Ledger;
import java.util.List;
import java.util.Set;

/**
 * What a share is used for at one moment: all that a metric, a condition or a decision needs.
 *
 * @param processes those that hold some of it
 * @param ledger what its ledger says
 * @param cores whether its core limit holds, by the word of its processes
 * @param beside other shares of the card that a container has together with it
 * @param memory whether its memory limit holds
 */
public record ShareUse(
    WatchedShare share,
    List<ProcessUse> processes,
    LedgerTotals ledger,
    CoreState cores,
    Set<ShareRef> beside,
    MemoryState memory) {

  /**
   * What the ledger of a share says, most of it by the word of the container.
   *
   * @param grantedBytes what it has granted to living processes
   * @param refused allocations that the quota did not allow, since the region was made
   * @param repairs times that the region was found wrong and mended
   * @param throttledNanos time that launches waited for the core limit, over all threads
   */
  public record LedgerTotals(long grantedBytes, long refused, long repairs, long throttledNanos) {
    /** Of a share that nobody has used. */
    public static final LedgerTotals NONE = new LedgerTotals(0, 0, 0, 0);

    /** The totals of a ledger. */
    static LedgerTotals of(Ledger ledger) {
      return new LedgerTotals(ledger.seats().stream().mapToLong(seat -> seat.slot().heldBytes()).sum(),
          Math.max(0, ledger.refused()), Math.max(0, ledger.repairs()), Math.max(0, ledger.throttledNanos()));
    }
  }

  public ShareUse {
    processes = List.copyOf(processes);
    beside = Set.copyOf(beside);
  }

  /** The same with another word on its core limit. */
  public ShareUse with(CoreState word) {
    return new ShareUse(share, processes, ledger, word, beside, memory);
  }

  /** Bytes of the card that its processes hold, by NVML. */
  public long bytes() {
    return processes.stream().mapToLong(ProcessUse::bytes).sum();
  }

  /** Bytes that its processes hold: of the card, by NVML, or by its ledger where that has more. */
  public long heldBytes() {
    return Math.max(bytes(), ledger.grantedBytes());
  }

  /**
   * The same without what contexts and modules take of the card on top of a share that is full.
   *
   * @param plausible bytes, as {@link OverheadBook#plausible}
   */
  public long chargedBytes(long plausible) {
    return Math.max(cardBytes(plausible), ledger.grantedBytes());
  }

  /**
   * Bytes of the card that its processes hold, by NVML alone, without what contexts and modules are believed to take on
   * top of a share that is full. A process whose memory no ledger knows of seems to hold nothing but those. So as much
   * as is usual is believed of each process, and more only once for the share: of two processes without a ledger that
   * hold 12 GiB each, 4 of the 24 GiB are.
   *
   * @param plausible bytes, as {@link OverheadBook#plausible}
   */
  public long cardBytes(long plausible) {
    long usual = processes.stream().mapToLong(process -> Math.min(process.uncharged(), OverheadBook.USUAL)).sum();
    return bytes() - Math.max(usual, Math.min(unchargedOverheadBytes(), plausible));
  }

  /** What contexts and modules of its processes take, in bytes. */
  public long overheadBytes() {
    return processes.stream().mapToLong(ProcessUse::overheadBytes).sum();
  }

  /** What of that the ledger does not have, in bytes. */
  public long unchargedOverheadBytes() {
    return processes.stream().mapToLong(ProcessUse::uncharged).sum();
  }
}
