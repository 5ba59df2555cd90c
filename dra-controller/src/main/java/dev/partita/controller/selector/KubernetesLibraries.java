package dev.partita.controller.selector;

import static dev.cel.common.CelFunctionDecl.newFunctionDeclaration;
import static dev.cel.common.CelOverloadDecl.newGlobalOverload;
import static dev.cel.common.CelOverloadDecl.newMemberOverload;

import dev.cel.common.CelFunctionDecl;
import dev.cel.common.CelOverloadDecl;
import dev.cel.common.types.CelType;
import dev.cel.common.types.OpaqueType;
import dev.cel.common.types.SimpleType;
import dev.cel.compiler.CelCompilerBuilder;
import dev.cel.compiler.CelCompilerLibrary;
import dev.cel.runtime.CelFunctionBinding;
import dev.cel.runtime.CelFunctionOverload;
import dev.cel.runtime.CelRuntimeBuilder;
import dev.cel.runtime.CelRuntimeLibrary;
import dev.partita.controller.inventory.SemanticVersion;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The quantity and semver functions that Kubernetes adds to CEL (k8s.io/apiserver/pkg/cel/library, quantity.go and
 * semverlib.go), with the same names and meaning.
 */
final class KubernetesLibraries implements CelCompilerLibrary, CelRuntimeLibrary {
  private static final CelType QUANTITY = OpaqueType.create("kubernetes.Quantity");
  private static final CelType SEMVER = OpaqueType.create("kubernetes.Semver");

  private final Map<String, List<CelOverloadDecl>> declarations = new LinkedHashMap<>();
  private final List<CelFunctionBinding> bindings = new ArrayList<>();

  KubernetesLibraries() {
    quantities();
    versions();
  }

  @Override
  public void setCheckerOptions(dev.cel.checker.CelCheckerBuilder checker) {
    declarations.forEach((name, overloads) -> checker.addFunctionDeclarations(declaration(name, overloads)));
  }

  @Override
  public void setParserOptions(dev.cel.parser.CelParserBuilder parser) {}

  @Override
  public void setRuntimeOptions(CelRuntimeBuilder runtime) {
    runtime.addFunctionBindings(bindings);
  }

  /** Adds the libraries to a compiler. */
  void addTo(CelCompilerBuilder compiler) {
    compiler.addLibraries(this);
  }

  private static CelFunctionDecl declaration(String name, List<CelOverloadDecl> overloads) {
    return newFunctionDeclaration(name, overloads);
  }

  private void quantities() {
    global("quantity", QUANTITY, String.class, SimpleType.STRING, KubernetesLibraries::quantity);
    global("isQuantity", SimpleType.BOOL, String.class, SimpleType.STRING, text -> KubernetesQuantity.parse(text).isPresent());
    Class<KubernetesQuantity> type = KubernetesQuantity.class;
    member("sign", SimpleType.INT, type, QUANTITY, q -> (long) q.amount().signum());
    member("isInteger", SimpleType.BOOL, type, QUANTITY, KubernetesQuantity::isInteger);
    member("asInteger", SimpleType.INT, type, QUANTITY, q -> q.amount().longValueExact());
    member("asApproximateFloat", SimpleType.DOUBLE, type, QUANTITY, q -> q.amount().doubleValue());
    comparisons("quantity", type, QUANTITY);
    member2("quantity", "add", QUANTITY, type, QUANTITY, type, QUANTITY, KubernetesQuantity::plus);
    member2("quantity", "sub", QUANTITY, type, QUANTITY, type, QUANTITY, KubernetesQuantity::minus);
    Class<Long> whole = Long.class;
    member2("quantity_int", "add", QUANTITY, type, QUANTITY, whole, SimpleType.INT, (q, n) -> q.plus(KubernetesQuantity.of(n)));
    member2("quantity_int", "sub", QUANTITY, type, QUANTITY, whole, SimpleType.INT, (q, n) -> q.minus(KubernetesQuantity.of(n)));
  }

  private void versions() {
    global("semver", SEMVER, String.class, SimpleType.STRING, text -> version(text, false));
    global("isSemver", SimpleType.BOOL, String.class, SimpleType.STRING, text -> SemanticVersion.parse(text).isPresent());
    global2("semver", SEMVER, String.class, SimpleType.STRING, Boolean.class, SimpleType.BOOL, KubernetesLibraries::version);
    global2(
        "isSemver",
        SimpleType.BOOL,
        String.class,
        SimpleType.STRING,
        Boolean.class,
        SimpleType.BOOL,
        (text, normalise) ->
            (normalise ? SemanticVersion.normalise(text) : SemanticVersion.parse(text)).isPresent());
    Class<SemanticVersion> type = SemanticVersion.class;
    member("major", SimpleType.INT, type, SEMVER, v -> v.major().longValueExact());
    member("minor", SimpleType.INT, type, SEMVER, v -> v.minor().longValueExact());
    member("patch", SimpleType.INT, type, SEMVER, v -> v.patch().longValueExact());
    comparisons("semver", type, SEMVER);
  }

  private static KubernetesQuantity quantity(String text) {
    return KubernetesQuantity.parse(text).orElseThrow(() -> new IllegalArgumentException("not a quantity: \"" + text + "\""));
  }

  private static SemanticVersion version(String text, boolean normalise) {
    return (normalise ? SemanticVersion.normalise(text) : SemanticVersion.parse(text))
        .orElseThrow(() -> new IllegalArgumentException("not a semantic version: \"" + text + "\""));
  }

  private <T extends Comparable<T>> void comparisons(String prefix, Class<T> type, CelType celType) {
    member2(prefix, "compareTo", SimpleType.INT, type, celType, type, celType, (a, b) -> (long) Integer.signum(a.compareTo(b)));
    member2(prefix, "isGreaterThan", SimpleType.BOOL, type, celType, type, celType, (a, b) -> a.compareTo(b) > 0);
    member2(prefix, "isLessThan", SimpleType.BOOL, type, celType, type, celType, (a, b) -> a.compareTo(b) < 0);
  }

  private <A> void global(String name, CelType result, Class<A> argument, CelType celArgument, CelFunctionOverload.Unary<A> body) {
    String id = "partita_" + name;
    declare(name, newGlobalOverload(id, result, celArgument));
    bindings.add(CelFunctionBinding.from(id, argument, body));
  }

  private <A, B> void global2(
      String name, CelType result, Class<A> first, CelType celFirst, Class<B> second, CelType celSecond, CelFunctionOverload.Binary<A, B> body) {
    String id = "partita_" + name + "_2";
    declare(name, newGlobalOverload(id, result, celFirst, celSecond));
    bindings.add(CelFunctionBinding.from(id, first, second, body));
  }

  private <A> void member(String name, CelType result, Class<A> self, CelType celSelf, CelFunctionOverload.Unary<A> body) {
    String id = "partita_" + name;
    declare(name, newMemberOverload(id, result, celSelf));
    bindings.add(CelFunctionBinding.from(id, self, body));
  }

  private <A, B> void member2(
      String prefix,
      String name,
      CelType result,
      Class<A> self,
      CelType celSelf,
      Class<B> argument,
      CelType celArgument,
      CelFunctionOverload.Binary<A, B> body) {
    String id = "partita_" + prefix + "_" + name;
    declare(name, newMemberOverload(id, result, celSelf, celArgument));
    bindings.add(CelFunctionBinding.from(id, self, argument, body));
  }

  private void declare(String name, CelOverloadDecl overload) {
    declarations.computeIfAbsent(name, n -> new ArrayList<>()).add(overload);
  }
}
