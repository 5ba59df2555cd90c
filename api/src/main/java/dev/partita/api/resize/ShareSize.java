package dev.partita.api.resize;

import dev.partita.api.Bytes;
import io.fabric8.kubernetes.api.model.Quantity;
import java.math.BigDecimal;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * How much of a card a share has, in the capacities of its device.
 *
 * @param memoryBytes bytes, 1 or more
 * @param cores percent of the card's time, 0 to 100
 */
public record ShareSize(long memoryBytes, int cores) {
  private static final int ALL = 100;
  private static final Pattern TEXT =
      Pattern.compile("memory=([0-9]{1,18}(?:[KMGT]i)?),cores=([0-9]{1,3})");

  public ShareSize {
    if (memoryBytes < 1 || cores < 0 || cores > ALL) {
      throw new IllegalArgumentException(
          "a share has memory, and 0 to 100 percent of a card's time: " + memoryBytes + ", " + cores);
    }
  }

  /** Reads what {@link #toString} writes; empty if it is none. */
  public static Optional<ShareSize> parse(String text) {
    Matcher found = TEXT.matcher(text);
    if (!found.matches()) {
      return Optional.empty();
    }
    BigDecimal memory = new Quantity(found.group(1)).getNumericalAmount();
    int cores = Integer.parseInt(found.group(2));
    return memory.signum() > 0 && memory.compareTo(BigDecimal.valueOf(Long.MAX_VALUE)) <= 0 && cores <= ALL
        ? Optional.of(new ShareSize(memory.longValueExact(), cores))
        : Optional.empty();
  }

  /** The larger of both, in memory and in cores. */
  public ShareSize max(ShareSize other) {
    return new ShareSize(Math.max(memoryBytes, other.memoryBytes), Math.max(cores, other.cores));
  }

  /** Whether the other has as much or more, in memory and in cores. */
  public boolean isWithin(ShareSize other) {
    return memoryBytes <= other.memoryBytes && cores <= other.cores;
  }

  /** {@code memory=8Gi,cores=40}. */
  @Override
  public String toString() {
    return "memory=" + Bytes.quantity(memoryBytes) + ",cores=" + cores;
  }
}
