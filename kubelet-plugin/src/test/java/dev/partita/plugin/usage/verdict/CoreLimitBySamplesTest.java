package dev.partita.plugin.usage.verdict;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.config.GpuShareConfig.CoreLimit;
import dev.partita.plugin.nvml.CardSamples;
import dev.partita.plugin.nvml.ProcessSample;
import dev.partita.plugin.usage.measure.CardTime;
import dev.partita.plugin.usage.measure.SampledTime;
import dev.partita.plugin.usage.measure.WatchedShare;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Programs on a card whose NVML gives late, noisy samples in whole percents, asked for by a plugin that is late at
 * times itself.
 */
class CoreLimitBySamplesTest {
  private static final long PID = 4711;
  private static final int MINUTES = 10;

  /** A program that works for a while and pauses for a while; microseconds. */
  private record Program(long works, long every, long from) {
    long busy(long begin, long end) {
      long busy = 0;
      for (long cycle = Math.max(0, (begin - from) / every - 1); from + cycle * every < end; cycle++) {
        long start = from + cycle * every;
        busy += Math.max(0, Math.min(end, start + works) - Math.max(begin, start));
      }
      return busy;
    }
  }

  /** NVML: of each process the newest sample in which it was active, of those that have come by now. */
  private record Card(Program program, long period, long delay, Random noise) {
    CardSamples ask(long now, long newerThan) {
      long newest = (now - delay) / period;
      for (long number = newest; number > 0 && number > newest - 6 && number * period > newerThan; number--) {
        long busy = program.busy((number - 1) * period, number * period);
        if (busy > 0) {
          int percent = Math.clamp(Math.round(100.0 * busy / period) + noise.nextInt(-3, 4), 0, 100);
          return new CardSamples.Told(List.of(new ProcessSample(PID, number * period, percent, 0, 0, 0)));
        }
      }
      return new CardSamples.Told(List.of());
    }
  }

  @ParameterizedTest(
      name = "limit {0} %, {1} us of every {2} us from {3} us on, samples of {4} us come {5} us late")
  @CsvSource({
    "25,     250,      1000,       0, 166667,   50000", // short kernels
    "25,   50000,    200000,   40000, 166667, 1000000",
    "10,   50000,    500000,       0, 166667,   50000", // long ones: some samples are above 30 %
    "25,  250000,   1000000,       0, 166667,   50000", // in step with the samples
    "10,   80000,   1000000, 1020000, 166667,   50000", // always within one and the same
    "25, 6000000,  24000000, 3000000, 166667,   50000", // very long ones, paid for afterwards
    "50,  500000,   1000000,       0, 166667, 1000000",
    "1,    10000,   1000000,       0, 166667,   50000",
    "25,  250000,   1000000,       0, 1000000,  50000", // a card with long periods
    "90,     900,      1000,       0, 166667,   50000"
  })
  void aProgramThatKeepsToItsLimitIsNeverSaidNotTo(
      int limit,
      long works,
      long every,
      long from,
      long period,
      long delay) {
    for (int seed = 0; seed < 5; seed++) {
      Card card = new Card(new Program(works, every, from), period, delay, new Random(seed));
      assertThat(watched(limit, card)).noneMatch(state -> state instanceof CoreUse.Exceeded);
    }
  }

  @ParameterizedTest(name = "limit {0} %, {1} us of every {2} us, samples of {3} us come {4} us late")
  @CsvSource({
    "25,     600,      1000, 166667,   50000",
    "25,  600000,   1000000, 166667,   50000",
    "25,    1000,      1000, 166667, 1000000",
    "50,    1000,      1000, 166667,   50000",
    "10,   30000,    100000, 166667,   50000"
  })
  void aProgramThatHasMuchMoreIsFoundWithinAMinuteAndStaysSo(
      int limit,
      long works,
      long every,
      long period,
      long delay) {
    for (int seed = 0; seed < 5; seed++) {
      List<CoreUse> states = watched(limit, new Card(new Program(works, every, 0), period, delay, new Random(seed)));
      assertThat(states.subList(60, states.size())).hasOnlyElementsOfType(CoreUse.Exceeded.class);
      assertThat(((CoreUse.Exceeded) states.getLast()).percent()).isBetween((int) (works * 85 / every),
          (int) (works * 105 / every));
    }
  }

  /**
   * How much of the time a sample stands for there, cannot be told from the samples of programs that work now and then.
   */
  @ParameterizedTest
  @CsvSource({"1000, 1000", "800000, 1000000"})
  void onACardWithLongPeriodsItIsUnknown(long works, long every) {
    List<CoreUse> states = watched(25, new Card(new Program(works, every, 0), 1_000_000, 50_000, new Random(1)));
    assertThat(states.subList(30, states.size())).hasOnlyElementsOfType(CoreUse.Untold.class);
  }

  /** The states after every second of some minutes. */
  private static List<CoreUse> watched(int limit, Card card) {
    WatchedShare share = CoreAccountTest.share("share", limit, CoreLimit.HARD);
    SampledTime time = new SampledTime();
    CoreAccount account = new CoreAccount();
    List<CoreUse> states = new ArrayList<>();
    long looked = 0;
    for (long now = 1_000_000; now < MINUTES * 60_000_000L; now +=
        150_000 + card.noise().nextInt(card.noise().nextInt(20) == 0 ? 300_000 : 15_000)) {
      time.take(card.ask(now, time.newest()), now * 1000);
      if (now - looked >= 1_000_000) {
        looked = now;
        CardTime passed = time.drain();
        ShareUse use = CoreAccountTest.use(share, Set.of(), CoreAccountTest.process(PID, passed.of(PID)));
        Instant instant = Instant.EPOCH.plusMillis(now / 1000);
        states.add(Objects.requireNonNull(
            account.take(use, Map.of(share.ref(), use), new CoreAccount.Look(passed, true, instant, instant))));
      }
    }
    return states;
  }
}
