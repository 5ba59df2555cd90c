package dev.partita.controller.loop;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class StaleReasonsTest {
  private final List<Duration> pauses = new ArrayList<>();
  private final StaleReasons stale = new StaleReasons(pauses::add);

  @Test
  void allThatIsTakenMeanwhileIsSaidOnce() {
    stale.taken(1);
    stale.taken(1);
    assertThat(pauses).containsExactly(Duration.ofSeconds(5));
    stale.said(Duration.ofMillis(1));
    stale.taken(1);
    assertThat(pauses).hasSize(2);
  }

  @Test
  void nothingIsSaidToNobody() {
    stale.taken(0);
    assertThat(pauses).isEmpty();
  }

  @Test
  void whatTakesLongOrIsWrittenForManyComesLater() {
    stale.taken(1_000);
    assertThat(pauses).as("a pod is written for every 50 ms").containsExactly(Duration.ofSeconds(50));
    stale.said(Duration.ofSeconds(4));
    stale.taken(1);
    assertThat(pauses.getLast()).as("a twentieth of the time").isEqualTo(Duration.ofSeconds(80));
  }
}
