package dev.partita.api.resize;

import dev.partita.api.Amount;
import dev.partita.api.Bytes;
import dev.partita.api.device.CapacityName;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The size that a claim's owner asks for, as the annotation {@link dev.partita.api.Driver#RESIZE_ANNOTATION} has it:
 * {@code memory=12Gi,cores=40}. A claim of several requests may name one with each amount:
 * {@code left.memory=12Gi,right.memory=4Gi}. What is not named stays as it is.
 *
 * @param amounts quantities by key, in order of key
 */
public record SizeRequest(Map<String, Quantity> amounts) {
  /** A claim has 32 requests at most, and two amounts each; whoever may edit the claim can write anything. */
  private static final int LONGEST = 4096;

  private static final Set<String> CAPACITIES = Set.of(CapacityName.MEMORY, CapacityName.CORES);
  private static final int ALL_CORES = 100;

  public SizeRequest {
    amounts = java.util.Collections.unmodifiableMap(new TreeMap<>(amounts));
  }

  /**
   * Reads the annotation.
   *
   * @throws IllegalArgumentException with a message for people, if it is not understood
   */
  public static SizeRequest parse(String text) {
    if (text.length() > LONGEST) {
      throw new IllegalArgumentException("has more than the " + LONGEST + " characters that are read");
    }
    Map<String, Quantity> amounts = new TreeMap<>();
    for (String part : text.split(",", -1)) {
      int equals = part.indexOf('=');
      String key = equals < 0 ? part.strip() : part.substring(0, equals).strip();
      if (equals < 0 || !CAPACITIES.contains(capacity(key))) {
        throw new IllegalArgumentException(
            "\"" + part.strip() + "\" is not understood; write memory=12Gi,cores=40, or REQUEST.memory=12Gi");
      }
      if (amounts.put(key, amount(key, part.substring(equals + 1).strip())) != null) {
        throw new IllegalArgumentException(key + " is there twice");
      }
    }
    return new SizeRequest(amounts);
  }

  private static Quantity amount(String key, String value) {
    Quantity quantity;
    try {
      quantity = new Quantity(value);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(key + " is not a quantity such as 12Gi: \"" + value + "\"", e);
    }
    Amount.problem(quantity).ifPresent(problem -> {
      throw new IllegalArgumentException(key + " " + problem);
    });
    long number = Bytes.of(quantity);
    if (capacity(key).equals(CapacityName.CORES) ? number > ALL_CORES : number < 1) {
      throw new IllegalArgumentException(
          capacity(key).equals(CapacityName.CORES) ? key + " is a percentage: " + value : key + " must be above 0");
    }
    return quantity;
  }

  private static String capacity(String key) {
    return key.substring(key.lastIndexOf('.') + 1);
  }

  /** Requests that it names. */
  public Set<String> requests() {
    return amounts.keySet().stream().filter(key -> key.contains("."))
        .map(key -> key.substring(0, key.lastIndexOf('.'))).collect(Collectors.toSet());
  }

  /** What a share of that request is to have. */
  public ShareSize of(String request, ShareSize now) {
    return new ShareSize(
        amount(request, CapacityName.MEMORY, now.memoryBytes()),
        Math.toIntExact(amount(request, CapacityName.CORES, now.cores())));
  }

  private long amount(String request, String capacity, long now) {
    Quantity asked = amounts.getOrDefault(request + "." + capacity, amounts.get(capacity));
    return asked == null ? now : Bytes.of(Objects.requireNonNull(asked));
  }

  /** As the annotation has it. */
  @Override
  public String toString() {
    return amounts.entrySet().stream().map(entry -> entry.getKey() + "=" + entry.getValue())
        .collect(Collectors.joining(","));
  }
}
