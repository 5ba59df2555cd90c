package dev.partita.plugin.nvml;

/** What processes use of cards: asked again and again by who goes on from the newest that he has seen. */
public interface Samples {
  /** The newest sample of each process on a card, by its UUID, if it is newer than a time in NVML's microseconds. */
  CardSamples of(String card, long newerThan);
}
