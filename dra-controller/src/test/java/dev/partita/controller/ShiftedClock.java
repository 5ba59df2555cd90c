package dev.partita.controller;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.function.Supplier;

/** The time of day, which somebody sets. */
final class ShiftedClock extends Clock {
  private final Supplier<Duration> offset;

  /** @param offset by how much it is wrong */
  ShiftedClock(Supplier<Duration> offset) {
    this.offset = offset;
  }

  @Override
  public Instant instant() {
    return Clock.systemUTC().instant().plus(offset.get());
  }

  @Override
  public ZoneId getZone() {
    return ZoneOffset.UTC;
  }

  @Override
  public Clock withZone(ZoneId zone) {
    throw new UnsupportedOperationException();
  }
}
