package dev.partita.plugin.usage.verdict;

import java.util.OptionalInt;

/**
 * How much of a share is used, as its claim's status says it.
 *
 * @param limitBytes what the share may hold of the card
 * @param usedBytes what its processes hold of the card by NVML, contexts and modules included
 * @param peakBytes the most that they held at any look
 * @param overheadBytes what contexts and modules of its processes take
 * @param processes how many use it
 * @param coresPercent of the card's time, what they had since the report before; empty where nobody measures it
 * @param throttledPercent of the time since the report before, in which launches waited for the core limit, added up
 *        over threads and 100 at most; empty without a limit, or without a report before
 */
public record UseFigures(
    long limitBytes,
    long usedBytes,
    long peakBytes,
    long overheadBytes,
    int processes,
    OptionalInt coresPercent,
    OptionalInt throttledPercent) {
  /** The least change of memory that is news, in bytes; of large shares it is a 32nd of the share. */
  static final long LEAST_MEMORY = 16L << 20;

  private static final int PARTS = 32;
  private static final int CORES = 5;

  /**
   * Whether a claim's status is to follow. Steps are coarse, because each costs the API server a write.
   *
   * <p>For example, of a share of 8 GiB a change of 256 MiB is news, and one of 255 MiB is not.
   */
  public boolean isNewsAfter(UseFigures before) {
    long memory = Math.max(LEAST_MEMORY, limitBytes / PARTS);
    return differ(usedBytes, before.usedBytes, memory)
        || differ(peakBytes, before.peakBytes, memory)
        || differ(overheadBytes, before.overheadBytes, LEAST_MEMORY)
        || processes != before.processes
        || differ(coresPercent, before.coresPercent)
        || differ(throttledPercent, before.throttledPercent);
  }

  private static boolean differ(OptionalInt a, OptionalInt b) {
    return a.isPresent() != b.isPresent() || differ(a.orElse(0), b.orElse(0), CORES);
  }

  private static boolean differ(long a, long b, long least) {
    return Math.abs(a - b) >= least;
  }
}
