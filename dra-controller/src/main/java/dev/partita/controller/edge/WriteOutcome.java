package dev.partita.controller.edge;

import java.util.Locale;

/** How a write to the API server came to its end, as metrics name it. */
public enum WriteOutcome {
  /** The API server has it. */
  DONE,
  /** The object has another version, or is there already: nothing was written (HTTP 409). */
  CONFLICT,
  /** The object is not there (404). */
  NOT_FOUND,
  /** The API server takes no such object, or a field that the patch tests has another value (422). */
  INVALID,
  /** The API server, an admission policy or a PodDisruptionBudget does not allow it. */
  REFUSED,
  /** The API server failed or was out of reach, also when it was tried again. */
  FAILED,
  /** Nothing was sent: this instance does not lead, the API server kept failing, or it is not to be any more. */
  NOT_SENT;

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
