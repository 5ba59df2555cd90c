package dev.partita.plugin;

import dev.partita.plugin.loop.Loops;
import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Returns heap memory that is no longer needed to the node. The serial collector lets the old generation grow to its
 * limit before it looks for garbage there. So after a start or a burst of claims the heap would stay several times as
 * large as what is alive. A collection takes about 30 ms, and a quiet node has none.
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
