package dev.partita.plugin.usage;

import dev.partita.api.Bytes;
import dev.partita.api.device.DeviceStatusData;
import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.claimstatus.ClaimReports;
import dev.partita.plugin.claimstatus.DeviceNotes;
import dev.partita.plugin.usage.measure.WatchedShare;
import dev.partita.plugin.usage.verdict.ShareVerdict;
import dev.partita.plugin.usage.verdict.UsageWords;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Writes into claims' status how they are used, when that has changed: a changed condition at once, but only every few
 * seconds; a figure when it has changed by much; and everything now and then, in case a report was lost.
 */
final class UsageReports {
  private static final Duration BETWEEN = Duration.ofSeconds(5);
  private static final Duration BETWEEN_FIGURES = Duration.ofMinutes(1);
  private static final Duration AGAIN = Duration.ofMinutes(5);
  private static final long LITTLE = 16L << 20;

  private record Said(Map<String, DeviceNotes> notes, Instant when) {}

  private final ClaimReports reports;
  private final Map<String, Said> said = new HashMap<>();

  UsageReports(ClaimReports reports) {
    this.reports = reports;
  }

  /**
   * Tells what is new.
   *
   * @param verdicts on shares that were ever used
   * @param claims UIDs of all claims; the others are forgotten
   */
  void tell(Collection<ShareVerdict> verdicts, Set<String> claims, Instant now) {
    Map<PreparedClaim, Map<String, DeviceNotes>> byClaim = new HashMap<>();
    for (ShareVerdict verdict : verdicts) {
      WatchedShare share = verdict.use().share();
      byClaim.computeIfAbsent(share.prepared(), c -> new TreeMap<>())
          .put(share.ref().key(), UsageWords.notes(verdict));
    }
    byClaim.forEach((claim, notes) -> tell(claim, notes, now));
    said.keySet().retainAll(claims);
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
            .map(n -> String.join(" ", e.getKey(), n.type().name(), n.status(), n.reason().name())))
        .sorted()
        .toList();
  }

  private static boolean differsByMuch(Map<String, DeviceNotes> before, Map<String, DeviceNotes> now) {
    return now.entrySet().stream()
        .anyMatch(e -> !before.containsKey(e.getKey())
            || Math.abs(overhead(e.getValue()) - overhead(before.get(e.getKey()))) >= LITTLE);
  }

  private static long overhead(DeviceNotes notes) {
    String text = notes.data().get(DeviceStatusData.MEMORY_OVERHEAD.key());
    return text == null ? 0 : Bytes.of(text);
  }
}
