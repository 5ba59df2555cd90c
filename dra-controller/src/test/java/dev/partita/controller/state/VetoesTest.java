package dev.partita.controller.state;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class VetoesTest {
  private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");

  private final Vetoes vetoes = new Vetoes();

  @Test
  void aVetoHoldsForItsClaimAndNodeOnlyAndEnds() {
    assertThat(vetoes.add("claim", "node-0", NOW)).isEqualTo(Vetoes.SHORTEST);
    assertThat(vetoes.holds("claim", "node-0", NOW.plusMillis(999))).isTrue();
    assertThat(vetoes.holds("claim", "node-0", NOW.plusSeconds(1))).isFalse();
    assertThat(vetoes.holds("claim", "node-1", NOW)).isFalse();
    assertThat(vetoes.holds("other", "node-0", NOW)).isFalse();
  }

  @Test
  void eachFurtherVetoOfANodeHoldsTwiceAsLongUpToABound() {
    vetoes.add("claim", "node-0", NOW);
    assertThat(vetoes.add("claim", "node-0", NOW)).isEqualTo(Duration.ofSeconds(2));
    assertThat(vetoes.add("claim", "node-0", NOW)).isEqualTo(Duration.ofSeconds(4));
    for (int i = 0; i < 10; i++) {
      vetoes.add("claim", "node-0", NOW);
    }
    assertThat(vetoes.add("claim", "node-0", NOW)).isEqualTo(Vetoes.LONGEST);
  }

  @Test
  void aClaimThatIsGoneIsForgotten() {
    vetoes.add("claim", "node-0", NOW);
    vetoes.forget("claim");
    assertThat(vetoes.holds("claim", "node-0", NOW)).isFalse();
    assertThat(vetoes.add("claim", "node-0", NOW)).isEqualTo(Vetoes.SHORTEST);
  }
}
