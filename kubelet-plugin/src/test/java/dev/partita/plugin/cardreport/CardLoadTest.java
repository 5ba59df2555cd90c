package dev.partita.plugin.cardreport;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.plugin.nvml.ProcessSample;
import dev.partita.plugin.usage.measure.ShareRef;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;

class CardLoadTest {
  private static final ShareRef A = new ShareRef("a", "share");
  private static final ShareRef B = new ShareRef("b", "share");
  private static final long POLL = 200_000_000;

  private final CardLoad load = new CardLoad(YieldRule.DEFAULT);
  private CardLoad.Moment now = new CardLoad.Moment(5_000_000_000L, 1_050_000);

  @Test
  void aShareIsToldItsOwnTimeAndWhatOthersUse() {
    take(at(1_000_000, 10, 30), at(1_000_000, 11, 20), at(1_000_000, 20, 40));
    Map<ShareRef, CardReport> reports = take(at(1_200_000, 10, 30), at(1_200_000, 11, 20), at(1_200_000, 20, 40));
    assertThat(of(reports, A).busyNanos()).isEqualTo(100_000_000);
    assertThat(of(reports, A).othersPercent()).isEqualTo(40);
    assertThat(of(reports, B).busyNanos()).isEqualTo(80_000_000);
    assertThat(of(reports, B).othersPercent()).isEqualTo(50);
    assertThat(of(reports, A).atNanos()).isEqualTo(200_000_000);
  }

  @Test
  void aProcessOfWhichNobodyKnowsWhoseItIsCountsForEveryShareAsItsOwnAndAsOthersUse() {
    take(at(1_000_000, 10, 30));
    Map<ShareRef, CardReport> reports = take(at(1_200_000, 10, 30), at(1_200_000, 99, 50));
    assertThat(of(reports, A).busyNanos()).as("30 % and the unknown 50 % of 200 ms").isEqualTo(160_000_000);
    assertThat(of(reports, A).othersPercent()).isEqualTo(50);
    assertThat(of(reports, B).busyNanos()).isEqualTo(100_000_000);
    assertThat(of(reports, B).othersPercent()).isEqualTo(80);
  }

  @Test
  void timeInWhichAProcessHadNoSampleIsNotItsOwn() {
    take(at(1_000_000, 10, 50));
    take(at(1_200_000, 20, 50)); // 10 was idle
    assertThat(of(take(at(1_400_000, 10, 50)), A).busyNanos()).isEqualTo(100_000_000);
  }

  @Test
  void aSampleTellsOfNoMoreThanItsPeriodAfterACardWasIdleForLong() {
    take(at(1_000_000, 10, 50));
    take(at(1_200_000, 10, 50));
    CardReport before = of(take(at(1_400_000, 10, 50)), A);
    CardReport after = of(take(at(9_000_000, 10, 50)), A);
    assertThat(after.busyNanos() - before.busyNanos()).isEqualTo(100_000_000);
    assertThat(after.atNanos() - before.atNanos()).isEqualTo(200_000_000);
  }

  @Test
  void aSampleOfThePeriodBeforeTheNewestCountsForWhatWasUsedButNotForWhatIs() {
    take(at(1_000_000, 10, 50), at(1_000_000, 20, 50));
    take(at(1_200_000, 10, 50), at(1_200_000, 20, 50));
    Map<ShareRef, CardReport> reports = take(at(1_600_000, 10, 50), at(1_400_000, 20, 50));
    assertThat(of(reports, A).othersPercent()).isZero();
    assertThat(of(reports, B).busyNanos()).isEqualTo(200_000_000);
  }

  @Test
  void betweenTwoSamplesWhatWasToldHolds() {
    take(at(1_000_000, 10, 50), at(1_000_000, 20, 30));
    CardReport told = of(take(at(1_200_000, 10, 50), at(1_200_000, 20, 30)), A);
    CardReport same = of(take(), A);
    assertThat(same).usingRecursiveComparison().ignoringFields("number").isEqualTo(told);
    assertThat(same.number()).isEqualTo(told.number() + 1);
    take();
    assertThat(of(take(), A).othersPercent()).as("two periods without a sample").isZero();
  }

  @Test
  void reportsSayUpToWhenTheirFiguresGoByTheContainersClock() {
    CardReport report = of(take(at(1_000_000, 10, 50)), A);
    assertThat(report.sampledNanos()).isEqualTo(now.nanos() - (now.epochMicros() - 1_000_000) * 1000);
    assertThat(of(take(at(Long.MAX_VALUE / 100_000, 10, 50)), A).sampledNanos()).as("not the time of day").isZero();
  }

