package dev.partita.controller.turns;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class SetAsideTest {
  private final SetAside<String> aside = new SetAside<>(SetAside.FIRST);

  @Test
  void thePauseDoublesWithEveryFailureInARowUpToAMinute() {
    Duration last = Duration.ZERO;
    for (int i = 0; i < 20; i++) {
      Duration pause = aside.failed("pod");
      assertThat(aside.holds("pod")).isTrue();
      aside.over("pod");
      assertThat(aside.holds("pod")).isFalse();
      assertThat(pause).isEqualTo(i == 0
          ? Duration.ofMillis(500)
          : last.multipliedBy(2).compareTo(Duration.ofSeconds(64)) < 0 ? last.multipliedBy(2) : Duration.ofSeconds(64));
      last = pause;
    }
    aside.succeeded("pod");
    assertThat(aside.failed("pod")).isEqualTo(Duration.ofMillis(500));
  }

  @Test
  void whoGoesOnIsNotHeldAndHasTheLongerPauseWhenHeIs() {
    aside.goesOn("pod");
    aside.goesOn("pod");
    assertThat(aside.holds("pod")).isFalse();
    assertThat(aside.failed("pod")).isEqualTo(Duration.ofSeconds(2));
  }

  @Test
  void whoRestsHasNotFailed() {
    aside.rests("gang");
    assertThat(aside.holds("gang")).isTrue();
    aside.over("gang");
    assertThat(aside.holds("gang")).isFalse();
    assertThat(aside.failures("gang")).isZero();
  }
}
