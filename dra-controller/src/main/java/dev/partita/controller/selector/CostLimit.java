package dev.partita.controller.selector;

import dev.cel.common.ast.CelExpr;
import dev.cel.runtime.CelEvaluationListener;
import java.util.Collection;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Ends an evaluation that costs too much. Kubernetes refuses selectors whose worst case it estimates above the same limit (resource.k8s.io/v1,
 * CELSelectorExpressionMaxCost), and counts when it evaluates: this counts as it does, roughly, a unit for every part of the expression that is
 * evaluated and one for ten characters or elements of what it gives.
 */
final class CostLimit implements CelEvaluationListener {
  static final long MAX = 1_000_000;
  private static final int PER_UNIT = 10;

  private long spent;

  /** The limit was reached. */
  static final class Exceeded extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Exceeded() {
      super("costs more than " + MAX + " units to evaluate");
    }
  }

  @Override
  public void callback(CelExpr expression, @Nullable Object value) {
    int size =
        switch (value) {
          case String text -> text.length();
          case Collection<?> list -> list.size();
          case Map<?, ?> map -> map.size();
          case null, default -> 0;
        };
    spent += 1 + size / PER_UNIT;
    if (spent > MAX) {
      throw new Exceeded();
    }
  }
}
