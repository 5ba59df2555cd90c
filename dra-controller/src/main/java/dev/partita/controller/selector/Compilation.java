package dev.partita.controller.selector;

import com.google.common.cache.Cache;
import com.google.common.cache.CacheBuilder;
import dev.cel.common.CelAbstractSyntaxTree;
import dev.cel.common.CelValidationException;
import dev.cel.common.types.SimpleType;
import dev.cel.runtime.CelEvaluationException;
import dev.partita.api.Excerpt;
import dev.partita.controller.selector.cost.CostlyCalls;
import dev.partita.controller.selector.cost.DeepStack;
import dev.partita.controller.selector.cost.ExpressionSize;
import org.jspecify.annotations.Nullable;

/**
 * Compiles expressions, each once in a process: that takes a thousand times as long as a decision, and the result does
 * not change and may be used by any thread. Safe for threads.
 *
 * <p>Expressions are written by tenants. One that is nested too deeply or becomes too large is refused with that
 * reason, and harms nobody else: it is parsed and checked on a {@link DeepStack}, its types are found out only if
 * {@link ExpressionSize} allows it, and what is remembered is bounded by the memory that it takes, not by a number.
 */
final class Compilation {
  /**
   * Parts of expressions and of their types that are remembered, at most 100 bytes each; the least recently used
   * expressions go first.
   */
  private static final long MOST_REMEMBERED = 2 * ExpressionSize.MOST;

  /** Parts that an expression takes besides its own, so that no more than 20,000 are remembered. */
  private static final int LEAST = 50;

  private static final Cache<String, CompiledSelector> KNOWN =
      CacheBuilder.newBuilder().concurrencyLevel(1).maximumWeight(MOST_REMEMBERED).weigher(Compilation::weight).build();

  static final String TOO_DEEP = "is nested too deeply: CEL allows 250 levels";

  private Compilation() {}

  static CompiledSelector of(String expression) {
    @Nullable CompiledSelector known = KNOWN.getIfPresent(expression);
    if (known != null) {
      return known;
    }
    CompiledSelector compiled = compile(expression);
    KNOWN.put(expression, compiled);
    return compiled;
  }

  private static int weight(String expression, CompiledSelector compiled) {
    long parts = compiled instanceof CompiledSelector.Program program ? program.size().weight() : 0;
    return Math.toIntExact(LEAST + expression.length() / LEAST + parts);
  }

  private static CompiledSelector compile(String expression) {
    try {
      return DeepStack.call(() -> compiledHere(expression));
    } catch (StackOverflowError e) {
      return new CompiledSelector.Broken(TOO_DEEP);
    }
  }

  private static CompiledSelector compiledHere(String expression) {
    try {
      CelAbstractSyntaxTree parsed = KubernetesCel.parsed(expression);
      ExpressionSize size = ExpressionSize.of(parsed.getExpr());
      if (size.isTooLarge()) {
        return new CompiledSelector.Broken(
            "is too large: its values are of types with more than " + ExpressionSize.MOST + " parts");
      }
      CelAbstractSyntaxTree tree = KubernetesCel.checked(parsed);
      boolean canBeBoolean =
          tree.getResultType().equals(SimpleType.BOOL) || tree.getResultType().equals(SimpleType.DYN);
      return canBeBoolean
          ? new CompiledSelector.Program(KubernetesCel.program(tree), AttributesRead.by(expression), size,
              CostlyCalls.of(tree))
          : new CompiledSelector.Broken("gives " + tree.getResultType().name() + ", not a boolean");
    } catch (CelValidationException e) {
      return new CompiledSelector.Broken(
          said(e.getErrors().isEmpty() ? e.getMessage() : e.getErrors().getFirst().getMessage()));
    } catch (CelEvaluationException | RuntimeException e) {
      return new CompiledSelector.Broken(said(e.getMessage()));
    }
  }

  /** What dev.cel says, but for what it says of the depth: that names a setting of its own. */
  private static String said(@Nullable String message) {
    return message != null && message.contains("recursion limit exceeded") ? TOO_DEEP : oneLine(message);
  }

  /** A message as one line of no more than 200 characters. */
  static String oneLine(@Nullable String message) {
    return Excerpt.of(message == null ? "evaluation failed" : message.strip().replaceAll("\\s+", " "), 200);
  }
}
