package dev.partita.plugin.cardreport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.data.Offset.offset;

import dev.partita.plugin.nvml.ProcessSample;
import dev.partita.plugin.usage.measure.ShareRef;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class CardLoadTest {
  private static final ShareRef A = new ShareRef("a", "share");
  private static final ShareRef B = new ShareRef("b", "share");
  private static final ShareRef C = new ShareRef("c", "share");
  private static final long LOOK = 75_000_000;
  private static final long PERIOD = 200_000; // microseconds
  private static final long SECOND = 1_000_000_000;

  private final CardLoad load = new CardLoad(YieldRule.DEFAULT);
  private final Pending regionA = new Pending();
  private final Pending regionB = new Pending();
  private CardLoad.Moment now = new CardLoad.Moment(5_000_000_000L, 1_700_000_000_000_000L);
  private Map<ShareRef, CardReport> reports = Map.of();
  private List<CardLoad.Member> members = List.of();
  private final Map<ShareRef, Pending> regions = new TreeMap<>();
  private Map<Long, Set<ShareRef>> containers = Map.of();
  private int atOnceB = 1;
  private long period; // of NVML

  /** Who is named in a period of NVML's, and with what. */
  private interface Named {
    List<ProcessSample> in(long period, long micros);
  }

  /** A has 30 % of the card, and B, whose launches are always pending, the rest. NVML names B alone. */
  @Test
  void timeIsDividedByWhatWasPendingWhoeverNvmlNames() {
    timed(Set.of(10L), Set.of(20L));
    run(2, 12, 20, all(20, 99));
    Map<ShareRef, CardReport> before = reports;
    run(4, 12, 20, all(20, 99));
    assertThat(percent(before, A)).isCloseTo(30, offset(1.0));
    assertThat(percent(before, B)).isCloseTo(70, offset(1.0));
    assertThat(of(A).othersPercent()).isBetween(60, 80);
    assertThat(of(B).othersPercent()).isBetween(20, 40);
  }

  @Test
  void reportsSayUpToWhenTheirFiguresGoByTheContainersClock() {
    timed(Set.of(10L), Set.of(20L));
    run(1, 20, 20, all(20, 99));
    assertThat(of(A).sampledNanos()).isBetween(now.nanos() - 71_000_000, now.nanos() - DividedTime.LAG);
    assertThat(of(A).atNanos()).isEqualTo(of(A).sampledNanos());
  }

  /** Windows of launches are as long as ever, and in a fifth of them the card waits for the program. */
  @Test
  void aShareThatIsAloneHasWhatTheCardWasBusyFor() {
    timed(Set.of(10L), Set.of());
    run(2, 10, 0, all(10, 40));
    Map<ShareRef, CardReport> before = reports;
    run(4, 10, 0, all(10, 40));
    assertThat(percent(before, A)).isCloseTo(40, offset(1.0));
    assertThat(of(A).othersPercent()).isZero();
  }

  @Test
  void aShareWithoutALimitBesideALimitedOneHasWhatTheCardWasBusyForBeyondThatOne() {
    member(A, 0, Set.of(10L), true, regionA);
    member(C, 0, Set.of(30L), false, new Pending());
    run(2, 8, 0, all(30, 99));
    Map<ShareRef, CardReport> before = reports;
    run(4, 8, 0, all(30, 99));
    assertThat(percent(before, A)).isCloseTo(20, offset(1.0));
    assertThat(percent(before, C)).isCloseTo(79, offset(2.0));
    assertThat(load.isContended()).isTrue();
  }

  @Test
  void aShareWithoutALimitThatIsHardlyUsedTakesLittleFromALimitedOne() {
    member(A, 0, Set.of(10L), true, regionA);
    member(C, 0, Set.of(30L), false, new Pending());
    run(2, 10, 0, all(10, 50));
    Map<ShareRef, CardReport> before = reports;
    run(4, 10, 0, all(10, 50));
    assertThat(percent(before, A)).isCloseTo(50, offset(1.0));
    assertThat(percent(before, C)).isLessThan(1);
    before = reports;
    run(4, 10, 0, all(10, 55)); // C has launches pending for a tenth of the time
    assertThat(percent(before, A)).isCloseTo(47.5, offset(1.0));
    assertThat(percent(before, C)).isCloseTo(7.5, offset(1.5));
  }

  @Test
  void aProcessOfWhichNobodyKnowsWhoseItIsCountsForEveryShareAsItsOwnAndAsOthersUse() {
    timed(Set.of(10L), Set.of(20L));
    run(1, 6, 0, (period, time) -> List.of(at(time, 10, 30)));
    run(1, 6, 0, (period, time) -> List.of(at(time, 10, 30), at(time, 99, 50)));
    Map<ShareRef, CardReport> before = reports;
    run(4, 6, 0, (period, time) -> List.of(at(time, 10, 30), at(time, 99, 50)));
    assertThat(percent(before, A)).as("30 % and the unknown 50 %").isCloseTo(80, offset(3.0));
    assertThat(percent(before, B)).isCloseTo(50, offset(3.0));
    assertThat(of(A).othersPercent()).isEqualTo(50);
    assertThat(of(B).othersPercent()).isBetween(70, 90);
  }

  @Test
  void aProcessThatNoShareHasYetCountsAsTheOwnUseOfItsContainersShareAlone() {
    timed(Set.of(10L), Set.of(20L));
    containers = Map.of(99L, Set.of(B));
    run(1, 6, 0, (period, time) -> List.of(at(time, 10, 30)));
    run(1, 6, 0, (period, time) -> List.of(at(time, 10, 30), at(time, 99, 50)));
    Map<ShareRef, CardReport> before = reports;
    run(4, 6, 0, (period, time) -> List.of(at(time, 10, 30), at(time, 99, 50)));
    assertThat(percent(before, A)).isCloseTo(30, offset(3.0));
    assertThat(percent(before, B)).isCloseTo(50, offset(3.0));
    assertThat(of(A).othersPercent()).as("nothing is lent on its account").isEqualTo(50);
  }

  @Test
  void whatARegionHidesIsItsOwn() {
    timed(Set.of(10L), Set.of(20L));
    run(12, 1, 0, all(10, 99));
    Map<ShareRef, CardReport> before = reports;
    run(4, 1, 0, all(10, 99));
    assertThat(percent(before, A)).as("a fifth of the time less than 99").isCloseTo(79, offset(3.0));
  }

  /** A has half of the card, and NVML names it for the use of both. */
  @Test
  void aNeighbourWhoseRegionSaysThatLaunchesAreAlwaysPendingHasNobodyChargedForMoreThanHalf() {
    timed(Set.of(10L), Set.of(20L, 21L, 22L));
    runAtOnce(12, 10, 3, all(10, 99));
    Map<ShareRef, CardReport> before = reports;
    runAtOnce(4, 10, 3, all(10, 99));
    assertThat(percent(before, A)).isCloseTo(50, offset(3.0));
  }

  /** A's programs use the library of the driver alone, while B always has launches pending. */
  @Test
  void whoHidesAllIsChargedAsMuchAsIfItAlwaysHadLaunchesPending() {
    timed(Set.of(10L), Set.of(20L));
    run(12, 0, 20, all(10, 99));
    Map<ShareRef, CardReport> before = reports;
    run(4, 0, 20, all(10, 99));
    assertThat(percent(before, A)).isCloseTo(50, offset(3.0));
  }

  /** NVML gives A all of the card in each period, where it has 70 %. */
  @Test
  void whatSamplesGiveAShareTooMuchIsToldBesideWhatTheyGiveOthersTooLittle() {
    timed(Set.of(10L), Set.of(20L));
    run(1, 20, 12, all(10, 99));
    load.takeOverNamed();
    run(10, 20, 12, all(10, 99));
    Map<Long, Long> over = load.takeOverNamed();
    assertThat((double) over.getOrDefault(10L, 0L) / SECOND).isCloseTo(10 * 0.29, offset(0.2));
    assertThat((double) over.getOrDefault(20L, 0L) / SECOND).isCloseTo(-10 * 0.30, offset(0.2));
    run(2, 20, 0, all(10, 99));
    load.takeOverNamed();
    run(4, 20, 0, all(10, 99));
    assertThat(load.takeOverNamed()).as("nobody else has launches pending").isEmpty();
  }

  /** A was idle for ten seconds, and then its region has a sum that no stretch has. */
  @Test
  void noProcessIsShownWithMoreThanAllOfTheCardWhateverARegionSays() {
    timed(Set.of(10L), Set.of(20L));
    run(10, 0, 20, all(20, 99));
    run(1, 1, 20, all(20, 99));
    regionA.forge(regionA.read().busyNanos() + 9 * SECOND);
    run(1, 1, 20, all(20, 99));
    int most = 0;
    for (int i = 0; i < 3; i++) {
      regionA.forge(regionA.read().busyNanos() + SECOND);
      look(load, 1, 20, all(20, 99));
      most = Math.max(most, Objects.requireNonNull(load.percents(members).get(10L)));
    }
    assertThat(most).isBetween(90, 100);
  }

  @Test
  void theLowerPriorityIsToldThatTheHigherOneUsesTheCard() {
    member(A, 1, Set.of(10L), false, new Pending());
    member(B, 0, Set.of(20L), false, new Pending());
    run(1, 0, 0, all(10, 99));
    assertThat(of(A).wanted()).isFalse();
    run(1, 0, 0, (period, time) -> List.of(at(time, period % 2 == 0 ? 10 : 20, 99)));
    assertThat(of(A).wanted()).isTrue();
    assertThat(of(B).wanted()).isFalse();
    run(2, 0, 0, (period, time) -> List.of());
    assertThat(of(A).wanted()).isFalse();
  }

  @Test
  void aLittleUseOfHigherPriorityPausesNobody() {
    member(A, 1, Set.of(10L), true, regionA);
    member(B, 0, Set.of(20L), true, regionB);
    run(2, 0, 0.8, all(20, 4));
    assertThat(of(A).wanted()).isFalse();
    run(2, 0, 1.2, all(20, 6));
    assertThat(of(A).wanted()).isTrue();
    run(2, 0, 0.8, all(20, 4));
    assertThat(of(A).wanted()).isFalse();
  }

  @Test
  void useOfHigherPriorityPausesOthersOnceItHasLastedForTheHoldOff() {
    CardLoad patient = new CardLoad(new YieldRule(20, Duration.ofSeconds(1)));
    member(A, 1, Set.of(10L), true, regionA);
    member(B, 0, Set.of(20L), true, regionB);
    int pausedAfter = 0;
    for (int look = 1; look <= 40 && pausedAfter == 0; look++) {
      look(patient, 0, 12, all(20, 60));
      pausedAfter = of(A).wanted() ? look : 0;
    }
    assertThat(pausedAfter * LOOK).isBetween(SECOND, 2 * SECOND);
    for (int look = 0; look < 10; look++) {
      look(patient, 0, 0, all(20, 0));
    }
    assertThat(of(A).wanted()).isFalse();
    for (int look = 0; look < 10; look++) {
      look(patient, 0, 12, all(20, 60));
    }
    assertThat(of(A).wanted()).as("it lasts anew").isFalse();
  }

  @Test
  void reportsGoOnWhileNobodyUsesTheCard() {
    timed(Set.of(10L), Set.of(20L));
    run(1, 0, 0, all(10, 0));
    Map<ShareRef, CardReport> before = reports;
    run(2, 0, 0, all(10, 0));
    assertThat(of(A).number())
        .isGreaterThan(before.get(A) == null ? 0 : Objects.requireNonNull(before.get(A)).number());
    assertThat(passed(before)).isCloseTo(2 * SECOND, offset(LOOK));
    assertThat(percent(before, A)).isZero();
  }

  @Test
  void whatPassesWithoutReportsCountsAsItDoesWithThem() {
    timed(Set.of(10L), Set.of(20L));
    run(1, 0, 0, all(10, 0));
    Map<ShareRef, CardReport> before = reports;
    for (int i = 0; i < 20; i++) {
      now = new CardLoad.Moment(now.nanos() + LOOK, now.epochMicros() + LOOK / 1000);
      load.pass(now);
    }
    run(1, 20, 0, all(10, 99));
    assertThat(passed(before)).isCloseTo(20 * LOOK + SECOND, offset(LOOK));
    assertThat(percent(before, A)).isCloseTo(100.0 * SECOND / (20 * LOOK + SECOND), offset(5.0));
  }

  @Test
  void everyReportIsAsLongAsAnyOther() {
    CardReport small = new CardReport(1, 2, 3, 4, false, 5);
    CardReport large = new CardReport(Long.MAX_VALUE, Long.MAX_VALUE, Long.MAX_VALUE, 100, true, Long.MAX_VALUE);
    assertThat(small.text()).hasSameSizeAs(large.text()).startsWith("partita-card 1\nreport 0").endsWith("1\n");
    assertThat(large.text().length()).isLessThanOrEqualTo(512); // PARTITA_REPORT_LIMIT
  }

  private void timed(Set<Long> a, Set<Long> b) {
    member(A, 1, a, true, regionA);
    member(B, 0, b, true, regionB);
  }

  private void member(ShareRef ref, int priority, Set<Long> pids, boolean timed, Pending region) {
    regions.put(ref, region);
    List<CardLoad.Member> more = new ArrayList<>(members);
    more.add(new CardLoad.Member(ref, priority, pids, timed, region.read()));
    members = more;
  }

  /** B says that launches of so many processes are always pending. */
  private void runAtOnce(int seconds, double pendingA, int atOnce, Named named) {
    atOnceB = atOnce;
    run(seconds, pendingA, 20, named);
  }

  private void run(int seconds, double pendingA, double pendingB, Named named) {
    for (int i = 0; i < seconds * SECOND / LOOK; i++) {
      look(load, pendingA, pendingB, named);
    }
  }

  /** Looks once more; shares had launches pending for so many of every 20 ms. */
  private void look(CardLoad load, double pendingA, double pendingB, Named named) {
    long from = now.nanos();
    now = new CardLoad.Moment(from + LOOK, now.epochMicros() + LOOK / 1000);
    pend(regionA, from, pendingA, 1);
    pend(regionB, from, pendingB, atOnceB);
    List<ProcessSample> samples = List.of();
    if (now.epochMicros() / PERIOD > period) {
      period = now.epochMicros() / PERIOD;
      samples = named.in(period, period * PERIOD);
    }
    reports = load.take(samples, members.stream().map(member -> new CardLoad.Member(member.ref(), member.priority(),
        member.pids(), member.timed(), Objects.requireNonNull(regions.get(member.ref())).read())).toList(), containers,
        now);
  }

  private void pend(Pending region, long from, double millis, int atOnce) {
    long each = 20_000_000;
    for (long at = from - from % each; at < now.nanos(); at += each) {
      long end = Math.min(now.nanos(), at + (long) (millis * 1_000_000));
      if (end > from) {
        region.add(Math.max(from, at), end, atOnce);
      }
    }
  }

  private static Named all(long pid, int percent) {
    return (period, time) -> percent == 0 ? List.of() : List.of(at(time, pid, percent));
  }

  private long passed(Map<ShareRef, CardReport> before) {
    return of(A).atNanos() - Objects.requireNonNull(before.get(A)).atNanos();
  }

  /** What a share had of the time since these reports. */
  private double percent(Map<ShareRef, CardReport> before, ShareRef ref) {
    return 100.0 * (of(ref).busyNanos() - Objects.requireNonNull(before.get(ref)).busyNanos()) / passed(before);
  }

  private static ProcessSample at(long micros, long pid, int percent) {
    return new ProcessSample(pid, micros, percent, 0, 0, 0);
  }

  private CardReport of(ShareRef ref) {
    return Objects.requireNonNull(reports.get(ref));
  }
}
