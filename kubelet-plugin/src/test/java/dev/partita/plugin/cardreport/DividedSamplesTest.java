package dev.partita.plugin.cardreport;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.plugin.nvml.CardSamples;
import dev.partita.plugin.nvml.ProcessSample;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class DividedSamplesTest {
  private static final CardSamples NAMES_ONE =
      new CardSamples.Told(List.of(new ProcessSample(10, 400, 99, 7, 1, 2), new ProcessSample(30, 200, 5, 0, 0, 0)));

  private final DividedSamples samples = new DividedSamples((card, _) -> card.equals("GPU-1")
      ? NAMES_ONE
      : new CardSamples.NotTold("no card"));

  @Test
  void processesHaveWhatTheyHadWhenTheCardIsDividedWhicheverOfThemASampleNames() {
    samples.divide("GPU-1", Map.of(10L, 60, 20L, 30, 40L, 0));
    assertThat(samples.of("GPU-1", 0).known()).containsExactlyInAnyOrder(
        new ProcessSample(30, 200, 5, 0, 0, 0), new ProcessSample(10, 400, 60, 7, 1, 2),
        new ProcessSample(20, 400, 30, 0, 0, 0));
  }

  @Test
  void samplesOfACardThatIsNotDividedAreNvmls() {
    assertThat(samples.of("GPU-1", 0)).isEqualTo(NAMES_ONE);
    samples.divide("GPU-1", Map.of(10L, 60));
    samples.divide("GPU-1", Map.of());
    assertThat(samples.of("GPU-1", 0)).isEqualTo(NAMES_ONE);
  }

  @Test
  void whereNvmlDoesNotTellNothingIsMadeUp() {
    samples.divide("GPU-2", Map.of(10L, 60));
    assertThat(samples.of("GPU-2", 0)).isEqualTo(new CardSamples.NotTold("no card"));
  }
}
