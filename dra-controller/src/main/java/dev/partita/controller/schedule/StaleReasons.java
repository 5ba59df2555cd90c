package dev.partita.controller.schedule;

import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.function.Consumer;

/**
 * When it is to be said again why pods wait. What is given back has them decided anew at once; what is taken besides
 * helps none of them, but what was said of free cards is no longer so. That is put right a little later, for all that
 * was taken meanwhile; it never takes more than a twentieth of the time, nor makes more than some 40 writes a second
 * (an event and a condition a pod). For one thread.
 */
final class StaleReasons {
  private static final Duration SOON = Duration.ofSeconds(5);
  private static final Duration FOR_EACH_POD = Duration.ofMillis(50);
  private static final int PART_OF_THE_TIME = 20;

  private final Consumer<Duration> later;
  private Duration took = Duration.ZERO;
  private boolean due;

  /** @param later has it said again after a while */
  StaleReasons(Consumer<Duration> later) {
    this.later = later;
  }

  /**
   * More is taken.
   *
   * @param waiting how many pods wait
   */
  void taken(int waiting) {
    if (waiting > 0 && !due) {
      due = true;
      later.accept(
          Collections.max(List.of(SOON, FOR_EACH_POD.multipliedBy(waiting), took.multipliedBy(PART_OF_THE_TIME))));
    }
  }

  /** It was said again, and took so long. */
  void said(Duration lastTook) {
    due = false;
    took = lastTook;
  }
}
