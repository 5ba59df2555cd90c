package dev.partita.controller.selector;

import dev.cel.common.CelAbstractSyntaxTree;
import dev.cel.common.CelValidationException;
import dev.cel.common.types.SimpleType;
import dev.cel.runtime.CelEvaluationException;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Compiles expressions, each once in a process: it takes a thousand times as long as a decision, and what comes of it does not change and may be used by any thread.
 * Safe for threads.
 */
final class Compilation {
  /** Expressions remembered; the least recently used go first. */
  private static final int MOST = 2_000;

  private static final Map<String, CompiledSelector> KNOWN =
      new LinkedHashMap<>(64, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, CompiledSelector> eldest) {
          return size() > MOST;
        }
      };

  private Compilation() {}

  static CompiledSelector of(String expression) {
    synchronized (KNOWN) {
      @Nullable CompiledSelector known = KNOWN.get(expression);
      if (known != null) {
        return known;
      }
    }
    CompiledSelector compiled = compile(expression);
    synchronized (KNOWN) {
      KNOWN.put(expression, compiled);
    }
    return compiled;
  }

  private static CompiledSelector compile(String expression) {
    try {
      CelAbstractSyntaxTree tree = KubernetesCel.checked(expression);
      boolean canBeBoolean = tree.getResultType().equals(SimpleType.BOOL) || tree.getResultType().equals(SimpleType.DYN);
      return canBeBoolean
          ? new CompiledSelector.Program(KubernetesCel.program(tree), AttributesRead.by(expression))
          : new CompiledSelector.Broken("gives " + tree.getResultType().name() + ", not a boolean");
    } catch (CelValidationException e) {
      return new CompiledSelector.Broken(oneLine(e.getErrors().isEmpty() ? e.getMessage() : e.getErrors().getFirst().getMessage()));
    } catch (CelEvaluationException | RuntimeException e) {
      return new CompiledSelector.Broken(oneLine(e.getMessage()));
    }
  }

  /** A message as one line of no more than 200 characters. */
  static String oneLine(@Nullable String message) {
    String line = message == null ? "evaluation failed" : message.strip().replaceAll("\\s+", " ");
    return line.length() > 200 ? line.substring(0, 200) + "…" : line;
  }
}
