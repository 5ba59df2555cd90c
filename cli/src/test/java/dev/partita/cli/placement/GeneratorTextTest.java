package dev.partita.cli.placement;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.partita.cli.command.CommandFailure;
import dev.partita.controller.stream.StreamGenerator.Shape;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class GeneratorTextTest {
  @Test
  void whatIsNotSaidHasADefault() {
    assertThat(GeneratorText.shape("pods=100, nodes=5"))
        .isEqualTo(new Shape(100, 5, 8, 90, Duration.ofHours(1), 1));
    assertThat(GeneratorText.shape("seed=0,load=120,duration=2h30m,gpus=4"))
        .isEqualTo(new Shape(10_000, 100, 4, 120, Duration.ofMinutes(150), 0));
  }

  @Test
  void whatCannotBeIsNamed() {
    assertRefused("pods", "'pods'");
    assertRefused("", "''");
    assertRefused("cards=1", "pods, nodes, gpus, load, duration, seed, not 'cards=1'");
    assertRefused("pods=0", "pods is a whole number from 1 to 10000000, not '0'");
    assertRefused("nodes=many", "nodes", "'many'");
    assertRefused("duration=0s", "duration", "'0s'");
    assertRefused("pods=1,pods=2", "pods twice");
  }

  private static void assertRefused(String text, String... words) {
    assertThatThrownBy(() -> GeneratorText.shape(text)).isInstanceOf(CommandFailure.class)
        .hasMessageContainingAll(words);
  }
}
