package dev.partita.plugin.cardreport;

import java.util.HashMap;
import java.util.Map;

/**
 * Compares what NVML says of the whole card, which is right, with the time in which launches were pending by shares'
 * regions.
 *
 * <p>Where the card was busy for longer, those had it whose launches nobody times: shares without a core limit. What
 * they have pending while nobody else has, they are taken to have at any time. Where it was busy for shorter, windows
 * of launches hold time in which the card waited for the program.
 */
final class CardTotal {
  /** Each period counts half with the next one: long enough for figures that are wrong by a few percent. */
  private static final double MEMORY = 0.5;

  /** Who is named in one period of several uses the card all the time. */
  private static final double MEMORY_OF_NAMES = 0.75;

  private static final double FORGOTTEN = 0.01;

  /** With less of the time than this left by others, it does not show what untimed processes have pending. */
  private static final double LEAST_FREE = 0.05;

  private static final double LEAST_SCALE = 1.0 / 16;

  private double sampled;
  private double covered;
  private double passed;
  private final Map<Long, Double> named = new HashMap<>(); // what NVML gave lately to untimed processes, by pid

  /**
   * Takes a period in.
   *
   * @param untimed what NVML gives in it to processes whose launches nobody times, by pid, in ns
   */
  void take(SampledPeriod period, Map<Long, Long> untimed) {
    sampled = sampled * MEMORY + period.sampledByAll();
    covered = covered * MEMORY + period.coveredNanos();
    passed = passed * MEMORY + period.nanos();
    named.replaceAll((pid, nanos) -> nanos * MEMORY_OF_NAMES);
    untimed.forEach((pid, nanos) -> named.merge(pid, (double) nanos, Double::sum));
    named.values().removeIf(nanos -> nanos < period.nanos() * FORGOTTEN);
  }

  /** What part of the time in which launches were pending the card was busy. */
  double scale() {
    return sampled < covered ? Math.max(LEAST_SCALE, sampled / covered) : 1;
  }

  /** What untimed processes have pending, where there are any. */
  DividedTime.Untimed untimed() {
    double free = passed - covered;
    double part =
        free < LEAST_FREE * passed ? (named.isEmpty() ? 0 : 1) : Math.clamp((sampled - covered) / free, 0, 1);
    double most = named.values().stream().mapToDouble(Double::doubleValue).max().orElse(0);
    double all = named.values().stream().mapToDouble(Double::doubleValue).sum();
    return passed == 0 ? DividedTime.Untimed.NONE : new DividedTime.Untimed(part, most == 0 ? 1 : all / most);
  }

  /** What NVML gave lately to untimed processes, by pid, in ns of which older ones count less. */
  Map<Long, Double> named() {
    return Map.copyOf(named);
  }
}
