package dev.partita.controller.selector.functions;

import static dev.cel.common.CelFunctionDecl.newFunctionDeclaration;
import static dev.cel.common.CelOverloadDecl.newGlobalOverload;
import static dev.cel.common.CelOverloadDecl.newMemberOverload;

import dev.cel.common.CelOverloadDecl;
import dev.cel.common.types.CelType;
import dev.cel.common.types.ListType;
import dev.cel.common.types.OpaqueType;
import dev.cel.common.types.SimpleType;
import dev.cel.compiler.CelCompilerLibrary;
import dev.cel.runtime.CelFunctionBinding;
import dev.cel.runtime.CelFunctionOverload;
import dev.cel.runtime.CelRuntimeBuilder;
import dev.cel.runtime.CelRuntimeLibrary;
import dev.partita.api.device.SemanticVersion;
import dev.partita.controller.selector.values.Cidr;
import dev.partita.controller.selector.values.IpAddress;
import dev.partita.controller.selector.values.KubernetesQuantity;
import dev.partita.controller.selector.values.NamedFormat;
import dev.partita.controller.selector.values.Url;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Functions that are declared to CEL together with what they do. */
public class CelFunctions implements CelCompilerLibrary, CelRuntimeLibrary {
  /** A type of CEL and the Java class of its values. */
  record Type<T>(CelType cel, Class<T> java) {
    static final Type<String> TEXT = new Type<>(SimpleType.STRING, String.class);
    static final Type<Boolean> FLAG = new Type<>(SimpleType.BOOL, Boolean.class);
    static final Type<Long> NUMBER = new Type<>(SimpleType.INT, Long.class);
    static final Type<KubernetesQuantity> QUANTITY =
        new Type<>(OpaqueType.create("kubernetes.Quantity"), KubernetesQuantity.class);
    static final Type<SemanticVersion> SEMVER =
        new Type<>(OpaqueType.create("kubernetes.Semver"), SemanticVersion.class);
    static final Type<IpAddress> IP = new Type<>(OpaqueType.create("net.IP"), IpAddress.class);
    static final Type<Cidr> CIDR = new Type<>(OpaqueType.create("net.CIDR"), Cidr.class);
    static final Type<Url> URL = new Type<>(OpaqueType.create("kubernetes.URL"), Url.class);
    static final Type<NamedFormat> FORMAT = new Type<>(OpaqueType.create("kubernetes.NamedFormat"), NamedFormat.class);
    static final CelType TEXTS = ListType.create(SimpleType.STRING);
  }

  private final Map<String, List<CelOverloadDecl>> declarations = new LinkedHashMap<>();
  private final List<CelFunctionBinding> bindings = new ArrayList<>();

  @Override
  public final void setCheckerOptions(dev.cel.checker.CelCheckerBuilder checker) {
    declarations.forEach((name, overloads) -> checker.addFunctionDeclarations(newFunctionDeclaration(name, overloads)));
  }

  @Override
  public final void setParserOptions(dev.cel.parser.CelParserBuilder parser) {}

  @Override
  public final void setRuntimeOptions(CelRuntimeBuilder runtime) {
    runtime.addFunctionBindings(bindings);
  }

  final void constant(String name, NamedFormat format) {
    String id = id(name);
    declare(name, newGlobalOverload(id, Type.FORMAT.cel()));
    bindings.add(CelFunctionBinding.from(id, List.of(), arguments -> format));
  }

  final <A> void global(String name, CelType result, Type<A> argument, CelFunctionOverload.Unary<A> body) {
    String id = id(name, argument);
    declare(name, newGlobalOverload(id, result, argument.cel()));
    bindings.add(CelFunctionBinding.from(id, argument.java(), body));
  }

  final <A, B> void global(
      String name,
      CelType result,
      Type<A> first,
      Type<B> second,
      CelFunctionOverload.Binary<A, B> body) {
    String id = id(name, first, second);
    declare(name, newGlobalOverload(id, result, first.cel(), second.cel()));
    bindings.add(CelFunctionBinding.from(id, first.java(), second.java(), body));
  }

  final <A> void member(String name, CelType result, Type<A> self, CelFunctionOverload.Unary<A> body) {
    String id = id(name, self);
    declare(name, newMemberOverload(id, result, self.cel()));
    bindings.add(CelFunctionBinding.from(id, self.java(), body));
  }

  final <A, B> void member(
      String name,
      CelType result,
      Type<A> self,
      Type<B> argument,
      CelFunctionOverload.Binary<A, B> body) {
    String id = id(name, self, argument);
    declare(name, newMemberOverload(id, result, self.cel(), argument.cel()));
    bindings.add(CelFunctionBinding.from(id, self.java(), argument.java(), body));
  }

  /** @param body is given values of these types in this order */
  final void member(String name, CelType result, List<Type<?>> types, CelFunctionOverload body) {
    String id = id(name, types.toArray(Type<?>[]::new));
    declare(name, newMemberOverload(id, result, types.stream().map(Type::cel).toList()));
    bindings.add(CelFunctionBinding.from(id, types.stream().<Class<?>>map(Type::java).toList(), body));
  }

  /**
   * @param parameters what the checker knows of the arguments
   * @param arguments what the interpreter goes by
   */
  final void member(
      String name,
      String id,
      CelType result,
      List<CelType> parameters,
      List<Class<?>> arguments,
      CelFunctionOverload body) {
    declare(name, newMemberOverload(id, result, parameters));
    bound(id, arguments, body);
  }

  /** What an overload does; one that is not declared is called by trees that were changed after they were checked. */
  final void bound(String id, List<Class<?>> arguments, CelFunctionOverload body) {
    bindings.add(CelFunctionBinding.from(id, arguments, body));
  }

  final <T extends Comparable<T>> void comparisons(Type<T> type) {
    member("compareTo", SimpleType.INT, type, type, (a, b) -> (long) Integer.signum(a.compareTo(b)));
    member("isGreaterThan", SimpleType.BOOL, type, type, (a, b) -> a.compareTo(b) > 0);
    member("isLessThan", SimpleType.BOOL, type, type, (a, b) -> a.compareTo(b) < 0);
  }

  private static String id(String name, Type<?>... types) {
    StringBuilder id = new StringBuilder("partita_" + name);
    for (Type<?> type : types) {
      id.append('_').append(type.cel().name());
    }
    return id.toString();
  }

  private void declare(String name, CelOverloadDecl overload) {
    declarations.computeIfAbsent(name, n -> new ArrayList<>()).add(overload);
  }
}
