package dev.partita.controller.selector.cost;

import dev.cel.common.ast.CelExpr;
import dev.cel.runtime.CelEvaluationListener;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Ends an evaluation that costs too much. Kubernetes refuses selectors whose worst case it estimates above the same
 * limit (resource.k8s.io/v1, CELSelectorExpressionMaxCost), and counts when it evaluates: this counts as it does,
 * roughly, a unit for every part of the expression that is evaluated, one for ten characters or elements of what it
 * makes, and for {@link CostlyCalls calls} what they look at, before they are made. No value may be larger than
 * {@link #LARGEST}, so that neither time nor memory of a single call is unbounded.
 */
public final class CostLimit implements CelEvaluationListener {
  static final long MAX = 1_000_000;

  /**
   * Characters and elements that a value may have, all that is in it together. A device's attributes have 64
   * characters, and what somebody writes has 10,240.
   */
  public static final long LARGEST = 100_000;

  private final CostlyCalls calls;
  private final Map<Long, Object> operands = new HashMap<>();
  private long spent;

  /** The limit was reached. */
  public static final class Exceeded extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Exceeded() {
      super("costs more than " + MAX + " units to evaluate");
    }

    private Exceeded(String message) {
      super(message);
    }

    public static Exceeded tooLarge() {
      return new Exceeded("makes a value of more than " + LARGEST + " characters or elements");
    }

    static Exceeded regex() {
      return new Exceeded(
          "has a regular expression of more than " + RegexSize.MOST + " characters with its repetitions");
    }

    static Exceeded regexLevels() {
      return new Exceeded("has a regular expression of more than " + RegexSize.MOST_LEVELS + " levels");
    }
  }

  public CostLimit(CostlyCalls calls) {
    this.calls = calls;
  }

  /** Units so far. */
  public long spent() {
    return spent;
  }

  @Override
  public void callback(CelExpr expression, @Nullable Object value) {
    spend(1 + made(expression, value));
    if (calls.operands().contains(expression.id())) {
      if (value == null) {
        operands.remove(expression.id());
      } else {
        operands.put(expression.id(), value);
      }
      CostlyCalls.@Nullable Call next = calls.byLastOperand().get(expression.id());
      if (next != null) {
        List<Optional<Object>> given =
            next.operands().stream().map(id -> Optional.ofNullable(operands.get(id))).toList();
        spend(CallCost.of(next.function(), given));
      }
    }
  }

  /** Parts of a value and the values of variables were counted when they were made. */
  private static long made(CelExpr expression, @Nullable Object value) {
    return switch (expression.exprKind().getKind()) {
      case LIST, MAP, STRUCT, CONSTANT -> CallCost.ofResult(value);
      case CALL -> isPart(expression.call().function())
          ? 0
          : isJoined(expression.call().function()) ? CallCost.ofJoined(value) : CallCost.ofResult(value);
      case IDENT, SELECT, COMPREHENSION, NOT_SET -> 0;
    };
  }

  private static boolean isPart(String function) {
    return switch (function) {
      case "_[_]", "_[?_]", "_?._", "_?_:_", "value", "orValue", "or", "optional.of", "first", "last", "dyn" -> true;
      default -> false;
    };
  }

  private static boolean isJoined(String function) {
    return function.equals("_+_");
  }

  private void spend(long units) {
    spent += units;
    if (spent > MAX) {
      throw new Exceeded();
    }
  }
}
