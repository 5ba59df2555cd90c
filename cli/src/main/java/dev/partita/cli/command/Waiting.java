package dev.partita.cli.command;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Supplier;

/** Waits on a condition by looking again and again. */
public final class Waiting {
  /** Between looks at other programs, which cost something. */
  private static final Duration SLOWLY = Duration.ofMillis(300);

  /** Between looks at another part of this process. */
  private static final Duration QUICKLY = Duration.ofMillis(20);

  private Waiting() {}

  /** What one look found. */
  public sealed interface Look<T> {}

  private record Done<T>(T found) implements Look<T> {}

  private record NotYet<T>(String why) implements Look<T> {}

  public static <T> Look<T> done(T found) {
    return new Done<>(found);
  }

  /**
   * @param why what is missing, for the message should the time run out
   */
  public static <T> Look<T> notYet(String why) {
    return new NotYet<>(why);
  }

  /** Looks at the outside world until it is done; fails after so many seconds with what was still missing. */
  public static <T> T upTo(int seconds, String what, Supplier<Look<T>> look) {
    Look<T> last;
    try {
      last = last(Duration.ofSeconds(seconds), SLOWLY, look::get);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw CommandFailure.failed("interrupted");
    } catch (RuntimeException failure) {
      throw failure;
    } catch (Exception impossible) {
      throw new IllegalStateException("a supplier throws no checked exception", impossible);
    }
    return switch (last) {
      case Done<T>(T found) -> found;
      case NotYet<T>(String why) -> throw CommandFailure.failed("waited %d s for %s: %s".formatted(seconds, what, why));
    };
  }

  /** Asks until there is an answer; empty when the time is up. */
  public static <T> Optional<T> forAnswer(Duration timeout, Callable<Optional<T>> question) throws Exception {
    Look<T> last =
        last(timeout, QUICKLY, () -> question.call().<Look<T>>map(Done::new).orElseGet(() -> new NotYet<>("")));
    return last instanceof Done<T>(T found) ? Optional.of(found) : Optional.empty();
  }

  /** Asks until it holds; false when the time is up. */
  public static boolean until(Duration timeout, Callable<Boolean> question) throws Exception {
    return forAnswer(timeout, () -> question.call() ? Optional.of(true) : Optional.<Boolean>empty()).isPresent();
  }

  /** The first look that is done, or the last one before the time was up; looks at least once. */
  private static <T> Look<T> last(Duration timeout, Duration pause, Callable<Look<T>> look) throws Exception {
    long end = System.nanoTime() + timeout.toNanos();
    while (true) {
      Look<T> now = look.call();
      if (now instanceof Done || System.nanoTime() - end >= 0) {
        return now;
      }
      Thread.sleep(pause);
    }
  }
}
