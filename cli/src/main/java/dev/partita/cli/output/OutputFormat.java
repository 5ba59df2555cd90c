package dev.partita.cli.output;

import java.util.Locale;

/** In which form objects are shown; the words are kubectl's. */
public enum OutputFormat {
  TABLE,
  /** A table with more columns. */
  WIDE,
  JSON,
  YAML;

  /** Whether it is for people. */
  public boolean isTable() {
    return this == TABLE || this == WIDE;
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
