package dev.partita.plugin.usage.verdict;

import dev.partita.api.Bytes;
import dev.partita.api.device.DeviceStatusData;
import dev.partita.plugin.claimstatus.DeviceCondition.Reason;
import dev.partita.plugin.claimstatus.DeviceCondition;
import dev.partita.plugin.claimstatus.DeviceNotes.Note;
import dev.partita.plugin.claimstatus.DeviceNotes;
import dev.partita.plugin.grant.Share;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Describes what a share is used for, as text and as flat data. */
public final class UsageWords {
  public static final String TOO_MANY_LOCKS_MESSAGE =
      "a process has taken so many locks on the usage region that they cannot all be searched: processes that are not found because of that count as if no ledger knew of them";

  public static final String USAGE_REGION_GROWN_MESSAGE =
      "a process has written behind the end of the usage region, in the node's memory: what it added is removed every second. No program"
          + " that uses CUDA does that. End the pod, and look at what it runs";

  private static final long MIB = 1L << 20;
  private static final int NAMED = 5; // an event's note ends at 1 KiB

  private UsageWords() {}

  /**
   * For the claim's status.
   *
   * @param figures in MiB, rounded up
   */
  public static DeviceNotes notes(ShareVerdict verdict, UseFigures figures) {
    ShareUse use = verdict.use();
    MemoryState memory = verdict.memory();
    List<Note> notes = new ArrayList<>();
    notes.add(
        memory instanceof MemoryState.Held
            ? Note.holds(DeviceCondition.WithinMemoryLimit, reason(memory), message(use, memory))
            : Note.fails(DeviceCondition.WithinMemoryLimit, reason(memory), message(use, memory)));
    switch (use.cores()) {
      case CoreState.Unused ignored -> {}
      case CoreState.Enforced ignored ->
          notes.add(
              Note.holds(DeviceCondition.CoreLimitEnforced, Reason.Enforced, "what its processes launch is limited"));
      case CoreState.NotEnforced not ->
          notes.add(Note.fails(DeviceCondition.CoreLimitEnforced, not.reason(), not.message()));
    }
    switch (verdict.cores()) {
      case CoreUse.NotLimited ignored -> {}
      case CoreUse.Watched ignored -> {}
      case CoreUse.Within within ->
          notes.add(
              Note.holds(
                  DeviceCondition.WithinCoreLimit,
                  Reason.WithinLimit,
                  "its processes have no more of the card's time, by NVML, than " + whose(use) + ": " + within.limit()
                      + " %"));
      case CoreUse.Exceeded exceeded ->
          notes.add(Note.fails(DeviceCondition.WithinCoreLimit, Reason.CoreLimitExceeded, message(use, exceeded)));
      case CoreUse.Untold untold ->
          notes.add(
              Note.unknown(
                  DeviceCondition.WithinCoreLimit, Reason.NotMeasured,
                  "NVML does not tell what its processes use of " + use.share().card() + ": " + untold.why()));
    }
    return new DeviceNotes(data(figures), notes);
  }

  private static Map<String, String> data(UseFigures figures) {
    Map<String, String> data = new TreeMap<>();
    data.put(DeviceStatusData.MEMORY_OVERHEAD.key(), mebibytes(figures.overheadBytes()));
    data.put(DeviceStatusData.MEMORY_USED.key(), mebibytes(figures.usedBytes()));
    data.put(DeviceStatusData.MEMORY_PEAK.key(), mebibytes(figures.peakBytes()));
    data.put(DeviceStatusData.PROCESSES.key(), String.valueOf(figures.processes()));
    figures.coresPercent()
        .ifPresent(percent -> data.put(DeviceStatusData.CORES_USED.key(), String.valueOf(percent)));
    figures.throttledPercent()
        .ifPresent(percent -> data.put(DeviceStatusData.THROTTLED_SHARE.key(), String.valueOf(percent)));
    return data;
  }

  /** Data of what only NVML sees. */
  public static Map<String, String> withoutLedger(UseFigures figures) {
    return Map.of(DeviceStatusData.MEMORY_USED.key(), mebibytes(figures.usedBytes()),
        DeviceStatusData.PROCESSES.key(), String.valueOf(figures.processes()));
  }

  private static String mebibytes(long bytes) {
    return Bytes.quantity((bytes + MIB - 1) / MIB * MIB).toString();
  }

  /** Reason of the condition. */
  public static Reason reason(MemoryState memory) {
    return switch (memory) {
      case MemoryState.Held ignored -> Reason.WithinLimit;
      case MemoryState.OverheadBeyond ignored -> Reason.OverheadBeyondLimit;
      case MemoryState.Exceeded ignored -> Reason.LimitExceeded;
      case MemoryState.Bypassed ignored -> Reason.LedgerBypassed;
    };
  }

  public static String message(ShareUse use, MemoryState memory) {
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

  public static String message(ShareUse use, CoreUse.Exceeded exceeded) {
    return String.format(Locale.ROOT,
        "its processes had %d %% of the time of %s since %s, where %s %d %% at most: %s. That much does not go through the interception library: a libcuda of its own, a forged ledger, or work that it does not hold back (kernels of many seconds, copies within the card). Look at what the pod runs",
        exceeded.percent(),
        use.share().card(),
        exceeded.since(),
        whose(use),
        exceeded.limit(),
        users(exceeded.users()));
  }

  private static String whose(ShareUse use) {
    return use.beside().isEmpty() ? "the claim has" : "the claim has with the other shares of its containers";
  }

  private static String users(List<CoreUse.User> users) {
    if (users.isEmpty()) {
      return "they have ended";
    }
    return named(users,
        user -> String.format(Locale.ROOT, "process %d (pid on the node) %d %%%s", user.pid(), user.percent(),
            user.inLedger() ? "" : " and in no ledger"));
  }

  /**
   * The share's memory limit in words. Managed memory does not count against the share's part of the card, and only its
   * processes say how much of it there is.
   */
  private static String limit(Share share) {
    String memory = Bytes.words(share.memoryBytes());
    return share.physicalBytes() == share.memoryBytes()
        ? memory
        : Bytes.words(share.physicalBytes()) + " (" + memory + " with what its processes call managed memory)";
  }

  private static String offenders(List<ProcessUse> offenders) {
    return named(offenders, process -> String.format(Locale.ROOT,
        "process %d (pid on the node) holds %s, of which the ledger has %s", process.pid(),
        Bytes.words(process.bytes()),
        process.ledgerBytes() == 0 ? "nothing" : Bytes.words(process.ledgerBytes())));
  }

  /** A container may have hundreds: the API would refuse a condition of more than 32 KiB, and all that is beside it. */
  private static <T> String named(List<T> processes, Function<T, String> words) {
    String some = processes.stream().limit(NAMED).map(words).collect(Collectors.joining(", "));
    return processes.size() <= NAMED ? some : some + " and " + (processes.size() - NAMED) + " more";
  }
}
