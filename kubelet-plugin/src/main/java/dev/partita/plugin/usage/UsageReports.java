package dev.partita.plugin.usage;

import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.claimstatus.DeviceNotes;
import dev.partita.plugin.usage.measure.ShareRef;
import dev.partita.plugin.usage.verdict.ShareUse;
import dev.partita.plugin.usage.verdict.ShareVerdict;
import dev.partita.plugin.usage.verdict.UsageWords;
import dev.partita.plugin.usage.verdict.UseFigures;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Writes into claims' status how they are used, when that has changed: a changed condition at once, but only every few
 * seconds; figures when they have changed by much, at most once a minute; and everything now and then, in case a report
 * was lost.
 */
final class UsageReports {
  private static final Duration BETWEEN = Duration.ofSeconds(5);
  private static final Duration BETWEEN_FIGURES = Duration.ofMinutes(1);
  private static final Duration AGAIN = Duration.ofMinutes(5);

  /** Samples come several times a second: a share's time over less than this is chance. */
  private static final long LEAST_WATCHED = 1_000_000_000;

  private static final int PERCENT = 100;
  private static final int THROTTLED_STEP = 5;

  /**
   * What a share's claim is told.
   *
   * @param total which the figures were made from
   */
  private record Told(DeviceNotes notes, UseFigures figures, UseTotals.Total total) {
    List<String> conditions() {
      return notes.conditions().stream().map(n -> String.join(" ", n.type().name(), n.status(), n.reason().name()))
          .sorted().toList();
    }
  }

  /** @param claim as it was prepared then: a resize gives it another record */
  private record Said(PreparedClaim claim, Map<String, Told> shares, Instant when) {}

  private final BiConsumer<PreparedClaim, Map<String, DeviceNotes>> reports;
  private final UseTotals totals;
  private final Map<String, Said> said = new HashMap<>();

  /** @param reports takes what is to be written of a claim, by share key */
  UsageReports(BiConsumer<PreparedClaim, Map<String, DeviceNotes>> reports, UseTotals totals) {
    this.reports = reports;
    this.totals = totals;
  }

  /**
   * Tells what is new.
   *
   * @param verdicts on shares whose claims say something of their use
   * @param claims UIDs of all claims; the others are forgotten
   */
  void tell(Collection<ShareVerdict> verdicts, Set<String> claims, Instant now) {
    Map<PreparedClaim, Map<String, Told>> byClaim = new HashMap<>();
    for (ShareVerdict verdict : verdicts) {
      ShareRef share = verdict.use().share().ref();
      byClaim.computeIfAbsent(verdict.use().share().prepared(), c -> new TreeMap<>())
          .put(share.key(), told(verdict, totals.of(share), now));
    }
    byClaim.forEach((claim, shares) -> tell(claim, shares, now));
    said.keySet().retainAll(claims);
  }

  private Told told(ShareVerdict verdict, UseTotals.Total total, Instant now) {
    ShareUse use = verdict.use();
    @Nullable Said last = said.get(use.share().ref().uid());
    @Nullable Told before = last == null ? null : last.shares().get(use.share().ref().key());
    UseFigures figures =
        new UseFigures(use.share().share().memoryBytes(), use.bytes(), total.peakBytes(), use.overheadBytes(),
            use.processes().size(), coresPercent(total, before == null ? UseTotals.Total.NONE : before.total()),
            last == null || before == null || !use.share().share().limitsCores()
                ? OptionalInt.empty()
                : throttledPercent(total, before, Duration.between(last.when(), now)));
    return new Told(UsageWords.notes(verdict, figures), figures, total);
  }

  private static OptionalInt coresPercent(UseTotals.Total now, UseTotals.Total before) {
    long watched = now.watchedNanos() - before.watchedNanos();
    return watched < LEAST_WATCHED
        ? OptionalInt.empty()
        : OptionalInt
            .of(Math.toIntExact(Math.round((double) (now.gpuNanos() - before.gpuNanos()) * PERCENT / watched)));
  }

  /** In steps of 5, and what the container says is no more than that: it may say anything. */
  private static OptionalInt throttledPercent(UseTotals.Total now, Told before, Duration since) {
    if (since.compareTo(BETWEEN) < 0) {
      return before.figures().throttledPercent();
    }
    double waited = Math.max(0, (double) now.ledger().throttledNanos() - before.total().ledger().throttledNanos());
    long steps = Math.round(Math.min(1, waited / since.toNanos()) * PERCENT / THROTTLED_STEP);
    return OptionalInt.of((int) steps * THROTTLED_STEP);
  }

  private void tell(PreparedClaim claim, Map<String, Told> shares, Instant now) {
    @Nullable Said last = said.get(claim.claim().uid());
    Map<String, Told> all = new TreeMap<>(last == null ? Map.of() : last.shares()); // also of a card that is silent now
    all.putAll(shares);
    if (last == null || !last.claim().equals(claim) || isDue(last, all, Duration.between(last.when(), now))) {
      said.put(claim.claim().uid(), new Said(claim, all, now));
      Map<String, DeviceNotes> notes = new TreeMap<>();
      shares.forEach((share, told) -> notes.put(share, told.notes()));
      reports.accept(claim, notes);
    }
  }

  private static boolean isDue(Said last, Map<String, Told> shares, Duration since) {
    if (since.compareTo(BETWEEN) < 0) {
      return false;
    }
    return !conditions(last.shares()).equals(conditions(shares))
        || (since.compareTo(BETWEEN_FIGURES) >= 0 && isNews(last.shares(), shares))
        || since.compareTo(AGAIN) >= 0;
  }

  private static Map<String, List<String>> conditions(Map<String, Told> shares) {
    Map<String, List<String>> conditions = new TreeMap<>();
    shares.forEach((share, told) -> conditions.put(share, told.conditions()));
    return conditions;
  }

  private static boolean isNews(Map<String, Told> before, Map<String, Told> now) {
    return now.entrySet().stream().anyMatch(
        e -> !before.containsKey(e.getKey()) || e.getValue().figures().isNewsAfter(before.get(e.getKey()).figures()));
  }
}
