package dev.partita.controller.selector;

import dev.cel.common.ast.CelExpr;
import dev.cel.runtime.CelEvaluationListener;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Ends an evaluation that costs too much. Kubernetes refuses selectors whose worst case it estimates above the same limit (resource.k8s.io/v1,
 * CELSelectorExpressionMaxCost), and counts when it evaluates: this counts as it does, roughly, a unit for every part of the expression that is
 * evaluated, one for ten characters or elements of what it gives, and for {@link ListFunctions#LINEAR functions of lists} what it takes to look at the
 * whole list.
 */
final class CostLimit implements CelEvaluationListener {
  static final long MAX = 1_000_000;
  private static final int PER_UNIT = 10;

  /** What the parts of the expression gave when they were evaluated last, where that was a list. */
  private final Map<Long, Collection<?>> lists = new HashMap<>();

  private long spent;

  /** The limit was reached. */
  static final class Exceeded extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Exceeded() {
      super("costs more than " + MAX + " units to evaluate");
    }
  }

  /** Units so far. */
  long spent() {
    return spent;
  }

  @Override
  public void callback(CelExpr expression, @Nullable Object value) {
    if (value instanceof Collection<?> list) {
      lists.put(expression.id(), list);
    }
    spent += 1 + size(value) / PER_UNIT + traversal(expression);
    if (spent > MAX) {
      throw new Exceeded();
    }
  }

  private long traversal(CelExpr expression) {
    Optional<CelExpr> target =
        expression.exprKind().getKind() == CelExpr.ExprKind.Kind.CALL && ListFunctions.LINEAR.contains(expression.call().function())
            ? expression.call().target()
            : Optional.empty();
    return target.map(list -> lists.get(list.id())).map(CostLimit::traversal).orElse(0L);
  }

  /** A unit for an element, and one for ten characters of a text. */
  private static long traversal(Collection<?> list) {
    long cost = 0;
    for (Object element : list) {
      cost +=
          switch (element) {
            case String text -> text.length() / PER_UNIT;
            case Collection<?> inner -> traversal(inner);
            default -> 1;
          };
    }
    return cost;
  }

  private static int size(@Nullable Object value) {
    return switch (value) {
      case String text -> text.length();
      case Collection<?> list -> list.size();
      case Map<?, ?> map -> map.size();
      case null, default -> 0;
    };
  }
}
