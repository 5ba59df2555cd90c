package dev.partita.cli.rightsizing;

import dev.partita.cli.command.CommandFailure;
import java.math.BigInteger;
import java.time.Duration;

/**
 * Which shares hold too much, and how much they should hold.
 *
 * @param minAge a share that is younger may not have shown what it needs
 * @param below percent of what it holds that its peak must have stayed below
 * @param headroom percent of its peak that it is left beyond the peak
 */
public record SizingRule(Duration minAge, int below, int headroom) {
  private static final long MIB = 1L << 20;
  private static final long GIB = 1L << 30;

  /** From here on sizes are whole GiB, below it quarters of one. */
  private static final long LARGE = 4 * GIB;

  private static final int MOST_HEADROOM = 1000;

  public SizingRule {
    if (below < 1 || below > 100) {
      throw CommandFailure.usage("--below is 1 to 100 percent, not " + below);
    }
    if (headroom < 0 || headroom > MOST_HEADROOM) {
      throw CommandFailure.usage("--headroom is 0 to " + MOST_HEADROOM + " percent, not " + headroom);
    }
  }

  /** Whether such a peak is far below what is held; both in bytes. */
  boolean isFarBelow(long peak, long held) {
    return BigInteger.valueOf(peak).multiply(BigInteger.valueOf(100))
        .compareTo(BigInteger.valueOf(held).multiply(BigInteger.valueOf(below))) < 0;
  }

  /**
   * Bytes that a share of such a peak should hold: the peak and its headroom, rounded up to a quarter of a GiB, and
   * from 4 GiB on to a whole one. A peak of 3 GiB with 25 % of headroom gives 3.75 GiB, one of 5 GiB gives 7 GiB.
   */
  long proposed(long peak) {
    BigInteger wanted =
        BigInteger.valueOf(peak).multiply(BigInteger.valueOf(100L + headroom)).add(BigInteger.valueOf(99))
            .divide(BigInteger.valueOf(100));
    long bytes = Math.max(1, wanted.min(BigInteger.valueOf(Long.MAX_VALUE - GIB)).longValueExact());
    long step = bytes < LARGE ? 256 * MIB : GIB;
    return (bytes + step - 1) / step * step;
  }
}
