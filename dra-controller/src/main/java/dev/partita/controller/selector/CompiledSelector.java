package dev.partita.controller.selector;

import dev.partita.controller.selector.cost.CostlyCalls;
import dev.partita.controller.selector.cost.ExpressionSize;

/** A CEL expression that can be evaluated on devices, or the reason why it never can. */
sealed interface CompiledSelector {
  /**
   * @param reads the attributes that it can see of a device
   * @param size how large it is, which is what it takes of memory and of stack
   * @param calls what it calls that can take long
   */
  record Program(
      dev.cel.runtime.CelRuntime.Program program,
      AttributesRead reads,
      ExpressionSize size,
      CostlyCalls calls) implements CompiledSelector {}

  record Broken(String error) implements CompiledSelector {}
}
