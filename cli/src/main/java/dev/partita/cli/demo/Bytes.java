package dev.partita.cli.demo;

import io.fabric8.kubernetes.api.model.Quantity;
import java.util.Locale;

/** Amounts of memory, as people and as Kubernetes write them. */
final class Bytes {
  private static final double GIB = 1L << 30;

  private Bytes() {}

  /** Such as {@code 140.4 GiB}; whole numbers without a fraction. */
  static String gib(long bytes) {
    String text = String.format(Locale.ROOT, "%.1f", bytes / GIB);
    return (text.endsWith(".0") ? text.substring(0, text.length() - 2) : text) + " GiB";
  }

  static long of(Quantity quantity) {
    return quantity.getNumericalAmount().longValue();
  }

  /** Bytes of a quantity such as {@code 8Gi}. */
  static long of(String quantity) {
    return of(new Quantity(quantity));
  }
}
