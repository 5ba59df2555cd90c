package dev.partita.api;

import io.fabric8.kubernetes.api.model.Quantity;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.OptionalLong;

/** Amounts of memory, as Kubernetes and as people write them. */
public final class Bytes {
  private static final String[] UNITS = {"", "Ki", "Mi", "Gi", "Ti", "Pi"};

  private Bytes() {}

  /** The exact quantity in its shortest form: 8589934592 is {@code 8Gi}. */
  public static Quantity quantity(long bytes) {
    long value = bytes;
    int unit = 0;
    while (value != 0 && value % 1024 == 0 && unit + 1 < UNITS.length) {
      value /= 1024;
      unit++;
    }
    return new Quantity(Long.toString(value), UNITS[unit]);
  }

  /**
   * For people, to one decimal, rounded down so that it never promises more than there is: "8 GiB", "140.4 GiB", "512
   * MiB".
   */
  public static String words(long bytes) {
    int unit = 0;
    while (unit + 1 < UNITS.length && Math.abs(bytes) >= 1L << (10 * (unit + 1))) {
      unit++;
    }
    if (unit == 0) {
      return bytes + " bytes";
    }
    BigDecimal value =
        BigDecimal.valueOf(bytes).divide(BigDecimal.valueOf(1L << (10 * unit)), 1, RoundingMode.DOWN)
            .stripTrailingZeros();
    return value.toPlainString() + " " + UNITS[unit] + "B";
  }

  /** The bytes of a quantity such as {@code 8Gi}. */
  public static long of(Quantity quantity) {
    return quantity.getNumericalAmount().longValue();
  }

  /** The bytes of a quantity that anybody may have written; empty if it is no amount of memory. */
  public static OptionalLong parse(String text) {
    try {
      Quantity quantity = new Quantity(text);
      return Amount.problem(quantity).isEmpty() ? OptionalLong.of(of(quantity)) : OptionalLong.empty();
    } catch (IllegalArgumentException e) {
      return OptionalLong.empty();
    }
  }

  /** The bytes of a quantity such as {@code 8Gi}; throws IllegalArgumentException if it is none. */
  public static long of(String quantity) {
    return of(new Quantity(quantity));
  }

  /** So many percent of an amount, rounded down; also where amount times percent would be too large for a long. */
  public static long percentOf(long bytes, int percent) {
    return bytes / 100 * percent + bytes % 100 * percent / 100;
  }
}
