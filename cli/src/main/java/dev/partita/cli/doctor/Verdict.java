package dev.partita.cli.doctor;

import java.util.Locale;

/** What a check found. */
enum Verdict {
  OK,
  /** It works, or nobody could look, and somebody should know. */
  WARN,
  /** It does not work. */
  FAIL;

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
