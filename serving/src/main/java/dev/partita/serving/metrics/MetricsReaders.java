package dev.partita.serving.metrics;

import java.util.Locale;

/** Who may read the metrics: a setting of both programs. */
public enum MetricsReaders {
  /** Over HTTPS: who shows a token of a user that may get the path. */
  TOKEN,
  /** Over HTTP: everybody who reaches the port. */
  EVERYBODY;

  /** As settings have it. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
