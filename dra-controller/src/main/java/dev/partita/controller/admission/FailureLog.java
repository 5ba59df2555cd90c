package dev.partita.controller.admission;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * Logs failures of reviews, the same one once a minute: whoever reaches the port says how often there is one. For any
 * thread.
 */
final class FailureLog {
  static final Duration BETWEEN = Duration.ofMinutes(1);

  private final LongSupplier nanoTime;
  private final Consumer<Throwable> log;
  private final Map<String, Long> told = new HashMap<>(); // as many as there are places that can fail

  /** @param nanoTime as {@link System#nanoTime} */
  FailureLog(LongSupplier nanoTime, Consumer<Throwable> log) {
    this.nanoTime = nanoTime;
    this.log = log;
  }

  void failed(Throwable failure) {
    if (isDue(cause(failure))) {
      log.accept(failure);
    }
  }

  private synchronized boolean isDue(String cause) {
    long now = nanoTime.getAsLong();
    boolean due = !told.containsKey(cause) || now - told.get(cause) >= BETWEEN.toNanos();
    if (due) {
      told.put(cause, now);
    }
    return due;
  }

  /** The kind of failure and its place; the message may have anything of what was asked. */
  private static String cause(Throwable failure) {
    StackTraceElement[] trace = failure.getStackTrace();
    return failure.getClass().getName() + (trace.length == 0 ? "" : " at " + trace[0]);
  }
}
