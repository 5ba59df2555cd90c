package dev.partita.controller.selector.values;

import java.math.BigDecimal;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * A quantity as CEL expressions see it. Two are equal when their amounts are, however they are written.
 *
 * @param amount the amount in base units, without trailing zeros
 */
public record KubernetesQuantity(BigDecimal amount) implements Comparable<KubernetesQuantity> {
  private static final Pattern FORM =
      Pattern.compile("[+-]?(?:\\d{1,40}\\.?\\d{0,40}|\\.\\d{1,40})(?:[numkMGTPE]|[KMGTPE]i|[eE][+-]?\\d{1,3})?");

  public KubernetesQuantity {
    amount = amount.signum() == 0 ? BigDecimal.ZERO : amount.stripTrailingZeros();
  }

  public static KubernetesQuantity of(long amount) {
    return new KubernetesQuantity(BigDecimal.valueOf(amount));
  }

  /** Reads Kubernetes' notation; empty if it is none. */
  public static Optional<KubernetesQuantity> parse(String text) {
    if (!FORM.matcher(text).matches()) {
      return Optional.empty();
    }
    try {
      return Optional.of(
          new KubernetesQuantity(io.fabric8.kubernetes.api.model.Quantity.parse(text).getNumericalAmount()));
    } catch (IllegalArgumentException | ArithmeticException e) {
      return Optional.empty();
    }
  }

  public boolean isInteger() {
    try {
      amount.longValueExact();
      return true;
    } catch (ArithmeticException e) {
      return false;
    }
  }

  public KubernetesQuantity plus(KubernetesQuantity other) {
    return new KubernetesQuantity(amount.add(other.amount));
  }

  public KubernetesQuantity minus(KubernetesQuantity other) {
    return new KubernetesQuantity(amount.subtract(other.amount));
  }

  @Override
  public int compareTo(KubernetesQuantity other) {
    return amount.compareTo(other.amount);
  }
}
