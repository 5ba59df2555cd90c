package dev.partita.plugin.nvml;

/**
 * Tells what processes use of cards, to callers that ask again and again and go on from the newest sample that they
 * have.
 */
public interface Samples {
  /** The newest sample of each process on a card, by its UUID, if it is newer than a time in NVML's microseconds. */
  CardSamples of(String card, long newerThan);
}
