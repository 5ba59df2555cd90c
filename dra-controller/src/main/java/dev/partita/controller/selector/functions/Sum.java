package dev.partita.controller.selector.functions;

import com.google.common.primitives.UnsignedLong;
import com.google.protobuf.Duration;
import dev.cel.common.types.CelType;
import dev.cel.common.types.SimpleType;
import java.math.BigInteger;
import java.util.Collection;

/** What can be added up in CEL. A sum that its type cannot hold is an error. */
enum Sum {
  INT(SimpleType.INT, Long.class),
  UINT(SimpleType.UINT, UnsignedLong.class),
  DOUBLE(SimpleType.DOUBLE, Double.class),
  DURATION(SimpleType.DURATION, Duration.class);

  private static final int NANOS = 1_000_000_000;

  private final CelType type;
  private final Class<?> java;

  Sum(CelType type, Class<?> java) {
    this.type = type;
    this.java = java;
  }

  CelType type() {
    return type;
  }

  Object of(Collection<?> list) {
    Object sum = zero();
    for (Object value : list) {
      if (!java.isInstance(value)) {
        throw new IllegalArgumentException("cannot add a " + ValueText.typeName(value) + " to a " + type.name());
      }
      sum = plus(sum, value);
    }
    return sum;
  }

  /** The sum of a list of whatever its first element is; of nothing: the integer 0. */
  static Object ofAny(Collection<?> list) {
    if (list.isEmpty()) {
      return INT.zero();
    }
    Object first = list.iterator().next();
    for (Sum sum : values()) {
      if (sum.java.isInstance(first)) {
        return sum.of(list);
      }
    }
    throw new IllegalArgumentException("values of type " + ValueText.typeName(first) + " cannot be added up");
  }

  private Object zero() {
    return switch (this) {
      case INT -> 0L;
      case UINT -> UnsignedLong.ZERO;
      case DOUBLE -> 0.0;
      case DURATION -> Duration.getDefaultInstance();
    };
  }

  private static Object plus(Object a, Object b) {
    return switch (a) {
      case Long x -> Math.addExact(x, (Long) b);
      case Double x -> x + (Double) b;
      case UnsignedLong x -> {
        BigInteger sum = x.bigIntegerValue().add(((UnsignedLong) b).bigIntegerValue());
        if (sum.bitLength() > Long.SIZE) {
          throw new ArithmeticException("unsigned integer overflow");
        }
        yield UnsignedLong.valueOf(sum);
      }
      case Duration x -> duration(Math.addExact(nanos(x), nanos((Duration) b)));
      default -> throw new IllegalStateException("no summand: " + a);
    };
  }

  /** Nanoseconds, as many as 64 bits hold, which are the durations that Kubernetes' CEL knows. */
  private static long nanos(Duration duration) {
    return Math.addExact(Math.multiplyExact(duration.getSeconds(), NANOS), duration.getNanos());
  }

  private static Duration duration(long nanos) {
    return Duration.newBuilder().setSeconds(nanos / NANOS).setNanos((int) (nanos % NANOS)).build();
  }
}
