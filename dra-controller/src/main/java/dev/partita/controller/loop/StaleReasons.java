package dev.partita.controller.loop;

import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.function.Consumer;

/**
 * Says when pods are to be told again why they wait. When something is given back, they are decided about anew at once.
 * When something more is taken, that helps none of them, but what they were told of free cards is no longer true. That
 * is put right a little later, for all that was taken meanwhile. It never takes more than a twentieth of the time, nor
 * more than some 40 writes a second (an event and a condition for each pod). For one thread.
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
