package dev.partita.controller.selector.functions;

import com.google.common.primitives.UnsignedLong;
import com.google.protobuf.ByteString;
import com.google.protobuf.Duration;
import com.google.protobuf.NullValue;
import com.google.protobuf.Timestamp;
import dev.cel.common.types.SimpleType;
import dev.cel.common.types.TypeType;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Collection;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Single values of CEL as texts, as Kubernetes' CEL (cel-go) writes them. */
public final class ValueText {
  /** Exponents of ten between these are written out. */
  private static final int LEAST_EXPONENT = -4;

  private static final int MOST_EXPONENT = 5;

  private ValueText() {}

  /** The value as {@code string(value)} gives it, and null and types by their names; empty if it has no text. */
  static Optional<String> ofAny(@Nullable Object value) {
    return switch (value) {
      case null -> Optional.of("null");
      case NullValue _ -> Optional.of("null");
      case String text -> Optional.of(text);
      case Long number -> Optional.of(number.toString());
      case UnsignedLong number -> Optional.of(number.toString());
      case Boolean flag -> Optional.of(flag.toString());
      case Double number -> Optional.of(of(number.doubleValue()));
      case ByteString bytes -> Optional.of(utf8(bytes));
      case Duration duration -> Optional.of(of(duration));
      case Timestamp time -> Optional.of(of(time));
      case TypeType _ -> Optional.of(nameOf((TypeType) value));
      default -> Optional.empty();
    };
  }

  /** With as few digits as tell it from its neighbours; with an exponent below 0.0001 and from a million on. */
  public static String of(double number) {
    if (Double.isNaN(number)) {
      return "NaN";
    }
    if (Double.isInfinite(number)) {
      return number > 0 ? "+Inf" : "-Inf";
    }
    String sign = Double.doubleToRawLongBits(number) < 0 ? "-" : "";
    if (number == 0) {
      return sign + "0";
    }
    BigDecimal shortest = new BigDecimal(Double.toString(Math.abs(number))).stripTrailingZeros();
    int exponent = shortest.precision() - shortest.scale() - 1;
    if (exponent >= LEAST_EXPONENT && exponent <= MOST_EXPONENT) {
      return sign + shortest.toPlainString();
    }
    String digits = shortest.unscaledValue().toString();
    String fraction = digits.length() > 1 ? "." + digits.substring(1) : "";
    return String.format(Locale.ROOT, "%s%c%se%s%02d", sign, digits.charAt(0), fraction, exponent < 0 ? "-" : "+",
        Math.abs(exponent));
  }

  /** In seconds. */
  public static String of(Duration duration) {
    double seconds = duration.getSeconds() + duration.getNanos() / 1e9;
    return new BigDecimal(Double.toString(seconds)).stripTrailingZeros().toPlainString() + "s";
  }

  /** As RFC 3339 has it, in UTC, with as many digits of a second as there are. */
  public static String of(Timestamp time) {
    String second = Instant.ofEpochSecond(time.getSeconds()).toString();
    if (time.getNanos() == 0) {
      return second;
    }
    String fraction = String.format(Locale.ROOT, "%09d", time.getNanos()).replaceAll("0+$", "");
    return second.replace("Z", "." + fraction + "Z");
  }

  /** As CEL names the value's type. */
  static String typeName(@Nullable Object value) {
    return switch (value) {
      case null -> SimpleType.NULL_TYPE.name();
      case NullValue _ -> SimpleType.NULL_TYPE.name();
      case String _ -> SimpleType.STRING.name();
      case Long _ -> SimpleType.INT.name();
      case UnsignedLong _ -> SimpleType.UINT.name();
      case Boolean _ -> SimpleType.BOOL.name();
      case Double _ -> SimpleType.DOUBLE.name();
      case ByteString _ -> SimpleType.BYTES.name();
      case Duration _ -> SimpleType.DURATION.name();
      case Timestamp _ -> SimpleType.TIMESTAMP.name();
      case TypeType _ -> "type";
      case Collection<?> _ -> "list";
      case Map<?, ?> _ -> "map";
      default -> value.getClass().getSimpleName();
    };
  }

  private static String nameOf(TypeType type) {
    return type.containingTypeName().equals(SimpleType.DYN.name()) ? "type" : type.containingTypeName();
  }

  private static String utf8(ByteString bytes) {
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes.toByteArray())).toString();
    } catch (CharacterCodingException e) {
      throw new IllegalArgumentException("bytes that are no UTF-8", e);
    }
  }
}
