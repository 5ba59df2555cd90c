package dev.partita.controller.forecast;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class KnownCostsTest {
  @Test
  void itKnowsWhatItWasTold() {
    KnownCosts known = new KnownCosts(100_000);
    Map<Long, Long> told = new HashMap<>();
    Random random = new Random(3);
    for (int i = 0; i < 20_000; i++) {
      long key = random.nextBoolean() ? random.nextLong() : random.nextLong() << 32 | 5;
      told.put(key, (long) i);
      known.put(key, i);
    }
    told.forEach((key, cost) -> assertThat(known.get(key)).isEqualTo(cost));
    assertThat(known.get(0)).isEqualTo(KnownCosts.UNKNOWN);
  }

  @Test
  void itForgetsAllWhenThereIsTooMuch() {
    KnownCosts known = new KnownCosts(10);
    for (int key = 0; key < 10; key++) {
      known.put(key, 1);
    }
    assertThat(known.get(3)).isEqualTo(1);
    known.put(10, 1);
    assertThat(known.get(3)).isEqualTo(KnownCosts.UNKNOWN);
    assertThat(known.get(10)).isEqualTo(1);
  }

  @Test
  void fingerprintsOfStatesAfterPlacementsAreThoseOfTheStates() {
    FreeParts state =
        FreeParts.of(8_000, 64, new long[]{FreeParts.card(0, 7_000, 6_000), FreeParts.card(1, 10_000, 10_000)});
    Demand demand = new Demand(1_000, 16, 1, new int[]{2_000, 3_000}, new int[]{1_000, 4_000});
    for (int i = 0; i < 2; i++) {
      long card = state.card(i);
      FreeParts after = state.after(demand, card);
      assertThat(state.fingerprintAfter(demand, card)).isEqualTo(after.fingerprint()).isNotEqualTo(state.fingerprint());
      long other = state.card(1 - i);
      assertThat(after).isEqualTo(FreeParts.of(7_000, 48, new long[]{other, FreeParts.without(demand, card)}));
    }
  }
}
