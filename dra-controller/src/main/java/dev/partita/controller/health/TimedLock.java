package dev.partita.controller.health;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** A lock that knows for how long it has been held, so that the health check finds a holder that hangs. */
public final class TimedLock {
  private final ReentrantLock lock = new ReentrantLock();
  private final String what;
  private final Clock monotonicClock;
  private volatile @Nullable Instant since;

  /**
   * @param what it guards, for people
   * @param monotonicClock one for how long something lasts
   */
  public TimedLock(String what, Clock monotonicClock) {
    this.what = what;
    this.monotonicClock = monotonicClock;
  }

  public void lock() {
    lock.lock();
    since = monotonicClock.instant();
  }

  /** Waits no longer than that; whether it was had. */
  public boolean tryLock(Duration most) throws InterruptedException {
    boolean had = lock.tryLock(most.toNanos(), TimeUnit.NANOSECONDS);
    if (had) {
      since = monotonicClock.instant();
    }
    return had;
  }

  public void unlock() {
    since = null;
    lock.unlock();
  }

  /** What is wrong if it has been held for longer than that. For any thread. */
  public Optional<String> heldTooLong(Duration most) {
    @Nullable Instant begin = since;
    Duration held = begin == null ? Duration.ZERO : Duration.between(begin, monotonicClock.instant());
    return held.compareTo(most) > 0
        ? Optional.of("the lock of " + what + " has been held for " + held.toSeconds() + " s")
        : Optional.empty();
  }
}
