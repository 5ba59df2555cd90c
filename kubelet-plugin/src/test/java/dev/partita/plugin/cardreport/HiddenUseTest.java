package dev.partita.plugin.cardreport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.data.Offset.offset;

import dev.partita.plugin.usage.measure.ShareRef;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HiddenUseTest {
  private static final long PERIOD = 200_000_000;
  private static final ShareRef A = new ShareRef("a", "share");
  private static final ShareRef B = new ShareRef("b", "share");

  private final HiddenUse hiddenUse = new HiddenUse();
  private int most = 100; // of the period, for A

  @ParameterizedTest
  @CsvSource({"60, 40", "70, 30", "90, 10", "51, 49", "50, 50", "45, 55", "30, 70", "100, 0", "20, 0"})
  void whoeverIsNamedForWhatOthersHadHasHiddenNothing(int a, int b) {
    // named is who has most of a period, or has the card at its end
    assertThat(hidden(500, a, b, () -> a >= b)).isZero();
    Random random = new Random(4711);
    assertThat(hidden(500, a, b, () -> random.nextInt(a + b) < a)).isZero();
  }

  @ParameterizedTest
  @CsvSource({"0, 0, 100, 80", "5, 95, 100, 75", "10, 0, 60, 30", "30, 40, 100, 10", "30, 50, 45, 0", "0, 0, 19, 0"})
  void whatSamplesHaveBeyondAFifthOfTheTimeMoreThanARegionIsItsOwn(int region, int other, int named, int expected) {
    long before = 0;
    long after = 0;
    for (int i = 0; i < 500; i++) {
      long hidden = take(region, other, named, 0);
      before += i < 10 ? hidden : 0;
      after += i >= 100 ? hidden : 0;
    }
    assertThat(before).as("it takes a while to tell").isZero();
    assertThat(100.0 * after / (400 * PERIOD)).isCloseTo(expected, offset(1.0));
  }

  /** B says that launches were always pending, so that A seems to have had half of what it has. */
  @ParameterizedTest
  @CsvSource({"25, 75, 50, 25", "15, 85, 50, 35", "0, 100, 50, 50", "0, 100, 33, 33", "45, 30, 40, 0"})
  void nobodyIsChargedMoreThanIfItAlwaysHadLaunchesPending(int region, int other, int most, int expected) {
    this.most = most;
    long hidden = 0;
    for (int i = 0; i < 500; i++) {
      long more = take(region, other, 100, 0);
      hidden += i >= 100 ? more : 0;
    }
    assertThat(100.0 * hidden / (400 * PERIOD)).isCloseTo(expected, offset(1.0));
  }

  private long hidden(int periods, int a, int b, BooleanSupplier namesA) {
    long hidden = 0;
    for (int i = 0; i < periods; i++) {
      boolean first = namesA.getAsBoolean();
      hidden += take(a, b, first ? a + b : 0, first ? 0 : a + b);
    }
    return hidden;
  }

  private long take(int a, int b, int sampledA, int sampledB) {
    SampledPeriod period = new SampledPeriod(PERIOD, Map.of(A, sampledA * PERIOD / 100, B, sampledB * PERIOD / 100),
        Map.of(A, a * PERIOD / 100, B, b * PERIOD / 100), Map.of(A, most * PERIOD / 100, B, PERIOD),
        (a + b) * PERIOD / 100);
    return hiddenUse.take(period, List.of(A, B)).getOrDefault(A, 0L);
  }
}
