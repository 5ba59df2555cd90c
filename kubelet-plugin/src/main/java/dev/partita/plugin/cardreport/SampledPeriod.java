package dev.partita.plugin.cardreport;

import dev.partita.plugin.usage.measure.ShareRef;
import java.util.Map;

/**
 * A period of NVML's samples, and how its time was divided. In each, NVML may name one process and give it all of the
 * card; the sum over all processes is right.
 *
 * @param nanos its length
 * @param sampled what NVML gives to each share's processes, in ns
 * @param divided what each share had by {@link DividedTime}, in ns
 * @param most what each would have had if it had always had launches pending, in ns
 * @param coveredNanos in which any share had launches pending, by its region
 */
record SampledPeriod(
    long nanos,
    Map<ShareRef, Long> sampled,
    Map<ShareRef, Long> divided,
    Map<ShareRef, Long> most,
    long coveredNanos) {
  /** Others with less than this part of the time do not count. */
  private static final int LITTLE_PART = 20;

  SampledPeriod {
    sampled = Map.copyOf(sampled);
    divided = Map.copyOf(divided);
    most = Map.copyOf(most);
  }

  long sampledBy(ShareRef share) {
    return sampled.getOrDefault(share, 0L);
  }

  long dividedTo(ShareRef share) {
    return divided.getOrDefault(share, 0L);
  }

  /** What it would have had if it had always had launches pending. */
  long mostOf(ShareRef share) {
    return most.getOrDefault(share, nanos);
  }

  /** What all shares' processes had, by NVML. */
  long sampledByAll() {
    return sampled.values().stream().mapToLong(Long::longValue).sum();
  }

  /** What all shares had, by division. */
  long dividedToAll() {
    return divided.values().stream().mapToLong(Long::longValue).sum();
  }

  /** The most that another share had, by division. */
  long mostOfOthers(ShareRef share) {
    return divided.entrySet().stream().filter(other -> !other.getKey().equals(share)).mapToLong(Map.Entry::getValue)
        .max().orElse(0);
  }

  /** Whether other shares had some of the time, by division: then NVML may have given theirs to this one. */
  boolean isContended(ShareRef share) {
    return dividedToAll() - dividedTo(share) > nanos / LITTLE_PART;
  }
}
