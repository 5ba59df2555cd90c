package dev.partita.serving.metrics;

/** What tells some of the metrics when they are scraped. Quick, and from memory: many may scrape. */
public interface Source {
  /** Adds its samples as they are now. */
  void collect(Samples into);
}
