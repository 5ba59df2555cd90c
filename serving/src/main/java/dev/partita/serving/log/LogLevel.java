package dev.partita.serving.log;

import ch.qos.logback.classic.Level;
import java.util.Locale;

/**
 * How much a program tells in its log: each level tells what those before it do, and more. A setting of the programs.
 */
public enum LogLevel {
  /** Nothing. */
  OFF,
  /** What the program cannot do and nobody else will. */
  ERROR,
  /** What goes wrong and is tried again, or costs somebody something. */
  WARN,
  /** What was done. */
  INFO,
  /** Each step. */
  DEBUG;

  /** As settings have it. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }

  Level ofOurs() {
    return Level.valueOf(name());
  }

  /** Libraries tell at most what goes wrong: their INFO is about themselves. */
  Level ofLibraries() {
    return compareTo(WARN) < 0 ? ofOurs() : Level.WARN;
  }
}
