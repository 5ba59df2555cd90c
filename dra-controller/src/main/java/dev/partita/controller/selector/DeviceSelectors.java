package dev.partita.controller.selector;

import dev.cel.common.CelAbstractSyntaxTree;
import dev.cel.common.CelOptions;
import dev.cel.common.CelValidationException;
import dev.cel.common.types.MapType;
import dev.cel.common.types.SimpleType;
import dev.cel.compiler.CelCompiler;
import dev.cel.compiler.CelCompilerBuilder;
import dev.cel.compiler.CelCompilerFactory;
import dev.cel.extensions.CelExtensions;
import dev.cel.parser.CelStandardMacro;
import dev.cel.runtime.CelEvaluationException;
import dev.cel.runtime.CelFunctionBinding;
import dev.cel.runtime.CelRuntime;
import dev.cel.runtime.CelRuntimeBuilder;
import dev.cel.runtime.CelRuntimeFactory;
import dev.cel.runtime.CelStandardFunctions;
import dev.cel.runtime.CelStandardFunctions.StandardFunction.Overload;
import dev.cel.runtime.RuntimeEquality;
import dev.cel.runtime.RuntimeHelpers;
import dev.partita.controller.inventory.Device;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.WeakHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Evaluates CEL selectors on devices as kube-scheduler does: {@code device.driver}, {@code device.attributes[domain].name},
 * {@code device.capacity[domain].name} and {@code device.allowMultipleAllocations}, with the string, list, set, math,
 * bindings and optional libraries and Kubernetes' own: quantity, semver, url, ip, cidr, format, find. (Its lists library, a text's {@code
 * format} and two-variable comprehensions are not there; an expression that needs them fails to compile and says so.)
 *
 * <p>Expressions are compiled once and verdicts kept as long as the device lives. For one thread.
 */
public final class DeviceSelectors {
  /** Programs kept; the least recently used go first. */
  private static final int MAX_PROGRAMS = 2_000;

  /** Characters (resource.k8s.io/v1, CELSelectorExpressionMaxLength). */
  private static final int MAX_EXPRESSION = 10 * 1024;

  private static final CelOptions OPTIONS =
      CelOptions.current().maxExpressionCodePointSize(MAX_EXPRESSION).comprehensionMaxIterations(10_000).enableTimestampEpoch(true).build();

  private static final List<CelFunctions> KUBERNETES = List.of(new AmountFunctions(), new NetworkFunctions(), new TextFunctions());
  private static final CelCompiler COMPILER = compiler();
  private static final CelRuntime RUNTIME = runtime();

