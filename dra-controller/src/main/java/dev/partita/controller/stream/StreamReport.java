package dev.partita.controller.stream;

import java.util.List;
import java.util.Optional;

/**
 * What came of a stream. Use and fragmentation are of the time until the last pod arrived: afterwards the cluster only
 * drains.
 *
 * @param allocated what pods had
 * @param fragmentation free memory of cards with too little free memory or cores for one more {@link LargestShare}, as
 *        part of all memory of the cards that could serve it if they were empty; how much CPU the nodes have left does
 *        not count
 * @param samples of equal parts of that time, in order
 * @param nsPerDecision mean time of a decision, ns
 */
public record StreamReport(
    StreamPolicy policy,
    Demand demand,
    Allocated allocated,
    Waits waits,
    Use fragmentation,
    List<Sample> samples,
    long nsPerDecision) {
  public StreamReport {
    samples = List.copyOf(samples);
  }

  /**
   * What was asked for, in thousandths of cards.
   *
   * @param gpus cards there are
   * @param placed pods with GPUs that found a place
   * @param failed pods of any kind that never did
   * @param askedMilli thousandths of cards that were asked for
   * @param usedMilli thousandths of cards that are in use in the end
   * @param firstFailureMilli how many thousandths had been asked for when the first pod found no place
   */
  public record Demand(
      int gpus,
      int placed,
      int failed,
      long askedMilli,
      long usedMilli,
      Optional<Long> firstFailureMilli) {}

  /**
   * How much of something, as parts of one.
   *
   * @param mean over time
   * @param peak the most at any moment
   */
  public record Use(double mean, double peak) {}

  /**
   * What pods had.
   *
   * @param memory of all cards' memory; all of a card's where it is taken as a whole
   * @param cores of all cards' time, likewise
   * @param cards those of which something was allocated
   */
  public record Allocated(Use memory, Use cores, Use cards) {}

  /**
   * How long pods waited that found a place, s; those that found it at once waited for 0 s.
   *
   * @param p50 what half of them waited at most
   * @param p99 what 99 % of them waited at most
   * @param most pods that waited at one moment
   */
  public record Waits(double p50, double p99, int most) {}

  /**
   * Means of a part of the time.
   *
   * @param at seconds from the begin to the part's middle
   * @param memory part of the cards' memory that was allocated
   * @param waiting pods
   * @param fragmentation see {@link StreamReport}
   */
  public record Sample(double at, double memory, double waiting, double fragmentation) {}
}
