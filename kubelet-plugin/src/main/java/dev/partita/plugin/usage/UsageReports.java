package dev.partita.plugin.usage;

import dev.partita.api.Bytes;
import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.claimstatus.ClaimReports;
import dev.partita.plugin.claimstatus.DeviceNotes;
import dev.partita.plugin.usage.measure.ShareRef;
import dev.partita.plugin.usage.measure.WatchedShare;
import dev.partita.plugin.usage.verdict.CoreUse;
import dev.partita.plugin.usage.verdict.Debounce;
import dev.partita.plugin.usage.verdict.MemoryState;
import dev.partita.plugin.usage.verdict.ProcessUse;
import dev.partita.plugin.usage.verdict.ShareUse;
import dev.partita.plugin.usage.verdict.UsageWords;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells claims how they are used, when that has changed: a condition at once but not more often than every few seconds,
 * a figure when it has changed by much, and everything now and then, should a report have been lost.
 */
final class UsageReports {
  private static final Logger LOG = LoggerFactory.getLogger(UsageReports.class);
  private static final Duration BETWEEN = Duration.ofSeconds(5);
  private static final Duration BETWEEN_FIGURES = Duration.ofMinutes(1);
  private static final Duration AGAIN = Duration.ofMinutes(5);
  private static final long LITTLE = 16L << 20;

  private record Said(Map<String, DeviceNotes> notes, Instant when) {}

  private record Blame(String reason, List<Long> pids) {}

  private final ClaimReports reports;
  private final Map<String, Said> said = new HashMap<>();
  private final Map<ShareRef, Blame> blamed = new HashMap<>();
  private final Set<ShareRef> beyondCores = new HashSet<>();
  private final Set<ShareRef> everUsed = new HashSet<>();
  private final Debounce overLocked = new Debounce();
  private final Debounce grown = new Debounce();

  UsageReports(ClaimReports reports) {
    this.reports = reports;
  }

  /**
   * Tells what is new.
   *
   * @param lasting the memory state of each share that has lasted
   * @param cores whether each keeps to its core limit
   * @param overheads what the quota files say, in bytes
   */
  void tell(
      Collection<ShareUse> uses,
      Map<ShareRef, MemoryState> lasting,
      Map<ShareRef, CoreUse> cores,
      Map<ShareRef, Long> overheads,
      Instant now) {
    Map<PreparedClaim, Map<String, DeviceNotes>> byClaim = new HashMap<>();
    for (ShareUse use : uses) {
      ShareRef ref = use.share().ref();
      MemoryState memory = lasting.getOrDefault(ref, new MemoryState.Held());
      CoreUse core = cores.getOrDefault(ref, new CoreUse.NotLimited());
      if (!use.processes().isEmpty()) {
        everUsed.add(ref);
      }
      if (everUsed.contains(ref)) {
        byClaim
            .computeIfAbsent(use.share().prepared(), c -> new TreeMap<>())
            .put(ref.key(), UsageWords.notes(use, memory, core, overheads.getOrDefault(ref, 0L)));
      }
      blame(use, memory);
      blame(use, core);
    }
    byClaim.forEach((claim, notes) -> tell(claim, notes, now));
    List<ShareRef> refs = uses.stream().map(use -> use.share().ref()).toList();
    everUsed.retainAll(refs);
    blamed.keySet().retainAll(refs);
    beyondCores.retainAll(refs);
    overLocked.retain(refs);
    grown.retain(refs);
    said.keySet().retainAll(refs.stream().map(ShareRef::uid).toList());
  }

  /**
   * An event on a share whose region has more locks than can be searched for those of its slots, and no other until it
   * had fewer for a minute.
   */
  void tellOfLocks(WatchedShare share, Instant now) {
    if (overLocked.begins(share.ref(), now)) {
      LOG.warn("claim {}: {}", share.claim(), UsageWords.TOO_MANY_LOCKS_MESSAGE);
      reports.misused(share.claim(), UsageWords.TOO_MANY_LOCKS, UsageWords.TOO_MANY_LOCKS_MESSAGE);
    }
  }

  /** An event on a share whose region a container has let grow, and no other until it had its size for a minute. */
  void tellOfGrowth(WatchedShare share, Instant now) {
    if (grown.begins(share.ref(), now)) {
      LOG.warn("claim {}: {}", share.claim(), UsageWords.USAGE_REGION_GROWN_MESSAGE);
      reports.misused(share.claim(), UsageWords.USAGE_REGION_GROWN, UsageWords.USAGE_REGION_GROWN_MESSAGE);
    }
  }

  private void tell(PreparedClaim claim, Map<String, DeviceNotes> notes, Instant now) {
    Said last = said.get(claim.claim().uid());
    if (last == null || isDue(last, notes, Duration.between(last.when(), now))) {
      said.put(claim.claim().uid(), new Said(notes, now));
      reports.used(claim, notes);
    }
  }

  private static boolean isDue(Said last, Map<String, DeviceNotes> notes, Duration since) {
    if (since.compareTo(BETWEEN) < 0) {
      return false;
    }
    return !verdicts(last.notes()).equals(verdicts(notes))
        || (since.compareTo(BETWEEN_FIGURES) >= 0 && differsByMuch(last.notes(), notes))
        || since.compareTo(AGAIN) >= 0;
  }

  private static List<String> verdicts(Map<String, DeviceNotes> notes) {
    return notes.entrySet().stream()
        .flatMap(e -> e.getValue().conditions().stream()
            .map(n -> String.join(" ", e.getKey(), n.type(), n.status(), n.reason())))
        .sorted()
        .toList();
  }

  private static boolean differsByMuch(Map<String, DeviceNotes> before, Map<String, DeviceNotes> now) {
    return now.entrySet().stream()
        .anyMatch(e -> !before.containsKey(e.getKey())
            || Math.abs(overhead(e.getValue()) - overhead(before.get(e.getKey()))) >= LITTLE);
  }

  private static long overhead(DeviceNotes notes) {
    String text = notes.data().get(UsageWords.OVERHEAD);
    return text == null ? 0 : Bytes.of(text);
  }

  /** An event when somebody is to blame, and another one when it is somebody else. */
  private void blame(ShareUse use, MemoryState memory) {
    List<Long> pids = memory.blamed().stream().map(ProcessUse::pid).sorted().toList();
    Blame now = new Blame(UsageWords.reason(memory), pids);
    boolean known = now.equals(blamed.put(use.share().ref(), now));
    if (!pids.isEmpty() && !known) {
      reports.misused(use.share().claim(), now.reason(), UsageWords.message(use, memory));
    }
  }

  /**
   * An event when a share is beyond its core limit, and no other until it was within: who of its processes is at work
   * changes all the time.
   */
  private void blame(ShareUse use, CoreUse core) {
    switch (core) {
      case CoreUse.Exceeded exceeded -> {
        if (beyondCores.add(use.share().ref())) {
          reports.misused(use.share().claim(), UsageWords.CORE_LIMIT_EXCEEDED, UsageWords.message(use, exceeded));
        }
      }
      case CoreUse.NotLimited ignored -> beyondCores.remove(use.share().ref());
      case CoreUse.Within ignored -> beyondCores.remove(use.share().ref());
      case CoreUse.Watched ignored -> {}
      case CoreUse.Untold ignored -> {}
    }
  }
}
