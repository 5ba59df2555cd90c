package dev.partita.controller.selector.cost;

import dev.cel.common.ast.CelExpr.CelCall;
import dev.cel.common.ast.CelExpr.CelComprehension;
import dev.cel.common.ast.CelExpr.CelMap;
import dev.cel.common.ast.CelExpr;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * How large a parsed expression becomes when its types are found out.
 *
 * <p>The checker writes down the type of every part, and a type can be much larger than the text that makes it: in
 * {@code cel.bind(a, {1: 1}, cel.bind(b, {a: a}, cel.bind(c, {b: b}, …)))} each one is twice as large as the one
 * before, so that thirty of these, 600 characters, would take all memory. So this adds up, before anything is checked,
 * how large the types can become at most.
 *
 * @param weight parts of the expression and parts of their types, at most {@link #MOST} + 1
 * @param depth levels of nesting
 */
public record ExpressionSize(long weight, int depth) {
  /**
   * Twice what the largest expression has whose types do not grow by themselves: 249 comprehensions within each other.
   */
  public static final long MOST = 500_000;

  /** Functions and operators whose result is no larger than a number or a text, whatever they are given. */
  private static final Set<String> PLAIN =
      Set.of(
          "_==_", "_!=_", "_<_", "_<=_", "_>_", "_>=_", "@in", "_&&_", "_||_", "!_", "@not_strictly_false", "-_", "_-_",
          "_*_", "_/_", "_%_",
          "size", "int", "uint", "double", "string", "bytes", "bool", "duration", "timestamp", "matches", "contains",
          "startsWith", "endsWith",
          "lowerAscii", "upperAscii", "trim", "replace", "substring", "charAt", "indexOf", "lastIndexOf", "join",
          "format", "hasValue",
          "isSorted", "compareTo", "isGreaterThan", "isLessThan");

  /** Operators whose result has the type of one of what they are given. */
  private static final Set<String> SAME =
      Set.of("_+_", "_?_:_", "_[_]", "_[?_]", "_?._", "orValue", "or", "value", "first", "last");

  public static ExpressionSize of(CelExpr expression) {
    Walk walk = new Walk();
    walk.type(expression, 1);
    return new ExpressionSize(walk.weight, walk.depth);
  }

  public boolean isTooLarge() {
    return weight > MOST;
  }

  /** Calls itself for every level: for a {@link DeepStack}. */
  private static final class Walk {
    private final Map<String, Long> variables = new HashMap<>();
    private long weight;
    private int depth;

    /** Most parts that the type of the expression can have. */
    long type(CelExpr expression, int level) {
      depth = Math.max(depth, level);
      if (weight > MOST) {
        return 1; // it is too large already
      }
      int below = level + 1;
      long size =
          switch (expression.exprKind().getKind()) {
            case CONSTANT, NOT_SET -> 1;
            case IDENT -> variables.getOrDefault(expression.ident().name(), 1L);
            case SELECT -> type(expression.select().operand(), below);
            case CALL -> call(expression.call(), below);
            case LIST -> 1 + largest(expression.list().elements(), below);
            case MAP -> map(expression.map(), below);
            case STRUCT -> {
              expression.struct().entries().forEach(entry -> type(entry.value(), below));
              yield 1;
            }
            case COMPREHENSION -> comprehension(expression.comprehension(), below);
          };
      weight = Math.min(MOST + 1, weight + 1 + size);
      return Math.min(size, MOST);
    }

    private long call(CelCall call, int level) {
      long sum = 1;
      long largest = 1;
      if (call.target().isPresent()) {
        largest = type(call.target().get(), level);
        sum += largest;
      }
      for (CelExpr argument : call.args()) {
        long size = type(argument, level);
        sum += size;
        largest = Math.max(largest, size);
      }
      if (PLAIN.contains(call.function())) {
        return 1;
      }
      return SAME.contains(call.function()) ? 1 + largest : sum;
    }

    private long largest(List<CelExpr> expressions, int level) {
      long largest = 1;
      for (CelExpr expression : expressions) {
        largest = Math.max(largest, type(expression, level));
      }
      return largest;
    }

    private long map(CelMap map, int level) {
      long key = 1;
      long value = 1;
      for (CelMap.Entry entry : map.entries()) {
        key = Math.max(key, type(entry.key(), level));
        value = Math.max(value, type(entry.value(), level));
      }
      return 1 + key + value;
    }

    /** What is gathered has the type of the first value or of a step, whichever says more. */
    private long comprehension(CelComprehension loop, int level) {
      long range = type(loop.iterRange(), level);
      long gathered = type(loop.accuInit(), level);
      @Nullable Long first = variables.put(loop.iterVar(), range);
      @Nullable Long second = loop.iterVar2().isEmpty() ? null : variables.put(loop.iterVar2(), range);
      @Nullable Long before = variables.put(loop.accuVar(), gathered);
      type(loop.loopCondition(), level);
      gathered = Math.max(gathered, type(loop.loopStep(), level));
      restore(loop.iterVar2(), second);
      restore(loop.iterVar(), first);
      variables.put(loop.accuVar(), gathered);
      long result = type(loop.result(), level);
      restore(loop.accuVar(), before);
      return result;
    }

    private void restore(String variable, @Nullable Long size) {
      if (size == null) {
        variables.remove(variable);
      } else {
        variables.put(variable, size);
      }
    }
  }
}
