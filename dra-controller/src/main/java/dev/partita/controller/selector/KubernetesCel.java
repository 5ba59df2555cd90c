package dev.partita.controller.selector;

import com.google.protobuf.Duration;
import com.google.protobuf.Timestamp;
import dev.cel.common.CelAbstractSyntaxTree;
import dev.cel.common.CelMutableAst;
import dev.cel.common.CelOptions;
import dev.cel.common.CelValidationException;
import dev.cel.common.ast.CelExpr.ExprKind.Kind;
import dev.cel.common.ast.CelMutableExpr;
import dev.cel.common.types.MapType;
import dev.cel.common.types.SimpleType;
import dev.cel.compiler.CelCompiler;
import dev.cel.compiler.CelCompilerBuilder;
import dev.cel.compiler.CelCompilerFactory;
import dev.cel.extensions.CelExtensions;
import dev.cel.parser.CelMacro;
import dev.cel.parser.CelStandardMacro;
import dev.cel.runtime.CelEvaluationException;
import dev.cel.runtime.CelFunctionBinding;
import dev.cel.runtime.CelRuntime;
import dev.cel.runtime.CelRuntimeBuilder;
import dev.cel.runtime.CelRuntimeFactory;
import dev.cel.runtime.CelStandardFunctions.StandardFunction.Overload;
import dev.cel.runtime.CelStandardFunctions;
import dev.cel.runtime.RuntimeEquality;
import dev.cel.runtime.RuntimeHelpers;
import dev.partita.controller.selector.cost.CostLimit;
import dev.partita.controller.selector.cost.DeepStack;
import dev.partita.controller.selector.cost.ExpressionSize;
import dev.partita.controller.selector.cost.SubExpressions;
import dev.partita.controller.selector.functions.AmountFunctions;
import dev.partita.controller.selector.functions.CelFunctions;
import dev.partita.controller.selector.functions.ListFunctions;
import dev.partita.controller.selector.functions.NetworkFunctions;
import dev.partita.controller.selector.functions.OptionalMacros;
import dev.partita.controller.selector.functions.TextFunctions;
import dev.partita.controller.selector.functions.ValueText;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.LongStream;

/**
 * The CEL of device selectors in Kubernetes 1.36 (k8s.io/apiserver/pkg/cel/environment,
 * k8s.io/dynamic-resource-allocation/cel).
 */
final class KubernetesCel {
  /** Characters (resource.k8s.io/v1, CELSelectorExpressionMaxLength). */
  private static final int MAX_EXPRESSION = 10 * 1024;

  private static final CelOptions OPTIONS =
      CelOptions.current()
          .maxExpressionCodePointSize(MAX_EXPRESSION)
          .comprehensionMaxIterations(10_000)
          .enableTimestampEpoch(true)
          .enableHeterogeneousNumericComparisons(true)
          .build();

  private static final RuntimeEquality EQUALITY = RuntimeEquality.create(RuntimeHelpers.create(), OPTIONS);
  private static final List<CelFunctions> FUNCTIONS =
      List.of(new AmountFunctions(), new NetworkFunctions(), new TextFunctions(), new ListFunctions(EQUALITY));

  /**
   * Standard functions that mean something else, or write their results in another way, in dev.cel than in Kubernetes.
   */
  private static final Set<?> REPLACED =
      Set.of(
          Overload.InternalOperator.IN_MAP,
          Overload.Conversions.DOUBLE_TO_STRING,
          Overload.Conversions.DURATION_TO_STRING,
          Overload.Conversions.TIMESTAMP_TO_STRING);

  private static final CelCompiler COMPILER = compiler();
  private static final CelRuntime RUNTIME = runtime();

  private KubernetesCel() {}

  /** The expression without its types. Calls itself for every level of nesting: for a {@link DeepStack}. */
  static CelAbstractSyntaxTree parsed(String expression) throws CelValidationException {
    return eager(COMPILER.parse(expression).getAst());
  }

