package dev.partita.controller.selector;

import dev.cel.runtime.CelEvaluationException;
import dev.partita.controller.budget.DecisionBudget;
import dev.partita.controller.inventory.Device;
import dev.partita.controller.selector.cost.CostLimit;
import dev.partita.controller.selector.cost.DeepStack;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.WeakHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Evaluates CEL selectors on devices as kube-scheduler does: {@code device.driver},
 * {@code device.attributes[domain].name}, {@code device.capacity[domain].name} and
 * {@code device.allowMultipleAllocations}, with the string, list, set, math, bindings and optional libraries,
 * comprehensions of two variables and Kubernetes' own: quantity, semver, url, ip, cidr, format, find and the functions
 * of lists.
 *
 * <p>Expressions are compiled once in a process ({@link Compilation}) and verdicts kept as long as the expression is
 * remembered and the device lives. What is not known yet is found out only as long as the decision's budget lasts; what
 * was found out before it ended is known the next time. For one thread.
 */
public final class DeviceSelectors {
  /**
   * What is evaluated on the caller's own stack: 40 levels take 0.12 MiB of it at most, and regular expressions in so
   * short a text, which nest by themselves, no more. Nearly all expressions are like that. The others get a
   * {@link DeepStack}.
   */
  private static final int MOST_LEVELS_HERE = 40;

  private static final int MOST_CHARACTERS_HERE = 1_000;

  /**
   * Verdicts that are kept, about 60 bytes each: of 40,000 cards for 12 expressions that tell every single card apart.
   * Beyond that all are forgotten.
   */
  private static final int MOST_VERDICTS = 500_000;

  /** Of expressions that are still compiled: what was compiled anew is evaluated anew. */
  private final WeakHashMap<CompiledSelector, WeakHashMap<Device, Verdict>> verdicts = new WeakHashMap<>();
  private final WeakHashMap<Device, Map<String, Object>> seenByCel = new WeakHashMap<>();
  private final DecisionBudget budget;

  /** Whatever they cost. */
  public DeviceSelectors() {
    this(DecisionBudget.endless());
  }

  /** @param budget what may be spent on them */
  public DeviceSelectors(DecisionBudget budget) {
    this.budget = budget;
  }

  /** At least as many verdicts as there are. */
  private int kept;

  /** Why the expression cannot be used on any device; empty if it can. */
  public Optional<String> compileError(String expression) {
    return compiled(expression) instanceof CompiledSelector.Broken(String error)
        ? Optional.of(error)
        : Optional.empty();
  }

  /**
   * Whether what the expression says of a device may depend on any of these attributes, given by name without domain.
   */
  public boolean mayRead(String expression, Set<String> attributes) {
    return compiled(expression) instanceof CompiledSelector.Program(var _, AttributesRead reads, var _, var _)
        && reads.mayBeOneOf(attributes);
  }

  /**
   * The UUIDs of the only devices for which the expression can hold, where that is all that it says; empty if it is
   * not.
   */
  public Optional<Set<String>> onlyUuids(String expression) {
    return compiled(expression) instanceof CompiledSelector.Program ? NamedUuids.in(expression) : Optional.empty();
  }

  /** What the expression says of the device. */
  public Verdict evaluate(String expression, Device device) {
    CompiledSelector selector = compiled(expression);
    WeakHashMap<Device, Verdict> known = verdicts.computeIfAbsent(selector, s -> new WeakHashMap<>());
    @Nullable Verdict verdict = known.get(device);
    if (verdict == null) {
      budget.longStep();
      verdict = evaluate(selector, expression, device);
      if (++kept > MOST_VERDICTS) {
        verdicts.clear();
        kept = 1;
        known = verdicts.computeIfAbsent(selector, s -> new WeakHashMap<>());
      }
      known.put(device, verdict);
    }
    return verdict;
  }

  /** Compiling takes a thousand times as long as a decision. */
  private CompiledSelector compiled(String expression) {
    budget.step();
    return Compilation.of(expression);
  }

  private Verdict evaluate(CompiledSelector selector, String expression, Device device) {
    return switch (selector) {
      case CompiledSelector.Broken(String error) -> new Verdict.Failed(error);
      case CompiledSelector.Program compiled -> {
        Map<String, Object> seen = seenByCel.computeIfAbsent(device, DeviceView::of);
        boolean shallow = compiled.size().depth() <= MOST_LEVELS_HERE && expression.length() <= MOST_CHARACTERS_HERE;
        try {
          yield shallow ? evaluateHere(compiled, seen) : DeepStack.call(() -> evaluateHere(compiled, seen));
        } catch (StackOverflowError e) {
          yield new Verdict.Failed(Compilation.TOO_DEEP);
        }
      }
    };
  }

  private Verdict evaluateHere(CompiledSelector.Program compiled, Map<String, Object> device) {
    CostLimit cost = new CostLimit(compiled.calls());
    try {
      Object result = compiled.program().trace(Map.of("device", device), cost);
      return result instanceof Boolean held
          ? held ? Verdict.TRUE : Verdict.FALSE
          : new Verdict.Failed("gives " + result.getClass().getSimpleName() + ", not a boolean");
    } catch (CelEvaluationException | RuntimeException e) {
      return new Verdict.Failed(Compilation.oneLine(reason(e)));
    } finally {
      budget.evaluated(cost.spent());
    }
  }

  /** Of a function that failed, what the function said: dev.cel only names it, as it is called inside. */
  private static @Nullable String reason(Exception e) {
    return e.getCause() != null && e.getCause().getMessage() != null ? e.getCause().getMessage() : e.getMessage();
  }
}
