package dev.partita.plugin.cardreport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.data.Offset.offset;

import dev.partita.plugin.cardreport.DividedTime.Interval;
import dev.partita.plugin.cardreport.DividedTime.Untimed;
import dev.partita.plugin.usage.measure.ShareRef;
import dev.partita.plugin.usage.region.LaunchTimes;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DividedTimeTest {
  private static final long MILLI = 1_000_000;
  private static final long LOOK = 75 * MILLI;

  private final DividedTime division = new DividedTime();
  private final Map<String, Pending> regions = new TreeMap<>();
  private final Map<String, Integer> processes = new HashMap<>();
  private final Map<String, Long> had = new HashMap<>();
  private Untimed untimed = Untimed.NONE;
  private long untimedHad;
  private long now = 4_000_000 * MILLI;
  private long passed;

  /** Each share has launches pending for so many of every 20 ms, and ever another part of these, or always. */
  @ParameterizedTest(name = "{0}")
  @CsvSource({
    "alone, 20 0 0, 100 0 0",
    "alone and half of the time idle, 10 0 0, 50 0 0",
    "two that always have, 20 20 0, 50 50 0",
    "three that always have, 20 20 20, 33.3 33.3 33.3",
    "one of 30 % beside one that always has, 12 20 0, 30 70 0",
    "one of 20 % beside one that always has, 8 20 0, 20 80 0",
    "two that are never at it at once, 8 -12 0, 40 60 0",
    "one that always has and two at once beside it, 20 6 6, 80 10 10"})
  void timeIsDividedAmongThoseThatHaveLaunchesPending(String what, String pending, String expected) {
    List<String> names = List.of("a", "b", "c");
    int[] millis = Arrays.stream(pending.split(" ")).mapToInt(Integer::parseInt).toArray();
    for (int look = 0; look < 40; look++) {
      long from = now;
      now += LOOK + 5 * MILLI;
      for (long at = from; at < now; at += 20 * MILLI) {
        for (int i = 0; i < millis.length; i++) {
          long begin = millis[i] < 0 ? at + (20 + millis[i]) * MILLI : at;
          region(names.get(i)).add(begin, begin + Math.abs(millis[i]) * MILLI);
        }
      }
      look(look > 0);
    }
    double[] percents = Arrays.stream(expected.split(" ")).mapToDouble(Double::parseDouble).toArray();
    for (int i = 0; i < percents.length; i++) {
      assertThat(percent(names.get(i))).as(what + ": " + names.get(i)).isCloseTo(percents[i], offset(1.0));
    }
  }

  /**
   * Each program launches so much, waits until that is done, and pauses; a pause of 0: it always has launches pending.
   */
  @ParameterizedTest(name = "{0}")
  @CsvSource({
    "one that launches less than a slice beside two that always have, 5000 1900 5000, 0 30 0",
    "the same with pauses that a limit makes, 5000 1900 5000, 0 4000 0",
    "one that launches half a slice beside one that always has, 5000 1000, 0 30",
    "one that launches a little more than a slice beside two, 5000 2100 5000, 0 30 0",
    "one that launches several slices beside one, 5000 7000, 0 9000",
    "two that launch less than a slice beside one that always has, 1900 1500 5000, 30 30 0",
    "three that pause, 8000 1900 8000, 9000 3000 4000"})
  void onACardWithTimeSlicesEachHasWhatTheCardGaveIt(String what, String works, String pauses) {
    long[] work = Arrays.stream(works.split(" ")).mapToLong(Long::parseLong).toArray();
    long[] pause = Arrays.stream(pauses.split(" ")).mapToLong(Long::parseLong).toArray();
    SlicedCard card = new SlicedCard(now);
    List<SlicedCard.Program> programs = IntStream.range(0, work.length)
        .mapToObj(i -> card.begin(region("share-" + i), work[i] * 1000, pause[i] * 1000)).toList();
    double[] before = new double[work.length];
    for (int look = 0; look < 120; look++) {
      now += LOOK;
      card.runUntil(now);
      look(look >= 40);
      for (int i = 0; look == 39 && i < before.length; i++) {
        before[i] = programs.get(i).had();
      }
    }
    double all = IntStream.range(0, before.length).mapToDouble(i -> programs.get(i).had() - before[i]).sum();
    double divided = had.values().stream().mapToLong(Long::longValue).sum();
    for (int i = 0; i < before.length; i++) {
      assertThat(100 * had.getOrDefault("share-" + i, 0L) / divided).as(what + ": " + i)
          .isCloseTo(100 * (programs.get(i).had() - before[i]) / all, offset(2.0));
    }
    assertThat(divided).as("changes count in part").isBetween(0.97 * all, (double) passed);
  }

  @Test
  void whoSaysThatItBeginsAgainAndAgainHasNoMoreThanIfItAlwaysHadLaunchesPending() {
    pend(200, () -> {
      region("a").add(now - LOOK, now);
      for (long at = now - LOOK; at < now; at += 3 * MILLI) {
        region("liar").begin(at, at + 2 * MILLI + MILLI / 2, true);
      }
    });
    assertThat(percent("a")).isGreaterThan(49);
  }

  @Test
  void launchesThatNeverWaitShowACardWithoutTimeSlices() {
    pend(40, () -> {
      region("a").add(now - LOOK, now);
      for (long at = now - LOOK; at < now; at += 5 * MILLI) {
        region("b").begin(at, at + 2 * MILLI, false);
      }
    });
    assertThat(percent("b")).isCloseTo(20, offset(0.5));
  }

  @Test
  void aShareWithTwoProcessesHasTwoTurnsOfThree() {
    processes.put("a", 2);
    pend(40, () -> {
      region("a").add(now - LOOK, now, 2);
      region("b").add(now - LOOK, now);
    });
    assertThat(percent("a")).isCloseTo(66.7, offset(1.5));
    assertThat(percent("b")).isCloseTo(33.3, offset(1.5));
  }

  @Test
  void noShareHasMoreProcessesAtOnceThanNvmlHasOfIt() {
    processes.put("a", 2);
    pend(40, () -> {
      region("a").add(now - LOOK, now, 1000);
      region("b").add(now - LOOK, now);
    });
    assertThat(percent("a")).isCloseTo(66.7, offset(1.5));
  }

  @Test
  void whoseLaunchesNobodyTimesHaveTheirTurns() {
    untimed = new Untimed(1, 1);
    pend(40, () -> region("a").add(now - LOOK, now - LOOK + 30 * MILLI));
    assertThat(percent("a")).isCloseTo(20, offset(0.5));
    assertThat(100.0 * untimedHad / passed).isCloseTo(80, offset(0.5));
  }

  @Test
  void whoseLaunchesNobodyTimesHaveTheirPartOfTheTimeWhileNoShareHasLaunchesPending() {
    untimed = new Untimed(0.4, 1);
    pend(4, () -> {});
    assertThat(100.0 * untimedHad / passed).isCloseTo(40, offset(0.5));
  }

  @Test
  void aWindowThatIsToldTooLateCountsInFullAndOnce() {
    region("a").add(now, now + MILLI);
    pend(10, () -> region("b").add(now - LOOK, now));
    long a = had.getOrDefault("a", 0L);
    long before = had.getOrDefault("b", 0L);
    region("a").add(now - 150 * MILLI, now);
    pend(4, () -> region("b").add(now - LOOK, now));
    assertThat(had.getOrDefault("a", 0L) - a).as("80 ms in full, and half of 70").isCloseTo(115 * MILLI, offset(MILLI));
    assertThat(had.getOrDefault("b", 0L) - before).isCloseTo((4 * 75 - 35) * MILLI, offset(MILLI));
  }

  @Test
  void aLongKernelCountsInFullWhenItEnds() {
    region("a").add(now, now + MILLI);
    pend(20, () -> region("b").add(now - LOOK, now));
    long before = had.getOrDefault("a", 0L);
    region("a").forge(region("a").read().busyNanos() + 1000 * MILLI);
    pend(1, () -> region("b").add(now - LOOK, now));
    assertThat(had.getOrDefault("a", 0L) - before).isEqualTo(1000 * MILLI);
  }

  @Test
  void afterAPauseWhatRegionsHaveForgottenCountsInFull() {
    pend(10, this::both);
    long a = had.getOrDefault("a", 0L);
    for (int i = 0; i < 20; i++) { // nobody looks
      now += 50 * MILLI;
      region("a").add(now - 50 * MILLI, now);
      region("b").add(now - 50 * MILLI, now);
    }
    look(true);
    long forgotten = 1000 - 218 + 70;
    assertThat(had.getOrDefault("a", 0L) - a).isCloseTo((forgotten + (218 - 70) / 2) * MILLI, offset(2 * MILLI));
    a = had.getOrDefault("a", 0L);
    pend(10, this::both);
    assertThat(had.getOrDefault("a", 0L) - a).isCloseTo(375 * MILLI, offset(MILLI));
  }

  @Test
  void whatWasUsedBeforeTheFirstLookCountsForNothing() {
    region("a").forge(77_000_000_000L);
    region("a").add(now - 100 * MILLI, now);
    look(true);
    assertThat(had.getOrDefault("a", 0L)).isZero();
  }

  @Test
  void aRegionThatIsWipedGoesOnFromThere() {
    pend(10, this::both);
    regions.put("a", new Pending());
    pend(1, () -> {});
    long before = had.getOrDefault("a", 0L);
    pend(10, this::both);
    assertThat(had.getOrDefault("a", 0L) - before).isCloseTo(375 * MILLI, offset(40 * MILLI));
  }

  @Test
  void whateverRegionsSayNobodyHasMoreThanTheTimeThatPassed() {
    Random random = new Random(4711);
    ShareRef ref = new ShareRef("a", "share");
    long all = 0;
    for (int look = 0; look < 2000; look++) {
      now += random.nextLong(1, 400 * MILLI);
      int[] stretches = random.ints(LaunchTimes.STRETCHES).toArray();
      for (int i = 0; i < stretches.length; i++) {
        long stretch = (now >> LaunchTimes.STRETCH_BITS) - i;
        stretches[(int) (stretch % LaunchTimes.STRETCHES)] =
            (int) (stretch / LaunchTimes.STRETCHES) << 18 | random.nextInt(1 << 18);
      }
      LaunchTimes times = new LaunchTimes(random.nextLong(), random.nextLong(),
          new LaunchTimes.Begins(random.nextLong(4), random.nextLong(4)), stretches);
      Interval interval = division.take(List.of(new DividedTime.User(ref, times, 3)), Untimed.NONE, now);
      assertThat(interval.nanos().getOrDefault(ref, -1L)).isNotNegative();
      all += interval.nanos().getOrDefault(ref, 0L);
      passed += interval.passed();
      assertThat(all).isLessThanOrEqualTo(passed);
      assertThat(interval.coveredNanos()).isBetween(0L, interval.passed());
    }
  }

  @Test
  void anIdleShareIsNotTakenForABusyOneWhenStretchNumbersComeAgain() {
    long begin = now;
    region("a").add(now, now + LOOK);
    pend(4, () -> {});
    now = begin + ((long) LaunchTimes.STRETCHES << 14 << LaunchTimes.STRETCH_BITS);
    had.clear();
    pend(10, () -> {});
    assertThat(had.getOrDefault("a", 0L)).isZero();
  }

  private void both() {
    region("a").add(now - LOOK, now);
    region("b").add(now - LOOK, now);
  }

  private void pend(int looks, Runnable work) {
    for (int i = 0; i < looks; i++) {
      now += LOOK;
      work.run();
      look(true);
    }
  }

  private void look(boolean counts) {
    List<DividedTime.User> users = regions.entrySet().stream().map(region -> new DividedTime.User(
        new ShareRef(region.getKey(), "share"), region.getValue().read(), processes.getOrDefault(region.getKey(), 1)))
        .toList();
    Interval interval = division.take(users, untimed, now);
    assertThat(interval.to()).isBetween(now - DividedTime.LAG - LaunchTimes.STRETCH_NANOS, now - DividedTime.LAG);
    if (counts) {
      interval.nanos().forEach((ref, nanos) -> had.merge(ref.uid(), nanos, Long::sum));
      untimedHad += interval.untimedNanos();
      passed += interval.passed();
    }
  }

  private Pending region(String name) {
    return regions.computeIfAbsent(name, n -> new Pending());
  }

  private double percent(String name) {
    return 100.0 * had.getOrDefault(name, 0L) / passed;
  }
}
