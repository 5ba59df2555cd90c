package dev.partita.api;

import io.fabric8.kubernetes.api.model.Quantity;
import java.math.BigDecimal;
import java.util.Optional;

/** Whether a quantity that somebody wrote is an amount of memory. */
public final class Amount {
  private static final BigDecimal MOST = BigDecimal.valueOf(Long.MAX_VALUE);

  private Amount() {}

  /** Why it is not a whole number of bytes, as a clause without the path; empty if it is. */
  public static Optional<String> problem(Quantity quantity) {
    BigDecimal bytes;
    try {
      bytes = quantity.getNumericalAmount();
    } catch (IllegalArgumentException | ArithmeticException e) {
      return Optional.of("is not a quantity such as 40Gi: " + quantity);
    }
    if (bytes.signum() < 0) {
      return Optional.of("must not be negative: " + quantity);
    }
    if (bytes.compareTo(MOST) > 0) {
      return Optional.of("is more than can be counted: " + quantity);
    }
    return bytes.stripTrailingZeros().scale() > 0
        ? Optional.of("must be a whole number of bytes: " + quantity)
        : Optional.empty();
  }
}
