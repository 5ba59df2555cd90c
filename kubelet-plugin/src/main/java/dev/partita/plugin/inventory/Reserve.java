package dev.partita.plugin.inventory;

import dev.partita.api.Bytes;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Memory of a card that is kept from shares, besides what the driver keeps for itself: an amount, or a part of the
 * card.
 */
public sealed interface Reserve {
  /** As many bytes of every card. */
  record Amount(long bytes) implements Reserve {}

  /** As many percent of every card. */
  record Percent(BigDecimal percent) implements Reserve {}

  /** Bytes of a card with so much memory: not more than that. */
  default long of(long memoryBytes) {
    return switch (this) {
      case Amount amount -> Math.min(amount.bytes(), memoryBytes);
      case Percent part ->
          part.percent().multiply(BigDecimal.valueOf(memoryBytes)).divide(BigDecimal.valueOf(100), 0, RoundingMode.UP)
              .longValue();
    };
  }

  /** Reads {@code 512Mi}, {@code 0} or {@code 1.5%}; throws IllegalArgumentException that says what can be written. */
  static Reserve parse(String text) {
    Matcher percent = Pattern.compile("(\\d{1,2}(?:\\.\\d{1,3})?|100)%").matcher(text.strip());
    if (percent.matches()) {
      return new Percent(new BigDecimal(percent.group(1)));
    }
    try {
      long bytes = Bytes.of(text.strip());
      if (bytes >= 0) {
        return new Amount(bytes);
      }
    } catch (IllegalArgumentException | ArithmeticException e) {
      // said below
    }
    throw new IllegalArgumentException(
        "the reserve must be an amount such as 512Mi, or a part of the card such as 1.5%: \"" + text + "\"");
  }
}
