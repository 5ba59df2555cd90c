package dev.partita.controller.events;

import dev.partita.controller.allocate.ClaimRef;

/**
 * Something to tell on a claim.
 *
 * @param note for people; cut to what the API takes
 */
public record ClaimEvent(ClaimRef claim, Reason reason, String note) {
  /** The constants are spelt as they are in the event. */
  public enum Reason {
    Allocated(false),
    Unallocatable(true);

    private final boolean warning;

    Reason(boolean warning) {
      this.warning = warning;
    }

    boolean isWarning() {
      return warning;
    }
  }
}
