package dev.partita.controller.selector.cost;

import com.google.protobuf.ByteString;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a call costs beyond the one unit of every part of an expression, known before it is made: a unit for ten
 * characters or elements that it looks at, and where it compares each of one with each of another, the product.
 */
final class CallCost {
  private static final int PER_UNIT = 10;

  /** Of a search for a text in a text: ten characters of each are a unit. */
  private static final int PER_UNIT_OF_SEARCH = 100;

  /** Of a regular expression: Kubernetes has a unit for ten characters of the text times four of the expression. */
  private static final int PER_UNIT_OF_REGEX = 40;

  private static final Set<String> LOOK_AT_ALL =
      Set.of("_==_", "_!=_", "_<_", "_<=_", "_>_", "_>=_", "@in", "sort", "flatten", "format");
  private static final Set<String> SETS = Set.of("sets.contains", "sets.equivalent", "sets.intersects");
  private static final Set<String> SEARCHES =
      Set.of("contains", "indexOf", "lastIndexOf", "startsWith", "endsWith", "split", "replace");
  /** Functions that look at all that is in a list. */
  private static final Set<String> OF_LISTS =
      Set.of("isSorted", "sum", "min", "max", "indexOf", "lastIndexOf", "includes", "math.@max", "math.@min");

  /** Functions that read a text, and give something small or a part of it. */
  private static final Set<String> READ_TEXT =
      Set.of("size", "charAt", "substring", "trim", "bool", "int", "uint", "double", "duration", "timestamp",
          "quantity",
          "isQuantity", "semver", "isSemver", "url", "isURL", "ip", "isIP", "ip.isCanonical", "cidr", "isCIDR",
          "validate");

  private static final Set<String> REGEX = Set.of("matches", "find", "findAll");

  private CallCost() {}

  static boolean isCostly(String function) {
    return LOOK_AT_ALL.contains(function)
        || SETS.contains(function)
        || SEARCHES.contains(function)
        || REGEX.contains(function)
        || OF_LISTS.contains(function)
        || READ_TEXT.contains(function)
        || function.equals("distinct")
        || function.equals("join");
  }

  /**
   * @param operands what the call is given; empty for what could not be evaluated
   * @throws CostLimit.Exceeded an operand has too many parts for anybody to look at them
   */
  static long of(String function, List<Optional<Object>> operands) {
    @Nullable Object first = operands.getFirst().orElse(null);
    @Nullable Object second = operands.size() < 2 ? null : operands.get(1).orElse(null);
    if (OF_LISTS.contains(function) && first instanceof Collection<?> list) {
      return elements(list);
    }
    if (REGEX.contains(function)) {
      long size = second instanceof String regex ? RegexSize.of(regex) : 0;
      return size / PER_UNIT + (parts(first) + 1) * size / PER_UNIT_OF_REGEX;
    }
    if (READ_TEXT.contains(function)) {
      return (text(first) + text(second)) / PER_UNIT; // to ask for the size of a list takes no look at it
    }
    if (function.equals("replace")) {
      @Nullable Object third = operands.size() < 3 ? null : operands.get(2).orElse(null);
      long most = parts(first) + (parts(first) / Math.max(1, parts(second)) + 1) * parts(third);
      return most / PER_UNIT + parts(first) * parts(second) / PER_UNIT_OF_SEARCH;
    }
    if (SEARCHES.contains(function)) {
      return parts(first) / PER_UNIT + parts(first) * parts(second) / PER_UNIT_OF_SEARCH;
    }
    if (SETS.contains(function)) {
      return parts(first) * parts(second) / PER_UNIT;
    }
    if (function.equals("distinct")) {
      return parts(first) * parts(first) / PER_UNIT;
    }
    if (function.equals("join")) {
      return (parts(first) + size(first) * parts(second)) / PER_UNIT;
    }
    long all = 0;
    for (Optional<Object> operand : operands) {
      all += parts(operand.orElse(null));
    }
    return all / PER_UNIT;
  }

  /** Units for a value that was made. */
  static long ofResult(@Nullable Object value) {
    return parts(value) / PER_UNIT;
  }

  /** Units for a list or text that was made of two: what is in them has been counted. */
  static long ofJoined(@Nullable Object value) {
    long size = size(value);
    if (size > CostLimit.LARGEST) {
      throw CostLimit.Exceeded.tooLarge();
    }
    return size / PER_UNIT;
  }

  /** A unit for an element, and one for ten characters of a text. */
  private static long elements(Collection<?> list) {
    long cost = 0;
    for (Object element : list) {
      cost +=
          switch (element) {
            case String text -> text.length() / PER_UNIT;
            case Collection<?> inner -> elements(inner);
            default -> 1;
          };
      if (cost > CostLimit.MAX) {
        throw new CostLimit.Exceeded();
      }
    }
    return cost;
  }

  /**
   * Characters and elements of a value and of all that is in it. A list that has another one twice has its elements
   * twice: whoever compares it looks at them twice.
   */
  private static long parts(@Nullable Object value) {
    return parts(value, CostLimit.LARGEST);
  }

  private static long parts(@Nullable Object value, long most) {
    long parts =
        switch (value) {
          case Collection<?> list -> {
            long sum = list.size();
            for (Object element : list) {
              sum += within(most, sum, element);
            }
            yield sum;
          }
          case Map<?, ?> map -> {
            long sum = map.size();
            for (Map.Entry<?, ?> entry : map.entrySet()) {
              sum += within(most, sum, entry.getKey());
              sum += within(most, sum, entry.getValue());
            }
            yield sum;
          }
          case Optional<?> some -> parts(some.orElse(null), most);
          case null, default -> size(value);
        };
    if (parts > most) {
      throw CostLimit.Exceeded.tooLarge();
    }
    return parts;
  }

  private static long within(long most, long sum, @Nullable Object element) {
    if (sum > most) {
      throw CostLimit.Exceeded.tooLarge();
    }
    return parts(element, most - sum);
  }

  private static long text(@Nullable Object value) {
    return value instanceof Collection<?> || value instanceof Map<?, ?> ? 0 : size(value);
  }

  private static long size(@Nullable Object value) {
    return switch (value) {
      case String text -> text.length();
      case ByteString bytes -> bytes.size();
      case dev.cel.common.values.CelByteString bytes -> bytes.size();
      case Collection<?> list -> list.size();
      case Map<?, ?> map -> map.size();
      case null, default -> 0;
    };
  }
}
