package dev.partita.plugin;

import dev.partita.plugin.loop.Loops;
import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Gives the node back what of the heap is not needed any more. The serial collector lets the old generation grow up to
 * its limit before it looks for garbage in it, so that after a start or a rush of claims the heap would stay at several
 * times of what is alive. A collection takes some 30 ms, and on a quiet node there is none.
 *
 * <p>For example, 16 MiB were left after the last collection and the heap has 28 MiB now: more than 16 × 1.25 + 4, so
 * it is collected.
 */
final class HeapTrim {
  private static final Duration PERIOD = Duration.ofSeconds(30);
  private static final Duration ALLOWED = Duration.ofMinutes(2);
  private static final long LITTLE = 4L << 20;

  private final LongSupplier committed;
  private final Runnable collect;
  private long left; // bytes after the last collection; 0 before the first

  HeapTrim(LongSupplier committed, Runnable collect) {
    this.committed = committed;
    this.collect = collect;
  }

  static void start(Loops loops) {
    HeapTrim trim = new HeapTrim(Runtime.getRuntime()::totalMemory, System::gc);
    loops
        .make(
            "heap",
            ALLOWED,
            () -> {
              trim.trim();
              return PERIOD;
            })
        .start();
  }

  /** Collects if the heap has grown by more than a quarter and 4 MiB. */
  void trim() {
    if (committed.getAsLong() > left + left / 4 + LITTLE) {
      collect.run();
      left = committed.getAsLong();
    }
  }
}
