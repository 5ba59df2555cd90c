package dev.partita.serving.metrics;

import java.util.List;

/**
 * Samples of one name.
 *
 * @param name as Prometheus has it, with its unit; a counter's ends with {@code _total}
 * @param kind what a sample is
 * @param help what it says, in one sentence
 * @param labels names of the labels that each sample has, in the order in which their values are given
 */
public record Family(String name, Kind kind, String help, List<String> labels) {
  /** The suffix of every counter's name. */
  static final String TOTAL = "_total";

  /** What a sample is. */
  public enum Kind {
    /** A value that goes up and down. */
    GAUGE,
    /** A value that only goes up while the process lives. */
    COUNTER
  }

  public Family {
    labels = List.copyOf(labels);
    if (kind == Kind.COUNTER != name.endsWith(TOTAL)) {
      throw new IllegalArgumentException("counters, and only they, end with " + TOTAL + ": " + name);
    }
  }

  /** Names differ, so that they are enough: every sample looks its family up. */
  @Override
  public int hashCode() {
    return name.hashCode();
  }

  /** A gauge. */
  public static Family gauge(String name, String help, String... labels) {
    return new Family(name, Kind.GAUGE, help, List.of(labels));
  }

  /** A counter. */
  public static Family counter(String name, String help, String... labels) {
    return new Family(name, Kind.COUNTER, help, List.of(labels));
  }
}
