package dev.partita.plugin.usage.verdict;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.plugin.usage.measure.ProcessIdentity;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class ExitGraceTest {
  private static final Instant BEGIN = Instant.parse("2026-01-01T00:00:00Z");

  private final ExitGrace exitGrace = new ExitGrace();

  @Test
  void aProcessThatEndsIsPassedOverForAWhile() {
    assertThat(look(true, Duration.ZERO)).isTrue();
    assertThat(look(true, ExitGrace.PATIENCE.minusSeconds(1))).isTrue();
    assertThat(look(true, ExitGrace.PATIENCE)).isFalse();
    assertThat(look(true, ExitGrace.PATIENCE.plusDays(1))).isFalse();
  }

  @Test
  void whoSeemsToEndNowAndThenHasItsWhileOnlyOnce() {
    assertThat(look(true, Duration.ZERO)).isTrue();
    assertThat(look(false, Duration.ofSeconds(1))).isFalse();
    assertThat(look(true, Duration.ofSeconds(2))).isTrue();
    assertThat(look(false, Duration.ofSeconds(59))).isFalse();
    assertThat(look(true, ExitGrace.PATIENCE)).isFalse();
  }

  @Test
  void whoDoesNotEndIsNeverPassedOverAndHasAllOfItsWhileLater() {
    assertThat(look(false, Duration.ZERO)).isFalse();
    assertThat(look(true, ExitGrace.PATIENCE.multipliedBy(2))).isTrue();
  }

  @Test
  void aPidThatWasUsedAgainIsAnotherProcess() {
    assertThat(look(true, Duration.ZERO)).isTrue();
    exitGrace.beginLook();
    assertThat(exitGrace.excuse(new ProcessIdentity(7, 2), true, BEGIN.plus(ExitGrace.PATIENCE))).isTrue();
  }

  private boolean look(boolean ending, Duration after) {
    exitGrace.beginLook();
    return exitGrace.excuse(new ProcessIdentity(7, 1), ending, BEGIN.plus(after));
  }
}
