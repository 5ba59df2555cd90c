package dev.partita.api;

import io.fabric8.kubernetes.api.model.Quantity;
import java.math.BigDecimal;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Amounts in quantities that somebody wrote. Whoever may write claims and pods may write {@code 1e300000000} and
 * numbers of any length, and API servers keep them. To reckon with one takes minutes, or more memory than there is.
 */
public final class Amount {
  private static final BigDecimal MOST = BigDecimal.valueOf(Long.MAX_VALUE);

  /** Characters of a number that is read: 2^63 has 19 digits, and nobody means more than nine behind the point. */
  private static final int LONGEST = 80;

  private static final int LONGEST_SUFFIX = "e-999".length();

  private Amount() {}

  /**
   * The number that a quantity stands for, in its base unit.
   *
   * @throws IllegalArgumentException if it is no quantity, or none of a size that can be reckoned with
   */
  public static BigDecimal of(Quantity quantity) {
    @Nullable String number = quantity.getAmount();
    @Nullable String suffix = quantity.getFormat();
    if (number == null || number.length() > LONGEST || (suffix != null && suffix.length() > LONGEST_SUFFIX)) {
      throw new IllegalArgumentException("not a quantity: " + words(quantity));
    }
    try {
      return quantity.getNumericalAmount();
    } catch (ArithmeticException e) {
      throw new IllegalArgumentException("not a quantity: " + words(quantity), e);
    }
  }

  /** As it was written, for people; of what is very long the beginning. */
  public static String words(Quantity quantity) {
    return Excerpt.of(quantity.toString(), LONGEST);
  }

  /** Why it is not a whole number of bytes, as a clause without the path; empty if it is. */
  public static Optional<String> problem(Quantity quantity) {
    BigDecimal bytes;
    try {
      bytes = of(quantity);
    } catch (IllegalArgumentException e) {
      return Optional.of("is not a quantity such as 40Gi: " + words(quantity));
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
