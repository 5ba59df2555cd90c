package dev.partita.controller.turns;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import org.junit.jupiter.api.Test;

class SearchSlotsTest {
  private Instant now = Instant.parse("2026-01-01T00:00:00Z");
  private final SearchSlots slots =
      new SearchSlots(
          new Clock() {
            @Override
            public ZoneId getZone() {
              return ZoneOffset.UTC;
            }

            @Override
            public Clock withZone(ZoneId zone) {
              return this;
            }

            @Override
            public Instant instant() {
              return now;
            }
          }, 5);

  @Test
  void searchesTakeAFifthOfTheTimeAndEveryPodHasItsTurn() {
    assertThat(slots.ask("a")).contains(Duration.ZERO);
    slots.done("a", Duration.ofMillis(10));
    assertThat(slots.ask("a")).as("the first had no length to go by").contains(Duration.ZERO);
    slots.done("a", Duration.ofMillis(10));
    assertThat(slots.ask("b")).contains(Duration.ofMillis(50));
    assertThat(slots.ask("c")).contains(Duration.ofMillis(100));
    assertThat(slots.ask("b")).as("it has its slot").isEmpty();
    now = now.plusMillis(50);
    assertThat(slots.ask("b")).contains(Duration.ZERO);
    slots.done("b", Duration.ofMillis(10));
    assertThat(slots.ask("c")).isEmpty();
    slots.forget("c");
    assertThat(slots.ask("d")).contains(Duration.ofMillis(100));
  }
}
