package dev.partita.controller.selector.functions;

import com.google.common.primitives.UnsignedLong;
import com.google.protobuf.ByteString;
import com.google.protobuf.Duration;
import com.google.protobuf.Timestamp;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Comparator;

/**
 * The order of CEL's values: numbers whatever their type, texts and bytes by their bytes, times, durations, false
 * before true.
 */
final class Order {
  private static final Comparator<Timestamp> BY_TIME =
      Comparator.comparingLong(Timestamp::getSeconds).thenComparingInt(Timestamp::getNanos);

  private Order() {}

  /**
   * @throws IllegalArgumentException the value is of a type without an order
   */
  static void check(Object value) {
    boolean ordered =
        switch (value) {
          case Number _,Boolean _,String _,ByteString _,Timestamp _,Duration _ -> true;
          default -> false;
        };
    if (!ordered) {
      throw new IllegalArgumentException("values of type " + ValueText.typeName(value) + " have no order");
    }
  }

  /** -1, 0 or 1; 0 as well for what cannot be compared: NaN, and values of different types. */
  static int compare(Object a, Object b) {
    return Integer.signum(
        switch (a) {
          case Long x when b instanceof Long y -> x.compareTo(y);
          case Double x when b instanceof Double y ->
              x.isNaN() || y.isNaN() || x.doubleValue() == y.doubleValue() ? 0 : x.compareTo(y);
          case Number x when b instanceof Number y -> numbers(x, y);
          case String x when b instanceof String y ->
              Arrays.compareUnsigned(x.getBytes(StandardCharsets.UTF_8), y.getBytes(StandardCharsets.UTF_8));
          case ByteString x when b instanceof ByteString y ->
              ByteString.unsignedLexicographicalComparator().compare(x, y);
          case Boolean x when b instanceof Boolean y -> x.compareTo(y);
          case Timestamp x when b instanceof Timestamp y -> BY_TIME.compare(x, y);
          case Duration x when b instanceof Duration y -> length(x).compareTo(length(y));
          default -> 0;
        });
  }

  private static java.time.Duration length(Duration duration) {
    return java.time.Duration.ofSeconds(duration.getSeconds(), duration.getNanos());
  }

  private static int numbers(Number a, Number b) {
    if (isFinite(a) && isFinite(b)) {
      return exact(a).compareTo(exact(b));
    }
    return Double.isNaN(a.doubleValue()) || Double.isNaN(b.doubleValue())
        ? 0
        : Double.compare(a.doubleValue(), b.doubleValue());
  }

  private static boolean isFinite(Number number) {
    return !(number instanceof Double d) || Double.isFinite(d);
  }

  private static BigDecimal exact(Number number) {
    return switch (number) {
      case Double d -> new BigDecimal(d);
      case UnsignedLong u -> new BigDecimal(u.bigIntegerValue());
      default -> BigDecimal.valueOf(number.longValue());
    };
  }
}
