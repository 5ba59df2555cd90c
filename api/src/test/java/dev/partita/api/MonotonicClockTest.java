package dev.partita.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class MonotonicClockTest {
  @Test
  void itGoesOnWithTheMonotonicClockFromTheTimeOfDayAtItsStart() {
    AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 5);
    Instant begin = Instant.parse("2026-01-01T00:00:00Z");
    MonotonicClock clock = new MonotonicClock(begin, nanos::get);
    assertThat(clock.instant()).isEqualTo(begin);
    nanos.addAndGet(Duration.ofMinutes(3).toNanos());
    assertThat(clock.instant()).isEqualTo(begin.plusSeconds(180));
  }
}
