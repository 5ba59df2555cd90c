package dev.partita.controller.forecast;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ForecastTest {
  private static final int ALL = Demand.CARD;

  @Test
  void aFullHostCostsNothing() {
    assertThat(forecast(new Frequency(share(1_000, 5_000), 1)).cost(host(8_000, 0, 0))).isZero();
  }

  @Test
  void cardsWithoutCpuStayIdle() {
    Forecast forecast = forecast(new Frequency(share(4_000, 5_000), 1));
    assertThat(forecast.cost(host(0, ALL, ALL))).isEqualTo(4L * ALL * Forecast.FILLS);
    assertThat(forecast.cost(host(8_000, ALL, ALL))).as("CPU for two of four shares")
        .isEqualTo(2L * ALL * Forecast.FILLS);
    assertThat(forecast.cost(host(16_000, ALL, ALL))).isZero();
  }

  @Test
  void remaindersThatNobodyAsksForStayIdle() {
    Forecast forecast = forecast(new Frequency(share(0, 8_000), 3), new Frequency(share(0, 2_000), 1));
    assertThat(forecast.cost(host(0, 3_000))).as("too small for most").isPositive();
    assertThat(forecast.cost(host(0, 2_000))).as("just what some ask for").isLessThan(forecast.cost(host(0, 1_900)));
  }

  @Test
  void roomForALargePodIsWorthSomething() {
    Demand large = new Demand(0, 0, 2, new int[]{ALL}, new int[]{ALL});
    List<Frequency> history = List.of(new Frequency(share(0, ALL), 9), new Frequency(large, 1));
    Forecast forecast = new Forecast(history, new Scarcity(history, Map.of(host(0, ALL, ALL), 1)));
    long together = forecast.cost(host(0, ALL, ALL)) + forecast.cost(host(0, 0, 0));
    long apart = 2 * forecast.cost(host(0, ALL, 0));
    assertThat(together).isLessThan(apart);
  }

  @Test
  void equalFrequenciesGiveEqualForecastsAndTheOrderOfCardsDoesNotMatter() {
    List<Frequency> history = List.of(new Frequency(share(3_000, 3_300), 5), new Frequency(share(7_000, 6_500), 3));
    FreeParts state = host(20_000, ALL, 3_500, 700);
    Forecast one = new Forecast(history, new Scarcity(history, Map.of(host(20_000, ALL), 1)));
    Forecast other = new Forecast(List.copyOf(history), new Scarcity(history, Map.of(host(20_000, ALL), 1)));
    assertThat(one.cost(state)).isEqualTo(other.cost(host(20_000, 700, ALL, 3_500)));
  }

  @Test
  void cardsThatFewHostsHaveCostMoreTheMoreOfThemIsAskedFor() {
    FreeParts common = FreeParts.of(0, 0, new long[]{FreeParts.card(0, ALL, ALL)});
    FreeParts rare = FreeParts.of(0, 0, new long[]{FreeParts.card(1, ALL, ALL)});
    Frequency anywhere = new Frequency(new Demand(0, 0, 1, new int[]{ALL, ALL}, new int[]{ALL, ALL}), 90);
    Frequency onRare = new Frequency(new Demand(0, 0, 1, new int[]{-1, ALL}, new int[]{0, ALL}), 10);
    Map<FreeParts, Integer> hosts = Map.of(common, 9, rare, 1);
    Scarcity asked = new Scarcity(List.of(anywhere, onRare), hosts);
    Scarcity notAsked = new Scarcity(List.of(anywhere), hosts);
    assertThat(asked.cost(rare, ALL)).isGreaterThan(asked.cost(common, ALL));
    assertThat(notAsked.cost(rare, ALL)).isEqualTo(notAsked.cost(common, ALL));
    assertThat(asked.rarity(onRare.demand())).isEqualTo(10);
  }

  private static Forecast forecast(Frequency... frequencies) {
    List<Frequency> history = List.of(frequencies);
    return new Forecast(history, new Scarcity(history, Map.of(host(16_000, ALL), 1)));
  }

  private static Demand share(int milliCpu, int parts) {
    return new Demand(milliCpu, 0, 1, new int[]{parts}, new int[]{parts});
  }

  private static FreeParts host(int milliCpu, int... free) {
    return FreeParts.of(milliCpu, 0, Arrays.stream(free).mapToLong(parts -> FreeParts.card(0, parts, parts)).toArray());
  }
}
