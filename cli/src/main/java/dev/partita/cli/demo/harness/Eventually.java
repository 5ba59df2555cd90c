package dev.partita.cli.demo.harness;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;

/** Waits for something that another part of the system is about to do. */
public final class Eventually {
  private static final Duration INTERVAL = Duration.ofMillis(20);

  private Eventually() {}

  /** Asks until there is an answer; empty when the time is up. */
  public static <T> Optional<T> get(Duration timeout, Callable<Optional<T>> question) throws Exception {
    long deadline = System.nanoTime() + timeout.toNanos();
    while (true) {
      Optional<T> answer = question.call();
      if (answer.isPresent() || System.nanoTime() - deadline >= 0) {
        return answer;
      }
      Thread.sleep(INTERVAL);
    }
  }

  /** Asks until it holds; false when the time is up. */
  public static boolean holds(Duration timeout, Callable<Boolean> question) throws Exception {
    return get(timeout, () -> question.call() ? Optional.of(true) : Optional.<Boolean>empty()).isPresent();
  }
}