  @Test
  void theLowerPriorityIsToldThatTheHigherOneUsesTheCard() {
    take(at(1_000_000, 10, 50));
    Map<ShareRef, CardReport> reports = take(at(1_200_000, 10, 50), at(1_200_000, 20, 5));
    assertThat(of(reports, A).wanted()).isTrue(); // B has priority 0
    assertThat(of(reports, B).wanted()).isFalse();
    take();
    assertThat(of(take(at(1_400_000, 10, 50)), A).wanted()).isFalse();
  }

  @Test
  void reportsGoOnWhileNobodyUsesTheCard() {
    CardReport first = of(take(), A);
    CardReport last = first;
    for (int i = 0; i < 10; i++) {
      last = of(take(), A);
    }
    assertThat(last.number()).isEqualTo(first.number() + 10);
    assertThat(last.atNanos()).isEqualTo(first.atNanos() + 10 * POLL);
  }

  @Test
  void whatPassesWithoutReportsCountsAsItDoesWithThem() {
    CardLoad other = new CardLoad(YieldRule.DEFAULT);
    take();
    other.take(List.of(), List.of(), now);
    for (int i = 0; i < 20; i++) {
      take();
      other.pass(now);
    }
    now = new CardLoad.Moment(now.nanos() + POLL, now.epochMicros() + POLL / 1000);
    List<CardLoad.Member> members = List.of(new CardLoad.Member(A, 1, Set.of(10L)));
    CardReport with = of(load.take(List.of(), members, now), A);
    assertThat(of(other.take(List.of(), members, now), A).atNanos()).isEqualTo(with.atNanos()).isPositive();
  }

  @Test
  void aLittleUseOfHigherPriorityPausesNobody() {
    take(at(1_000_000, 20, 50));
    assertThat(of(take(at(1_200_000, 20, 4)), A).wanted()).isFalse();
    assertThat(of(take(at(1_400_000, 20, 5)), A).wanted()).isTrue();
    assertThat(of(take(at(1_600_000, 20, 4)), A).wanted()).isFalse();
  }

  @Test
  void useOfHigherPriorityPausesOthersOnceItHasLastedForTheHoldOff() {
    CardLoad patient = new CardLoad(new YieldRule(20, Duration.ofSeconds(1)));
    int pausedAfter = 0;
    for (int i = 1; i <= 20 && pausedAfter == 0; i++) {
      pausedAfter = of(take(patient, at(1_000_000 + 200_000 * i, 20, 60)), A).wanted() ? i : 0;
    }
    assertThat(pausedAfter).isEqualTo(1 + (int) Math.ceilDiv(1_000_000_000, POLL));
    assertThat(of(take(patient, at(6_000_000, 20, 0)), A).wanted()).isFalse();
    assertThat(of(take(patient, at(6_200_000, 20, 60)), A).wanted()).as("it lasts anew").isFalse();
  }

  @Test
  void everyReportIsAsLongAsAnyOther() {
    CardReport small = new CardReport(1, 2, 3, 4, false, 5);
    CardReport large = new CardReport(Long.MAX_VALUE, Long.MAX_VALUE, Long.MAX_VALUE, 100, true, Long.MAX_VALUE);
    assertThat(small.text()).hasSameSizeAs(large.text()).startsWith("partita-card 1\nreport 0").endsWith("1\n");
    assertThat(large.text().length()).isLessThanOrEqualTo(512); // PARTITA_REPORT_LIMIT
  }

  private Map<ShareRef, CardReport> take(ProcessSample... samples) {
    return take(load, samples);
  }

  private Map<ShareRef, CardReport> take(CardLoad load, ProcessSample... samples) {
    now = new CardLoad.Moment(now.nanos() + POLL, now.epochMicros() + POLL / 1000);
    return load.take(List.of(samples),
        List.of(new CardLoad.Member(A, 1, Set.of(10L, 11L)), new CardLoad.Member(B, 0, Set.of(20L))), now);
  }

  private static ProcessSample at(long micros, long pid, int percent) {
    return new ProcessSample(pid, micros, percent, 0, 0, 0);
  }

  private static CardReport of(Map<ShareRef, CardReport> reports, ShareRef ref) {
    return Objects.requireNonNull(reports.get(ref));
  }
}
