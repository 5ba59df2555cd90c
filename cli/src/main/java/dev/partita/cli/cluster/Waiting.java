package dev.partita.cli.cluster;

import dev.partita.cli.CommandFailure;
import java.time.Duration;
import java.util.function.Supplier;

/** Waits on a condition of the outside world by looking again and again. */
final class Waiting {
  private static final Duration BETWEEN_LOOKS = Duration.ofMillis(300);

  private Waiting() {}

  /** What one look found. */
  sealed interface Look<T> {}

  private record Done<T>(T found) implements Look<T> {}

  private record NotYet<T>(String why) implements Look<T> {}

  static <T> Look<T> done(T found) {
    return new Done<>(found);
  }

  /**
   * @param why what is missing, for the message should the time run out
   */
  static <T> Look<T> notYet(String why) {
    return new NotYet<>(why);
  }

  /** Looks until it is done; fails after so many seconds with what was still missing. */
  static <T> T upTo(int seconds, String what, Supplier<Look<T>> look) {
    long end = System.nanoTime() + Duration.ofSeconds(seconds).toNanos();
    while (true) {
      switch (look.get()) {
        case Done<T>(T found) -> {
          return found;
        }
        case NotYet<T>(String why) -> {
          if (System.nanoTime() > end) {
            throw CommandFailure.failed("waited %d s for %s: %s".formatted(seconds, what, why));
          }
        }
      }
      pause();
    }
  }

  private static void pause() {
    try {
      Thread.sleep(BETWEEN_LOOKS);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw CommandFailure.failed("interrupted");
    }
  }
}
