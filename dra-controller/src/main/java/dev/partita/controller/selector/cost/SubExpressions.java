package dev.partita.controller.selector.cost;

import dev.cel.common.ast.Expression;
import java.util.ArrayList;
import java.util.List;

/**
 * The expressions that an expression is made of. dev.cel's own way through a tree ends at 500 levels, which 250 levels
 * of macros exceed.
 */
public final class SubExpressions {
  private SubExpressions() {}

  /** In the order in which they are written. */
  public static <E extends Expression> List<E> of(E expression) {
    List<E> parts = new ArrayList<>();
    switch (expression.getKind()) {
      case CONSTANT, NOT_SET, IDENT -> {}
      case SELECT -> parts.add(expression.<E>select().operand());
      case CALL -> {
        Expression.Call<E> call = expression.call();
        call.target().ifPresent(parts::add);
        parts.addAll(call.args());
      }
      case LIST -> parts.addAll(expression.<E>list().elements());
      case STRUCT -> expression.<E>struct().entries().forEach(entry -> parts.add(entry.value()));
      case MAP -> {
        for (Expression.Map.Entry<E> entry : expression.<E>map().entries()) {
          parts.add(entry.key());
          parts.add(entry.value());
        }
      }
      case COMPREHENSION -> {
        Expression.Comprehension<E> loop = expression.comprehension();
        parts.addAll(List.of(loop.iterRange(), loop.accuInit(), loop.loopCondition(), loop.loopStep(), loop.result()));
      }
    }
    return parts;
  }
}
