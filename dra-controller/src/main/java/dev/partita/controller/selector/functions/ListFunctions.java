package dev.partita.controller.selector.functions;

import dev.cel.common.CelAbstractSyntaxTree;
import dev.cel.common.ast.CelReference;
import dev.cel.common.types.CelType;
import dev.cel.common.types.ListType;
import dev.cel.common.types.SimpleType;
import dev.cel.common.types.TypeParamType;
import dev.cel.runtime.CelFunctionOverload;
import dev.cel.runtime.RuntimeEquality;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The functions of lists that Kubernetes adds to CEL (k8s.io/apiserver/pkg/cel/library/lists.go): isSorted, sum, min,
 * max, indexOf, lastIndexOf, and includes, which Kubernetes 1.36 has only with the feature gate DRAListTypeAttributes.
 *
 * <p>Sums and orders are declared for every type of element by itself, so that an expression that adds up texts does
 * not compile and that the sum of no durations is a duration. Where the checker does not know the elements, the first
 * of them decides.
 */
public final class ListFunctions extends CelFunctions {
  private static final List<CelType> ORDERED =
      List.of(
          SimpleType.INT,
          SimpleType.UINT,
          SimpleType.DOUBLE,
          SimpleType.BOOL,
          SimpleType.DURATION,
          SimpleType.TIMESTAMP,
          SimpleType.STRING,
          SimpleType.BYTES);

  private static final String PREFIX = "partita_list_";
  private static final String ANY = "_any";

  public ListFunctions(RuntimeEquality equality) {
    Map<CelType, CelFunctionOverload.Unary<Collection<?>>> sums = new LinkedHashMap<>();
    for (Sum sum : Sum.values()) {
      sums.put(sum.type(), sum::of);
    }
    perElement("sum", sums, true, Sum::ofAny);
    perElement("isSorted", everyOrdered(ListFunctions::isSorted), false, ListFunctions::isSorted);
    perElement("min", everyOrdered(list -> outermost("min", list, 1)), true, list -> outermost("min", list, 1));
    perElement("max", everyOrdered(list -> outermost("max", list, -1)), true, list -> outermost("max", list, -1));
    CelType element = TypeParamType.create("A");
    List<CelType> listAndElement = List.of(ListType.create(element), element);
    List<Class<?>> collectionAndObject = List.of(Collection.class, Object.class);
    member(
        "indexOf",
        PREFIX + "indexOf",
        SimpleType.INT,
        listAndElement,
        collectionAndObject,
        arguments -> indexOf((Collection<?>) arguments[0], arguments[1], equality));
    member(
        "lastIndexOf",
        PREFIX + "lastIndexOf",
        SimpleType.INT,
        listAndElement,
        collectionAndObject,
        arguments -> lastIndexOf((Collection<?>) arguments[0], arguments[1], equality));
    member(
        "includes",
        PREFIX + "includes",
        SimpleType.BOOL,
        List.of(SimpleType.DYN, SimpleType.DYN),
        List.of(Object.class, Object.class),
        arguments -> arguments[0] instanceof Collection<?> list
            ? indexOf(list, arguments[1], equality) >= 0
            : equality.objectEquals(arguments[0], arguments[1]));
  }

  /**
   * The tree, in which calls that the checker left open are calls of the overload that looks at the elements: to the
   * interpreter all these overloads take a list, and it refuses to choose.
   */
  public static CelAbstractSyntaxTree resolved(CelAbstractSyntaxTree tree) {
    Map<Long, CelReference> references = new LinkedHashMap<>(tree.getReferenceMap());
    references.replaceAll(
        (id, reference) -> {
          @Nullable String any = anyOf(reference.overloadIds());
          return any == null
              ? reference
              : CelReference.newBuilder().setName(reference.name()).addOverloadIds(any).build();
        });
    return CelAbstractSyntaxTree.newCheckedAst(tree.getExpr(), tree.getSource(), references, tree.getTypeMap());
  }

  private static @Nullable String anyOf(List<String> overloads) {
    if (overloads.size() < 2 || !overloads.getFirst().startsWith(PREFIX)) {
      return null;
    }
    String first = overloads.getFirst();
    return first.substring(0, first.indexOf('_', PREFIX.length())) + ANY;
  }

  private void perElement(
      String name,
      Map<CelType, CelFunctionOverload.Unary<Collection<?>>> bodies,
      boolean givesElement,
      CelFunctionOverload.Unary<Collection<?>> any) {
    bodies.forEach(
        (element, body) -> member(
            name,
            PREFIX + name + "_" + element.name(),
            givesElement ? element : SimpleType.BOOL,
            List.of(ListType.create(element)),
            List.of(Collection.class),
            one(body)));
    bound(PREFIX + name + ANY, List.of(Collection.class), one(any));
  }

  private static Map<CelType, CelFunctionOverload.Unary<Collection<?>>> everyOrdered(
      CelFunctionOverload.Unary<Collection<?>> body) {
    Map<CelType, CelFunctionOverload.Unary<Collection<?>>> bodies = new LinkedHashMap<>();
    ORDERED.forEach(type -> bodies.put(type, body));
    return bodies;
  }

  private static CelFunctionOverload one(CelFunctionOverload.Unary<Collection<?>> body) {
    return arguments -> body.apply((Collection<?>) arguments[0]);
  }

  /** Neighbours that cannot be compared (NaN, or of different types) are in order, as they are in Kubernetes. */
  private static boolean isSorted(Collection<?> list) {
    @Nullable Object before = null;
    for (Object value : list) {
      Order.check(value);
      if (before != null && Order.compare(before, value) > 0) {
        return false;
      }
      before = value;
    }
    return true;
  }

  /**
   * @param replaced how the one that is kept so far compares to one that takes its place
   */
  private static Object outermost(String name, Collection<?> list, int replaced) {
    @Nullable Object kept = null;
    for (Object value : list) {
      Order.check(value);
      if (kept == null || Order.compare(kept, value) == replaced) {
        kept = value;
      }
    }
    if (kept == null) {
      throw new IllegalArgumentException(name + " of an empty list");
    }
    return kept;
  }

  private static long indexOf(Collection<?> list, Object wanted, RuntimeEquality equality) {
    long index = 0;
    for (Object value : list) {
      if (equality.objectEquals(value, wanted)) {
        return index;
      }
      index++;
    }
    return -1;
  }

  private static long lastIndexOf(Collection<?> list, Object wanted, RuntimeEquality equality) {
    long found = -1;
    long index = 0;
    for (Object value : list) {
      if (equality.objectEquals(value, wanted)) {
        found = index;
      }
      index++;
    }
    return found;
  }
}
