package dev.partita.controller.claims;

import java.time.Duration;
import java.util.function.Consumer;

/**
 * When it is to be said again why pods wait. What is given back has them decided anew at once; what is taken besides helps none of them, but what was
 * said of free cards is no longer so. That is put right a little later, for all that was taken meanwhile, and never takes more than a twentieth of the
 * time. For one thread.
 */
final class StaleReasons {
  private static final Duration SOON = Duration.ofSeconds(5);
  private static final int PART_OF_THE_TIME = 20;

  private final Consumer<Duration> later;
  private Duration took = Duration.ZERO;
  private boolean due;

  /** @param later has it said again after a while */
  StaleReasons(Consumer<Duration> later) {
    this.later = later;
  }

  /** More is taken. */
  void taken(boolean anybodyWaits) {
    if (anybodyWaits && !due) {
      due = true;
      Duration pause = took.multipliedBy(PART_OF_THE_TIME);
      later.accept(pause.compareTo(SOON) > 0 ? pause : SOON);
    }
  }

  /** It was said again, and took so long. */
  void said(Duration lastTook) {
    due = false;
    took = lastTook;
  }
}
