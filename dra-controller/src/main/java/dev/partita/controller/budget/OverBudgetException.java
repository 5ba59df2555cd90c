package dev.partita.controller.budget;

import java.time.Duration;

/** A decision takes more time than it may. The message is for whoever wrote the pod. */
public final class OverBudgetException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Selectors that cost less than this are not named. */
  private static final long WORTH_NAMING = 100_000;

  OverBudgetException(Duration most, long units, int devices) {
    super(words(most, units, devices));
  }

  private static String words(Duration most, long units, int devices) {
    String time = most.toMillis() + " ms of the controller's time";
    return units < WORTH_NAMING
        ? "takes longer to decide than " + time
        : "selectors too costly: " + units + " units over " + devices + " devices in " + time;
  }
}
