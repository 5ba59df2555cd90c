package dev.partita.controller.watch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class HeartbeatTest {
  private static final Duration MINUTE = Duration.ofMinutes(1);

  private final AtomicLong now = new AtomicLong();
  private final Heartbeat heartbeat = new Heartbeat("the loop", now::get);

  @Test
  void whoWaitsForWorkIsNotStuckHoweverLongItTakes() {
    pass(Duration.ofDays(1));
    assertThat(heartbeat.stuck(MINUTE)).isEmpty();
    heartbeat.during(() -> {});
    pass(Duration.ofDays(1));
    assertThat(heartbeat.stuck(MINUTE)).isEmpty();
  }

  @Test
  void onePieceOfWorkMayTakeItsTimeAndNoMore() {
    heartbeat.during(
        () -> {
          pass(MINUTE);
          assertThat(heartbeat.stuck(MINUTE)).isEmpty();
          pass(Duration.ofSeconds(1));
          assertThat(heartbeat.stuck(MINUTE)).contains("the loop has been busy with one piece of work for 61 s");
        });
  }

  @Test
  void manyPiecesMayTakeLonger() {
    heartbeat.during(
        () -> {
          for (int i = 0; i < 100; i++) {
            pass(MINUTE);
            assertThat(heartbeat.stuck(MINUTE)).isEmpty();
            heartbeat.beat();
          }
        });
  }

  @Test
  void workThatFailsIsOver() {
    assertThatThrownBy(() -> heartbeat.during(() -> { throw new IllegalStateException(); }))
        .isInstanceOf(IllegalStateException.class);
    pass(Duration.ofDays(1));
    assertThat(heartbeat.stuck(MINUTE)).isEmpty();
  }

  private void pass(Duration time) {
    now.addAndGet(time.toNanos());
  }
}