  private final Map<String, CompiledSelector> programs =
      new LinkedHashMap<>(64, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, CompiledSelector> eldest) {
          boolean full = size() > MAX_PROGRAMS;
          if (full) {
            verdicts.remove(eldest.getKey());
          }
          return full;
        }
      };
  private final Map<String, WeakHashMap<Device, Verdict>> verdicts = new java.util.HashMap<>();
  private final WeakHashMap<Device, Map<String, Object>> seenByCel = new WeakHashMap<>();

  /** Why the expression cannot be used on any device; empty if it can. */
  public Optional<String> compileError(String expression) {
    return compiled(expression) instanceof CompiledSelector.Broken(String error) ? Optional.of(error) : Optional.empty();
  }

  /** Whether what the expression says of a device may depend on any of these attributes, given by name without domain. */
  public boolean mayRead(String expression, Set<String> attributes) {
    return compiled(expression) instanceof CompiledSelector.Program(var _, AttributesRead reads) && reads.mayBeOneOf(attributes);
  }

  /** The UUIDs of the only devices for which the expression can hold, where that is all that it says; empty if it is not. */
  public Optional<Set<String>> onlyUuids(String expression) {
    return compiled(expression) instanceof CompiledSelector.Program ? NamedUuids.in(expression) : Optional.empty();
  }

  /** What the expression says of the device. */
  public Verdict evaluate(String expression, Device device) {
    CompiledSelector selector = compiled(expression);
    WeakHashMap<Device, Verdict> known = verdicts.computeIfAbsent(expression, e -> new WeakHashMap<>());
    @Nullable Verdict verdict = known.get(device);
    if (verdict == null) {
      verdict = evaluate(selector, device);
      known.put(device, verdict);
    }
    return verdict;
  }

  private Verdict evaluate(CompiledSelector selector, Device device) {
    return switch (selector) {
      case CompiledSelector.Broken(String error) -> new Verdict.Failed(error);
      case CompiledSelector.Program(CelRuntime.Program program, var _) -> {
        try {
          Object result = program.trace(Map.of("device", seenByCel.computeIfAbsent(device, DeviceView::of)), new CostLimit());
          yield result instanceof Boolean held
              ? held ? Verdict.TRUE : Verdict.FALSE
              : new Verdict.Failed("gives " + result.getClass().getSimpleName() + ", not a boolean");
        } catch (CelEvaluationException | RuntimeException e) {
          yield new Verdict.Failed(oneLine(e.getMessage()));
        }
      }
    };
  }

  private CompiledSelector compiled(String expression) {
    @Nullable CompiledSelector known = programs.get(expression);
    if (known == null) {
      known = compile(expression);
      programs.put(expression, known);
    }
    return known;
  }

  private static CompiledSelector compile(String expression) {
    try {
      CelAbstractSyntaxTree tree = COMPILER.compile(expression).getAst();
      boolean canBeBoolean = tree.getResultType().equals(SimpleType.BOOL) || tree.getResultType().equals(SimpleType.DYN);
      return canBeBoolean
          ? new CompiledSelector.Program(RUNTIME.createProgram(tree), AttributesRead.by(expression))
          : new CompiledSelector.Broken("gives " + tree.getResultType().name() + ", not a boolean");
    } catch (CelValidationException e) {
      return new CompiledSelector.Broken(oneLine(e.getErrors().isEmpty() ? e.getMessage() : e.getErrors().getFirst().getMessage()));
    } catch (CelEvaluationException | RuntimeException e) {
      return new CompiledSelector.Broken(oneLine(e.getMessage()));
    }
  }

  private static String oneLine(@Nullable String message) {
    String line = message == null ? "evaluation failed" : message.strip().replaceAll("\\s+", " ");
    return line.length() > 200 ? line.substring(0, 200) + "…" : line;
  }

  private static CelCompiler compiler() {
    CelCompilerBuilder builder =
        CelCompilerFactory.standardCelCompilerBuilder()
            .setOptions(OPTIONS)
            .setStandardMacros(CelStandardMacro.STANDARD_MACROS)
            .addVar("device", MapType.create(SimpleType.STRING, SimpleType.DYN))
            .addLibraries(
                CelExtensions.strings(),
                CelExtensions.math(OPTIONS),
                CelExtensions.bindings(),
                CelExtensions.sets(OPTIONS),
                CelExtensions.lists(),
                CelExtensions.optional());
    KUBERNETES.forEach(builder::addLibraries);
    return builder.build();
  }

  private static CelRuntime runtime() {
    CelStandardFunctions allButInMap =
        CelStandardFunctions.newBuilder().filterFunctions((_, overload) -> overload != Overload.InternalOperator.IN_MAP).build();
    RuntimeEquality equality = RuntimeEquality.create(RuntimeHelpers.create(), OPTIONS);
    CelRuntimeBuilder builder =
        CelRuntimeFactory.standardCelRuntimeBuilder()
        .setOptions(OPTIONS)
        .setStandardEnvironmentEnabled(false)
        .setStandardFunctions(allButInMap)
        .addFunctionBindings(CelFunctionBinding.from("in_map", Object.class, Map.class, (key, map) -> isIn(equality, key, map)))
        .addLibraries(
            CelExtensions.strings(),
            CelExtensions.math(OPTIONS),
            CelExtensions.sets(OPTIONS),
            CelExtensions.lists(),
            CelExtensions.optional());
    KUBERNETES.forEach(builder::addLibraries);
    return builder.build();
  }

  /** An index into a device's attributes never fails, but not every domain is in them. */
  private static boolean isIn(RuntimeEquality equality, Object key, Map<?, ?> map) {
    return map instanceof DeviceView.ByDomain domains ? domains.has(key) : equality.findInMap(map, key).isPresent();
  }
}
