package dev.partita.api;

import java.time.Clock;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.function.LongSupplier;

/**
 * A clock for how long something lasts: it begins with the time of day and goes on evenly, while the time of day can be
 * set, as happens minutes after a start of a machine whose own clock is wrong.
 */
public final class MonotonicClock extends Clock {
  private final Instant begin;
  private final LongSupplier nanos;
  private final long beginNanos;
  private final ZoneId zone;

  MonotonicClock(Instant begin, LongSupplier nanos) {
    this(begin, nanos, nanos.getAsLong(), ZoneOffset.UTC);
  }

  private MonotonicClock(Instant begin, LongSupplier nanos, long beginNanos, ZoneId zone) {
    this.begin = begin;
    this.nanos = nanos;
    this.beginNanos = beginNanos;
    this.zone = zone;
  }

  /** Begins now. */
  public static MonotonicClock start() {
    return new MonotonicClock(Clock.systemUTC().instant(), System::nanoTime);
  }

  @Override
  public Instant instant() {
    return begin.plusNanos(nanos.getAsLong() - beginNanos);
  }

  @Override
  public ZoneId getZone() {
    return zone;
  }

  @Override
  public Clock withZone(ZoneId other) {
    return new MonotonicClock(begin, nanos, beginNanos, other);
  }
}
