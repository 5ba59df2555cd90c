package dev.partita.controller.selector.functions;

import com.google.common.primitives.UnsignedLong;
import com.google.protobuf.ByteString;
import com.google.protobuf.Duration;
import com.google.protobuf.Timestamp;
import dev.partita.controller.selector.cost.CostLimit;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A text with values in the places of its clauses, as the function format of CEL's strings library makes it (cel-go,
 * ext/formatting.go): {@code %s} any value, {@code %d} an integer, {@code %f} and {@code %e} a double ({@code %.2f}:
 * with two digits), {@code %b}, {@code %o}, {@code %x}, {@code %X} in base two, eight and sixteen, {@code %%} a percent
 * sign.
 */
final class FormattedText {
  private static final int PRECISION = 6;
  private static final Set<String> NO_NUMBERS = Set.of("NaN", "Infinity", "-Infinity");

  private final String format;
  private final Iterator<?> values;
  private final StringBuilder text = new StringBuilder();
  private int at;

  private FormattedText(String format, Collection<?> values) {
    this.format = format;
    this.values = values.iterator();
  }

  /**
   * Values for which there is no clause are left out.
   *
   * @throws IllegalArgumentException there is no such clause, no value left for it, or it does not take the value's
   *         type
   */
  static String of(String format, Collection<?> values) {
    FormattedText text = new FormattedText(format, values);
    while (text.at < format.length()) {
      text.next();
      if (text.text.length() > CostLimit.LARGEST) {
        throw CostLimit.Exceeded.tooLarge();
      }
    }
    return text.text.toString();
  }

  private void next() {
    char here = format.charAt(at++);
    if (here != '%') {
      text.append(here);
    } else if (at < format.length() && format.charAt(at) == '%') {
      text.append(format.charAt(at++));
    } else if (!values.hasNext()) {
      throw new IllegalArgumentException("format has more clauses than values");
    } else {
      clause(values.next());
    }
  }

  private void clause(@Nullable Object value) {
    int precision = precision();
    char clause = character();
    text.append(
        switch (clause) {
          case 's' -> anything(value);
          case 'd' -> inBase(10, clause, value);
          case 'o' -> inBase(8, clause, value);
          case 'b' -> value instanceof Boolean flag ? flag ? "1" : "0" : inBase(2, clause, value);
          case 'x' -> hexadecimal(clause, value);
          case 'X' -> hexadecimal(clause, value).toUpperCase(Locale.ROOT);
          case 'f' -> Decimals.fixed(real(clause, value), precision < 0 ? PRECISION : precision);
          case 'e' -> Decimals.scientific(real(clause, value), precision < 0 ? PRECISION : precision);
          default -> throw new IllegalArgumentException("format has no clause %" + clause);
        });
  }

  /** Negative if there is none. */
  private int precision() {
    if (at >= format.length() || format.charAt(at) != '.') {
      return -1;
    }
    int start = ++at;
    while (at < format.length() && format.charAt(at) >= '0' && format.charAt(at) <= '9') {
      at++;
    }
    String digits = format.substring(start, at);
    if (digits.isEmpty() || new BigInteger(digits).compareTo(BigInteger.valueOf(Decimals.MOST)) > 0) {
      throw new IllegalArgumentException("format has a precision that is none: \"." + digits + "\"");
    }
    return Integer.parseInt(digits);
  }

  private char character() {
    if (at >= format.length()) {
      throw new IllegalArgumentException("format ends within a clause");
    }
    return format.charAt(at++);
  }

  private static String anything(@Nullable Object value) {
    return switch (value) {
      case Collection<?> list -> list(list);
      case Map<?, ?> map -> map(map);
      case null, default -> ValueText.ofAny(value)
          .orElseThrow(() -> new IllegalArgumentException("format has no text for a " + ValueText.typeName(value)));
    };
  }

  private static String list(Collection<?> list) {
    return list.stream().map(FormattedText::within).collect(Collectors.joining(", ", "[", "]"));
  }

  private static String map(Map<?, ?> map) {
    return map.entrySet().stream()
        .map(entry -> Map.entry(key(entry.getKey()), within(entry.getValue())))
        .sorted(Map.Entry.comparingByKey())
        .map(entry -> entry.getKey() + ":" + entry.getValue())
        .collect(Collectors.joining(", ", "{", "}"));
  }

  private static String key(Object key) {
    return switch (key) {
      case String _,Boolean _,Long _,UnsignedLong _ -> within(key);
      default -> throw new IllegalArgumentException("format has no text for a key of type " + ValueText.typeName(key));
    };
  }

  /** A value in a list or map: as CEL would have it in an expression. */
  private static String within(@Nullable Object value) {
    return switch (value) {
      case String text -> Quoted.visibly(text);
      case ByteString bytes -> "b" + Quoted.visibly(anything(bytes));
      case Duration duration -> "duration(\"" + ValueText.of(duration) + "\")";
      case Timestamp time -> "timestamp(\"" + ValueText.of(time) + "\")";
      case Double number when !Double.isFinite(number) -> Quoted.visibly(ValueText.of(number.doubleValue()));
      case Double number -> (Double.doubleToRawLongBits(number) < 0 ? "-" : "")
          + Decimals.fixed(Math.abs(number), PRECISION).replace(",", "");
      case null, default -> anything(value);
    };
  }

  private static String inBase(int base, char clause, @Nullable Object value) {
    return switch (value) {
      case Long number -> Long.toString(number, base);
      case UnsignedLong number -> number.toString(base);
      case null, default -> throw misfit(clause, value);
    };
  }

  private static String hexadecimal(char clause, @Nullable Object value) {
    return switch (value) {
      case String text -> HexFormat.of().formatHex(text.getBytes(StandardCharsets.UTF_8));
      case ByteString bytes -> HexFormat.of().formatHex(bytes.toByteArray());
      case null, default -> inBase(16, clause, value);
    };
  }

  private static double real(char clause, @Nullable Object value) {
    return switch (value) {
      case Double number -> number;
      case String text when NO_NUMBERS.contains(text) -> Double.parseDouble(text);
      case null, default -> throw misfit(clause, value);
    };
  }

  private static IllegalArgumentException misfit(char clause, @Nullable Object value) {
    return new IllegalArgumentException("format's clause %" + clause + " takes no " + ValueText.typeName(value));
  }
}
