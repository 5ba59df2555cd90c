package dev.partita.controller.fleet;

import dev.partita.api.Bytes;
import dev.partita.api.device.DeviceStatusData;
import java.util.Map;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What the node's plugin saw a claim's device used for, at most some minutes ago; what it did not say is empty.
 *
 * @param memoryLimit bytes that the claim has of the card
 * @param memoryUsed bytes that its processes hold
 * @param memoryPeak the most that they ever held
 * @param coresUsed percent of the card's time that they had
 * @param processes how many there are
 */
public record Measured(
    OptionalLong memoryLimit,
    OptionalLong memoryUsed,
    OptionalLong memoryPeak,
    OptionalLong coresUsed,
    OptionalLong processes) {
  /** Nothing is known. */
  public static final Measured NOTHING = of(Map.of());

  private static final long MOST = 1_000_000;
  private static final int LONGEST = 64;

  /** Reads {@code status.devices[].data}; what cannot be read counts as not said. */
  static Measured of(Map<?, ?> data) {
    return new Measured(
        memory(data, DeviceStatusData.MEMORY_LIMIT),
        memory(data, DeviceStatusData.MEMORY_USED),
        memory(data, DeviceStatusData.MEMORY_PEAK),
        number(data, DeviceStatusData.CORES_USED),
        number(data, DeviceStatusData.PROCESSES));
  }

  private static OptionalLong memory(Map<?, ?> data, DeviceStatusData field) {
    String text = text(data, field);
    return text.isEmpty() ? OptionalLong.empty() : Bytes.parse(text);
  }

  private static OptionalLong number(Map<?, ?> data, DeviceStatusData field) {
    String text = text(data, field);
    if (text.isEmpty()) { // as most are: an exception for each would take longer than all else
      return OptionalLong.empty();
    }
    try {
      double number = Double.parseDouble(text.replace("%", ""));
      return number >= 0 && number <= MOST ? OptionalLong.of(Math.round(number)) : OptionalLong.empty();
    } catch (NumberFormatException e) {
      return OptionalLong.empty();
    }
  }

  private static String text(Map<?, ?> data, DeviceStatusData field) {
    @Nullable Object value = data.get(field.key());
    String text = value == null ? "" : value.toString().strip();
    return text.length() <= LONGEST ? text : "";
  }

  /** The sum of what is known; empty if nothing is. */
  public static OptionalLong sum(Stream<OptionalLong> amounts) {
    long[] known = amounts.filter(OptionalLong::isPresent).mapToLong(OptionalLong::getAsLong).toArray();
    long sum = 0;
    for (long amount : known) {
      sum = amount > Long.MAX_VALUE - sum ? Long.MAX_VALUE : sum + amount;
    }
    return known.length == 0 ? OptionalLong.empty() : OptionalLong.of(sum);
  }
}