  /**
   * The expression with bindings whose values are found out where they are bound, as in Kubernetes. dev.cel does so
   * where they are used, by the names that count there: {@code cel.bind(x, 1, cel.bind(x, x + 1, x == 2))} would call
   * itself until the stack is full. It knows a binding by the name of a variable that nothing uses.
   */
  private static CelAbstractSyntaxTree eager(CelAbstractSyntaxTree parsed) {
    CelMutableAst tree = CelMutableAst.fromCelAst(parsed);
    Deque<CelMutableExpr> left = new ArrayDeque<>(List.of(tree.expr()));
    while (!left.isEmpty()) {
      CelMutableExpr expression = left.pop();
      if (expression.getKind() == Kind.COMPREHENSION && expression.comprehension().iterVar().equals("#unused")) {
        expression.comprehension().setIterVar("@unused");
      }
      SubExpressions.of(expression).forEach(left::push);
    }
    return tree.toParsedAst();
  }

  /**
   * The expression with its types. Calls itself for every level of nesting, and takes as much memory as
   * {@link ExpressionSize} says.
   */
  static CelAbstractSyntaxTree checked(CelAbstractSyntaxTree parsed) throws CelValidationException {
    return ListFunctions.resolved(COMPILER.check(parsed).getAst());
  }

  static CelRuntime.Program program(CelAbstractSyntaxTree checked) throws CelEvaluationException {
    return RUNTIME.createProgram(checked);
  }

  private static CelCompiler compiler() {
    CelCompilerBuilder builder =
        CelCompilerFactory.standardCelCompilerBuilder()
            .setOptions(OPTIONS)
            .setStandardMacros(CelStandardMacro.STANDARD_MACROS)
            .addMacros(existsOne())
            .addVar("device", MapType.create(SimpleType.STRING, SimpleType.DYN))
            .addLibraries(
                CelExtensions.strings(),
                CelExtensions.math(OPTIONS),
                CelExtensions.bindings(),
                CelExtensions.sets(OPTIONS),
                CelExtensions.lists(),
                CelExtensions.comprehensions(),
                CelExtensions.optional(),
                new OptionalMacros());
    FUNCTIONS.forEach(builder::addLibraries);
    return builder.build();
  }

  /** The other name of exists_one with two variables, which dev.cel does not know. */
  private static CelMacro existsOne() {
    return CelExtensions.getExtensionLibrary("comprehensions", OPTIONS).latest().macros().stream()
        .filter(macro -> macro.getFunction().equals(CelStandardMacro.EXISTS_ONE.getFunction()))
        .map(macro -> CelMacro.newReceiverMacro("existsOne", 3, macro.getExpander()))
        .findFirst()
        .orElseThrow();
  }

  private static CelRuntime runtime() {
    CelStandardFunctions standard =
        CelStandardFunctions.newBuilder().filterFunctions((_, overload) -> !REPLACED.contains(overload)).build();
    CelRuntimeBuilder builder =
        CelRuntimeFactory.standardCelRuntimeBuilder()
            .setOptions(OPTIONS)
            .setStandardEnvironmentEnabled(false)
            .setStandardFunctions(standard)
            .addFunctionBindings(
                CelFunctionBinding.from("in_map", Object.class, Map.class, KubernetesCel::isIn),
                CelFunctionBinding.from("double_to_string", Double.class, ValueText::of),
                CelFunctionBinding.from("duration_to_string", Duration.class, ValueText::of),
                CelFunctionBinding.from("timestamp_to_string", Timestamp.class, ValueText::of),
                CelFunctionBinding.from("lists_range", Long.class, KubernetesCel::range))
            .addLibraries(
                CelExtensions.strings(),
                CelExtensions.math(OPTIONS),
                CelExtensions.sets(OPTIONS),
                CelExtensions.lists(),
                CelExtensions.comprehensions(),
                CelExtensions.optional());
    FUNCTIONS.forEach(builder::addLibraries);
    return builder.build();
  }

  /** An index into a device's attributes never fails, but not every domain is in them. */
  private static boolean isIn(Object key, Map<?, ?> map) {
    return map instanceof DeviceView.ByDomain domains ? domains.has(key) : EQUALITY.findInMap(map, key).isPresent();
  }

  /** What a list costs is counted when it is there: one that would be too large must not come to be. */
  private static List<Long> range(long end) {
    if (end > CostLimit.LARGEST) {
      throw CostLimit.Exceeded.tooLarge();
    }
    return LongStream.range(0, end).boxed().toList();
  }
}
