package dev.partita.controller.selector.cost;

import dev.cel.common.CelAbstractSyntaxTree;
import dev.cel.common.ast.CelExpr.CelCall;
import dev.cel.common.ast.CelExpr;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The calls of an expression that take longer the larger their operands are.
 *
 * <p>An evaluation only tells what each part gave, when it is there. What a call costs must be known before it is made,
 * for one call can take all time or all memory: {@code text.replace("a", text)} of a text that was made the same way.
 * So a call is found by its last operand, which is evaluated right before it.
 *
 * @param byLastOperand calls by the id of the operand that is evaluated last
 * @param operands ids of what the calls take
 */
public record CostlyCalls(Map<Long, Call> byLastOperand, Set<Long> operands) {
  /**
   * @param operands ids: first what the function is called on, if it is, then its arguments
   */
  record Call(String function, List<Long> operands) {}

  public static CostlyCalls of(CelAbstractSyntaxTree tree) {
    Map<Long, Call> calls = new HashMap<>();
    Set<Long> all = new HashSet<>();
    Deque<CelExpr> left = new ArrayDeque<>(List.of(tree.getExpr()));
    while (!left.isEmpty()) {
      CelExpr expression = left.pop();
      if (expression.getKind() == CelExpr.ExprKind.Kind.CALL && CallCost.isCostly(expression.call().function())) {
        add(expression.call(), calls, all);
      }
      SubExpressions.of(expression).forEach(left::push);
    }
    return new CostlyCalls(Map.copyOf(calls), Set.copyOf(all));
  }

  private static void add(CelCall call, Map<Long, Call> calls, Set<Long> all) {
    List<Long> operands = new ArrayList<>();
    call.target().ifPresent(target -> operands.add(target.id()));
    call.args().forEach(argument -> operands.add(argument.id()));
    if (!operands.isEmpty()) {
      calls.put(operands.getLast(), new Call(call.function(), List.copyOf(operands)));
      all.addAll(operands);
    }
  }
}
