package dev.partita.cdi.driver;

/** Outcome of looking for a driver below a driver root. */
public sealed interface DriverSearch {
  /** There is one. */
  record Found(DriverFiles files) implements DriverSearch {}

  /**
   * There is none that can be used.
   *
   * @param reason what was looked for, where, and what was not there
   * @param remedy what to do about it
   */
  record NotFound(String reason, String remedy) implements DriverSearch {
    /** Reason and remedy in one line. */
    public String message() {
      return reason + "; " + remedy;
    }
  }
}
