package dev.partita.controller.watch;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class BackoffTest {
  private final Backoff<String> backoff = new Backoff<>(Duration.ofSeconds(1), 3);

  @Test
  void pausesGrowUpToALongestOne() {
    List<Long> pauses = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      pauses.add(backoff.failed("a").orElseThrow().toSeconds());
      backoff.tried("a");
    }
    assertThat(pauses).containsExactly(1L, 2L, 4L, 8L, 8L, 8L);
    assertThat(backoff.failed("b")).as("another thing").contains(Duration.ofSeconds(1));
  }

  @Test
  void howeverOftenItFailsMeanwhileOneAttemptIsSetUp() {
    assertThat(backoff.failed("a")).isPresent();
    assertThat(backoff.failed("a")).isEmpty();
    assertThat(backoff.failed("a")).isEmpty();
    backoff.tried("a");
    assertThat(backoff.failed("a")).as("one failure in a row besides the first").contains(Duration.ofSeconds(2));
  }

  @Test
  void whatSucceedsBeginsAnewAndStillHasOneAttemptSetUp() {
    assertThat(backoff.failed("a")).isPresent();
    backoff.tried("a");
    assertThat(backoff.failed("a")).contains(Duration.ofSeconds(2));
    backoff.succeeded("a");
    assertThat(backoff.failed("a")).as("the attempt from before is yet to come").isEmpty();
    backoff.tried("a");
    assertThat(backoff.failed("a")).contains(Duration.ofSeconds(1));
    backoff.tried("a");
    backoff.succeeded("a");
    assertThat(backoff.failed("a")).contains(Duration.ofSeconds(1));
  }
}
