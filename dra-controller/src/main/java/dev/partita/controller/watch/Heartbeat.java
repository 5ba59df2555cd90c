package dev.partita.controller.watch;

import java.time.Duration;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * Says for how long a thread has been at one piece of work: the thread reports every piece that it begins. A thread
 * that waits for work is at none. So the health check can tell a thread that hangs from one that is busy.
 */
public final class Heartbeat {
  private static final long NONE = Long.MIN_VALUE;

  private final String what;
  private final LongSupplier nanoTime;
  private volatile long since = NONE;

  /** @param what the thread, for people */
  public Heartbeat(String what) {
    this(what, System::nanoTime);
  }

  Heartbeat(String what, LongSupplier nanoTime) {
    this.what = what;
    this.nanoTime = nanoTime;
  }

  /** Does a piece of work and reports it. */
  public void during(Runnable work) {
    beat();
    try {
      work.run();
    } finally {
      since = NONE;
    }
  }

  /** Another piece of the same work begins. */
  public void beat() {
    since = Math.max(nanoTime.getAsLong(), NONE + 1);
  }

  /** What is wrong if the thread has been at the same piece of work for longer than that. */
  public Optional<String> stuck(Duration most) {
    long begin = since;
    Duration lasts = begin == NONE ? Duration.ZERO : Duration.ofNanos(nanoTime.getAsLong() - begin);
    return lasts.compareTo(most) > 0
        ? Optional.of(what + " has been busy with one piece of work for " + lasts.toSeconds() + " s")
        : Optional.empty();
  }
}
