package dev.partita.plugin.usage;

import dev.partita.api.Bytes;
import dev.partita.plugin.claim.Grant;
import dev.partita.plugin.claimstatus.DeviceNotes;
import dev.partita.plugin.claimstatus.DeviceNotes.Note;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** What a share is used for, in words and in flat data. */
final class UsageWords {
  static final String WITHIN_MEMORY_LIMIT = "WithinMemoryLimit";
  static final String CORE_LIMIT_ENFORCED = "CoreLimitEnforced";
  static final String OVERHEAD = "memoryOverhead";

  private static final long MIB = 1L << 20;

  private UsageWords() {}

  /**
   * For the claim's status. Figures that change all the time are not in it.
   *
   * @param overheadBytes what the quota file says
   */
  static DeviceNotes notes(ShareUse use, MemoryState memory, long overheadBytes) {
    List<Note> notes = new ArrayList<>();
    notes.add(new Note(WITHIN_MEMORY_LIMIT, memory instanceof MemoryState.Held, reason(memory), message(use, memory)));
    switch (use.cores()) {
      case CoreState.Unused ignored -> {}
      case CoreState.Enforced ignored ->
          notes.add(new Note(CORE_LIMIT_ENFORCED, true, "Enforced", "what its processes launch is limited"));
      case CoreState.NotEnforced not -> notes.add(new Note(CORE_LIMIT_ENFORCED, false, not.reason(), not.message()));
    }
    long up = (overheadBytes + MIB - 1) / MIB * MIB;
    return new DeviceNotes(Map.of(OVERHEAD, Bytes.quantity(up).toString()), notes);
  }

  /** One CamelCase word, the same in conditions and events. */
  static String reason(MemoryState memory) {
    return switch (memory) {
      case MemoryState.Held ignored -> "WithinLimit";
      case MemoryState.OverheadBeyond ignored -> "OverheadBeyondLimit";
      case MemoryState.Exceeded ignored -> "LimitExceeded";
      case MemoryState.Bypassed ignored -> "LedgerBypassed";
    };
  }

  static String message(ShareUse use, MemoryState memory) {
    String limit = limit(use.share().share());
    return switch (memory) {
      case MemoryState.Held ignored -> "its processes hold no more than " + limit + ", by NVML";
      case MemoryState.OverheadBeyond beyond ->
          "contexts and modules of its processes came on top of memory that was in use: "
              + Bytes.words(beyond.excessBytes())
              + " more than "
              + limit
              + "; nothing more is granted until as much is freed. Ask for more memory, or use fewer processes";
      case MemoryState.Exceeded exceeded ->
          offenders(exceeded.offenders())
              + "; the claim has "
              + limit
              + " of "
              + use.share().grant().card().uuid()
              + ". More than contexts can explain does not go through the interception library: a libcuda of its own, or a forged"
              + " ledger. End the pod, and look at what it runs";
      case MemoryState.Bypassed bypassed ->
          offenders(bypassed.offenders())
              + " of "
              + use.share().grant().card().uuid()
              + " without the interception library, so that nothing holds it to the claim's "
              + limit
              + ": a libcuda of its own, or a program that was there before. Look at what the pod runs";
    };
  }

  /** How much of a share is managed memory, which does not count against its part of the card, nobody but its processes says. */
  private static String limit(Grant.Share share) {
    String memory = Bytes.words(share.memoryBytes());
    return share.physicalBytes() == share.memoryBytes()
        ? memory
        : Bytes.words(share.physicalBytes()) + " (" + memory + " with what its processes call managed memory)";
  }

  private static String offenders(List<ProcessUse> offenders) {
    return offenders.stream()
        .map(
            p ->
                "process %d (pid on the node) holds %s, of which the ledger has %s"
                    .formatted(p.pid(), Bytes.words(p.bytes()), p.ledgerBytes() == 0 ? "nothing" : Bytes.words(p.ledgerBytes())))
        .collect(Collectors.joining(", "));
  }
}
