package dev.partita.plugin.usage.measure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.data.Offset.offset;

import dev.partita.plugin.nvml.CardSamples;
import dev.partita.plugin.nvml.ProcessSample;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SampledTimeTest {
  private static final long PERIOD = 200_000; // microseconds
  private static final long MILLI = 1_000_000;

  private final SampledTime time = new SampledTime();
  private long now = 77_000 * MILLI;

  @Test
  void eachSampleCountsForOnePeriodOfItsProcess() {
    know();
    ask(at(3, 10, 50), at(3, 11, 20));
    ask(at(4, 10, 50));
    assertThat(time.drain()).isEqualTo(new CardTime(400 * MILLI, Map.of(10L, 200 * MILLI, 11L, 40 * MILLI), ""));
  }

  @Test
  void whatSamplesGaveTooMuchIsTakenBackButNobodyGetsMoreThanTheyGaveIt() {
    know();
    ask(at(3, 10, 100));
    time.correct(Map.of(10L, 60 * MILLI, 11L, -60 * MILLI));
    assertThat(time.drain().gpuNanos()).isEqualTo(Map.of(10L, 140 * MILLI));
    time.correct(Map.of(11L, 40 * MILLI));
    ask(at(4, 11, 100));
    assertThat(time.drain().of(11)).as("it had been given too little").isEqualTo(190 * MILLI);
    time.correct(Map.of(11L, 10_000 * MILLI));
    ask(at(5, 11, 100));
    assertThat(time.drain().of(11)).isZero();
  }

  @Test
  void timeInWhichAProcessHadNoSampleIsNotItsOwnHoweverRegularItsSamplesAre() {
    know();
    for (int second = 1; second <= 10; second++) {
      ask(at(5L * second, 10, 40));
      for (int i = 0; i < 4; i++) {
        ask();
      }
    }
    CardTime tenSeconds = time.drain();
    assertThat(tenSeconds.watchedNanos()).isEqualTo(10_000 * MILLI);
    assertThat(tenSeconds.of(10)).as("80 ms in each second").isEqualTo(800 * MILLI);
  }

  @Test
  void aCardThatNobodyUsesIsSeenToBeIdle() {
    ask();
    ask();
    assertThat(time.drain()).isEqualTo(new CardTime(200 * MILLI, Map.of(), ""));
  }

  @Test
  void samplesCountForNobodyUntilSomeHaveShownHowLongTheirPeriodsAre() {
    ask();
    for (int second = 1; second <= 10; second++) {
      ask(at(5L * second, 10, 100));
      ask();
    }
    CardTime unclear = time.drain();
    assertThat(unclear.gpuNanos()).isEmpty();
    assertThat(unclear.watchedNanos()).isZero();
    assertThat(unclear.untold()).contains("far apart");
    ask(at(51, 11, 30)); // another process' sample follows the last one closely
    assertThat(time.drain().of(11)).isEqualTo(60 * MILLI);
  }

  @Test
  void whatMayHaveBeenMissedIsNotWatched() {
    know();
    now += 400 * MILLI;
    ask(at(5, 10, 100));
    CardTime late = time.drain();
    assertThat(late).isEqualTo(new CardTime(0, Map.of(), late.untold()));
    assertThat(late.untold()).contains("often enough");
    assertThat(time.drain().untold()).as("nor is what was not asked for").contains("often enough");
  }

  @Test
  void whatNvmlDoesNotTellIsNotIdle() {
    know();
    take(new CardSamples.NotTold("no samples here"));
    assertThat(time.drain()).isEqualTo(new CardTime(0, Map.of(), "no samples here"));
    ask();
    assertThat(time.drain().watchedNanos()).as("nobody knows since when it tells again").isZero();
    ask();
    assertThat(time.drain().watchedNanos()).isEqualTo(200 * MILLI);
  }

  @Test
  void samplesOfOnePeriodMayHaveTimesThatDifferALittle() {
    ask();
    ask(new ProcessSample(10, 1_000_000, 50, 0, 0, 0), new ProcessSample(11, 1_000_400, 50, 0, 0, 0));
    ask(new ProcessSample(10, 1_200_000, 50, 0, 0, 0), new ProcessSample(11, 1_200_400, 50, 0, 0, 0));
    assertThat(time.drain().of(10)).isCloseTo(100 * MILLI, offset(MILLI));
    assertThat(time.newest()).isEqualTo(1_200_400);
  }

  /** Two samples that follow each other, taken in and forgotten. */
  private void know() {
    ask();
    ask(at(1, 99, 1));
    ask(at(2, 99, 1));
    time.drain();
  }

  private void ask(ProcessSample... samples) {
    take(new CardSamples.Told(List.of(samples)));
  }

  private void take(CardSamples answer) {
    now += 200 * MILLI;
    time.take(answer, now);
  }

  private static ProcessSample at(long number, long pid, int percent) {
    return new ProcessSample(pid, number * PERIOD, percent, 0, 0, 0);
  }
}
