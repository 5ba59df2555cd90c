package dev.partita.controller.selector;

import static dev.partita.controller.selector.Devices.SHARED;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Expressions that were written to do harm: they are refused, or evaluated, and cost nobody else anything. */
class HostileExpressionTest {
  /** What the controller's threads have (deploy/image/stage.sh). */
  private static final long STACK = 512 << 10;

  private static final int MOST_CHARACTERS = 10 * 1024;

  /**
   * A way to nest.
   *
   * @param open once for every level, and {@code close} likewise
   */
  private record Nest(String name, String before, String open, String inner, String close, String after) {
    String expression(int levels) {
      return before + open.repeat(levels) + inner + close.repeat(levels) + after;
    }

    @Override
    public String toString() {
      return name;
    }
  }

  private static final List<Nest> NESTS =
      List.of(
          new Nest("parentheses", "", "(", "true", ")", ""),
          new Nest("negations in a row", "", "!", "true", "", ""),
          new Nest("negations", "", "!(", "true", ")", ""),
          new Nest("minus signs", "0 == ", "-(", "0", ")", ""),
          new Nest("lists", "[] != ", "[", "1", "]", ""),
          new Nest("maps", "{} != ", "{1: ", "1", "}", ""),
          new Nest("keys of maps", "{} != ", "{", "1", ": 1}", ""),
          new Nest("conditions", "", "(", "true", " ? true : false)", ""),
          new Nest("alternatives in a row", "", "true ? true : ", "true", "", ""),
          new Nest("and within or", "", "true && (false || ", "true", ")", ""),
          new Nest("comparisons", "", "(", "true", " == true)", ""),
          new Nest("functions", "'' != ", "string(", "'a'", ")", ""),
          new Nest("lists in functions", "0 != ", "size([", "1", "])", ""),
          new Nest("indexes", "'a' != ", "device[", "'driver'", "]", ""),
          new Nest("comprehensions", "", "[1].exists(x, ", "true", ")", ""),
          new Nest("comprehensions of comprehensions", "[] != ", "[1].map(x, ", "1", ")", ""),
          new Nest("bindings", "", "cel.bind(x, true, ", "true", ")", ""),
          new Nest("values of bindings", "", "cel.bind(x, ", "true", ", x)", ""),
          new Nest("optional values", "optional.none() != ", "optional.of(1).optMap(x, ", "1", ")", ""),
          new Nest("messages", "", "a{b: ", "1", "}", ""),
          new Nest("what is not closed", "", "(", "", "", ""),
          new Nest("lists that are not closed", "", "[", "", "", ""),
          new Nest("maps that are not closed", "", "{", "", "", ""),
          new Nest("all kinds that are not closed", "", "([{a ? ", "", "", ""),
          new Nest("a chain of or", "", "false || ", "true", "", ""),
          new Nest("a chain of and", "", "true && ", "true", "", ""),
          new Nest("a chain of sums", "1 != 1", "", "", " + 1", ""),
          new Nest("a chain of products", "2 == 1", "", "", " * 1", ""),
          new Nest("a chain of comparisons", "true", "", "", " == true", ""),
          new Nest("a chain of fields", "has(device", "", "", ".a", ")"),
          new Nest("a chain of optional fields", "device", "", "", ".?a", ".hasValue()"),
          new Nest("a chain of indexes", "device", "", "", "['a']", " == 1"),
          new Nest("a chain of calls", "'a'", "", "", ".trim()", " == 'a'"),
          new Nest("a chain of optional calls", "optional.of(1)", "", "", ".optMap(x, x)", ".hasValue()"),
          new Nest("a chain of flat optional calls", "optional.of(1)", "", "", ".optFlatMap(x, optional.of(x))",
              ".hasValue()"),
          new Nest("a chain of comprehensions", "[1]", "", "", ".map(x, x)", " == [1]"),
          new Nest("a chain of orders", "[1]", "", "", ".sortBy(x, x)", " == [1]"),
          new Nest("a regular expression", "'a'.matches('", "(", "a", ")", "')"),
          new Nest("a format", "'", "%s", "", "'.format([])", ""));

  static List<Nest> nests() {
    return NESTS;
  }

  private static String nested(String name, int levels) {
    return NESTS.stream().filter(nest -> nest.name().equals(name)).findFirst().orElseThrow().expression(levels);
  }

  @ParameterizedTest
  @MethodSource("nests")
  void noNestingEndsTheThreadThatAsks(Nest nest) {
    for (int levels : new int[]{30, 60, 120, 199, 225, 249, 251, 1_000, 10_000}) {
      String expression = nest.expression(levels);
      if (expression.length() <= MOST_CHARACTERS) {
        assertThat(onSmallStack(() -> new DeviceSelectors().evaluate(expression, SHARED))).as("%s: %d", nest, levels)
            .isNotNull();
        assertThat(onSmallStack(() -> new DeviceSelectors().compileError(expression))).as("%s: %d", nest, levels)
            .isNotNull();
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"parentheses", "negations", "lists", "maps", "conditions", "functions",
    "comprehensions", "bindings", "optional values"})
  void whatAnApiServerAdmitsIsUsed(String name) {
    assertThat(onSmallStack(() -> new DeviceSelectors().compileError(nested(name, 248)))).as(name).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"parentheses", "negations", "lists", "maps", "what is not closed", "all kinds that are not closed"})
  void whatIsNestedDeeperIsRefusedAsThat(String name) {
    assertThat(onSmallStack(() -> new DeviceSelectors().compileError(nested(name, 300))))
        .as(name)
        .contains("is nested too deeply: CEL allows 250 levels");
  }

  @Test
  void whatWorksGoesOnWorkingAfterwards() {
    NESTS.forEach(nest -> onSmallStack(() -> new DeviceSelectors().compileError(nest.expression(150))));
    assertThat(new DeviceSelectors()
        .evaluate("device.driver == 'gpu.partita.dev' && [[1]].map(x, x.map(y, y)) == [[1]]", SHARED))
        .isEqualTo(Verdict.TRUE);
  }

  /** Each binding's type is twice as large as that of the one before. */
  @Test
  void typesThatDoubleAreRefused() {
    StringBuilder expression = new StringBuilder("cel.bind(a0, 1, ");
    for (int i = 1; i < 60; i++) {
      expression.append("cel.bind(a%d, {a%d: a%d}, ".formatted(i, i - 1, i - 1));
    }
    String doubling = expression + "true" + ")".repeat(60);
    String comprehensions = "[1]" + ".map(a, {a: a})".repeat(60) + " != []";
    assertThat(new DeviceSelectors().compileError(doubling))
        .hasValueSatisfying(error -> assertThat(error).startsWith("is too large"));
    assertThat(new DeviceSelectors().compileError(comprehensions))
        .hasValueSatisfying(error -> assertThat(error).startsWith("is too large"));
  }

  @Test
  void optionalValuesAreStillMapped() {
    DeviceSelectors selectors = new DeviceSelectors();
    for (String expression : new String[]{
      "optional.of(1).optMap(x, x + 1).optMap(x, x + 1).value() == 3",
      "optional.of(1).optMap(x, optional.of(x + 1).optMap(y, x + y).value()).value() == 3",
      "optional.of(1).optMap(x, optional.of(5).optMap(y, x + y).value()).value() == 6",
      "!optional.none().optMap(x, x).hasValue() && !device.attributes['a'].?b.optMap(x, x).hasValue()",
      "device.attributes['gpu.partita.dev'].?model.optFlatMap(x, optional.of(x)).optMap(x, x == 'h200').orValue(false)",
      "cel.bind(o, optional.of(2), o.optMap(x, x * x).value()) == 4",
    }) {
      assertThat(selectors.evaluate(expression, SHARED)).as(expression).isEqualTo(Verdict.TRUE);
    }
    assertThat(selectors.compileError("optional.of(1).optMap(1, 2).hasValue()")).isPresent();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "cel.bind(x, 1, cel.bind(x, x + 1, x == 2))",
        "cel.bind(x, 1, cel.bind(y, x, cel.bind(x, y + 1, x == 2)))",
        "[1].exists(x, cel.bind(x, x + 1, x == 2))",
        "cel.bind(x, 1, [x + 1].exists(x, x == 2) && x == 1)",
        "cel.bind(x, 1 / 0, true)",
      })
  void aVariableMayBeBoundByWhatItHides(String expression) {
    assertThat(new DeviceSelectors().evaluate(expression, SHARED)).isEqualTo(Verdict.TRUE);
  }

  /** Each would take minutes, or all memory, by a few characters. */
  @ParameterizedTest
  @MethodSource("costly")
  void whatWouldTakeAllTimeOrMemoryEnds(String expression) {
    assertThat(expression.length()).isLessThanOrEqualTo(MOST_CHARACTERS);
    assertThat(onSmallStack(() -> new DeviceSelectors().evaluate(expression, SHARED)))
        .isInstanceOfSatisfying(
            Verdict.Failed.class,
            failed -> assertThat(failed.error())
                .containsAnyOf(
                    "more than 1000000 units", "more than 100000 characters or elements",
                    "regular expression of more than 100000 characters"));
  }

  static List<String> costly() {
    String text = "'" + "a".repeat(3_000) + "'";
    String loop = "lists.range(9000).all(i, ";
    return List.of(
        doubled("[1, 1]", "[x, x]", 40, "x == x"),
        doubled("[1, 1]", "[x, x]", 40, "x in [x]"),
        doubled("[1, 1]", "[x, x]", 40, "'%s'.format([x]) == ''"),
        doubled("[1, 1]", "{1: x, 2: x}", 40, "x == x"),
        doubled("[1, 1]", "x + x", 40, "x == x"),
        doubled("'aa'", "x + x", 40, "x == x"),
        doubled("b'aa'", "x + x", 40, "string(x) == ''"),
        doubled(text, "x.replace('a', x)", 3, "x == ''"),
        doubled(text, "x.replace('', x)", 3, "x == ''"),
        doubled(text, "x.split('').join(x)", 3, "x == ''"),
        "'" + "%.99999f".repeat(1_000) + "'.format(lists.range(1000).map(i, 1.0)) == ''",
        "lists.range(9000).distinct().size() == 0",
        "sets.contains(lists.range(9000), lists.range(9000))",
        "sets.intersects(lists.range(9000), lists.range(9000).map(i, -1 - i))",
        "cel.bind(x, lists.range(3000), " + loop + "sets.contains(x, [1, 2, 3])))",
        "cel.bind(x, lists.range(9000), " + loop + "x == x))",
        "cel.bind(x, lists.range(9000), " + loop + "!(-1 in x)))",
        "cel.bind(x, " + text + ", " + loop + "!x.contains('" + "a".repeat(1_000) + "b')))",
        "cel.bind(x, " + text + ", " + loop + "x.replace('aa', 'b') != ''))",
        "cel.bind(x, " + text + ", " + loop + "!x.matches('(a*)*b')))",
        "cel.bind(x, " + text + ", " + loop + "x.find('(a|b|c)*d') == ''))",
        "cel.bind(x, " + text + ", " + loop + "x.charAt(0) == 'a' && x.charAt(1) == 'a'))",
        "cel.bind(x, " + text + ", " + loop + "x.substring(0, 1) == 'a'))",
        "cel.bind(x, '" + " ".repeat(3_000) + "', " + loop + "x.trim() == ''))",
        "cel.bind(x, '" + "ä".repeat(3_000) + "', " + loop + "x.size() == 3000))",
        "cel.bind(x, " + text + ", " + loop + "!isURL(x)))",
        "cel.bind(x, " + text + ", " + loop + "int(x) == 1 || true))",
        "cel.bind(x, lists.range(9000), " + loop + "math.greatest(x) == 8999))",
        "'a'.matches('((((a{100}){100}){100}){100}){100}')",
        "'a'.find('((((a{1,100}){0,100}){100,}){100}){100}') == ''",
        "'a'.matches('" + "(a{1000})".repeat(1_000) + "')");
  }

  /** A text may be as long as a value may be: what reads it must not call itself once for every character. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "isURL('/' + x)",
        "url('/' + x).getEscapedPath().size() > 45000",
        "isURL('http://h' + x + '/')",
        "isURL('http://h' + x + ':80/')",
        "isURL('http://u' + x + ':p@h/')",
        "isURL(x + ':')",
        "url('/?a' + x + '=1').getQuery().size() == 1",
        "!format.uri().validate('/' + x).hasValue()",
        "format.named('byte').value().validate(x + '=').hasValue()",
        "!format.named('byte').value().validate(x).hasValue()",
        "format.named('datetime').value().validate('2026-01-01T00:00:00' + x).hasValue()",
        "format.named('dns1123Subdomain').value().validate(x).hasValue()",
        "format.named('qualifiedName').value().validate(x).hasValue()",
        "format.named('uuid').value().validate(x).hasValue()",
        "!isSemver(x)",
        "!isSemver(x, true)",
        "!isSemver('1.2.3-' + x.replace('aa', 'a.'))",
        "!isSemver('1.2.3+' + x.replace('aa', 'a.'), true)",
        "!isQuantity(x.replace('a', '1'))",
        "!isIP(x)",
        "!isIP(x.replace('a', '1.'))",
        "!isCIDR(x + '/8')",
        "'%s %%'.format([x]).size() > 45000",
        "strings.quote(x).size() > 45000",
        "x.matches('(a|b)*')",
        "x.find('(?:a|b)*').size() > 45000",
      })
  void aFunctionReadsALongTextOnASmallStack(String expression) {
    String text = "'%s'.replace('a', '%s')".formatted("a".repeat(500), "a".repeat(91));
    assertThat(
        onSmallStack(() -> new DeviceSelectors().evaluate("cel.bind(x, %s, %s)".formatted(text, expression), SHARED)))
        .isEqualTo(Verdict.TRUE);
  }

  @ParameterizedTest
  @ValueSource(ints = {100, 1_000, 1_100, 5_000, 40_000})
  void aRegularExpressionMayNestAThousandLevels(int levels) {
    String made =
        "'a'.matches('%1$s'.replace('b', '%2$s') + 'a' + '%1$s'.replace('b', '%3$s'))"
            .formatted("b".repeat(levels / 100), "(".repeat(100), ")".repeat(100));
    assertThat(onSmallStack(() -> new DeviceSelectors().evaluate(made, SHARED))).isEqualTo(
        levels <= 1_000
            ? Verdict.TRUE
            : new Verdict.Failed("has a regular expression of more than 1000 levels"));
  }

  /** Of a value, one after the other that has the one before twice. */
  private static String doubled(String first, String next, int times, String last) {
    return "cel.bind(x, " + first + ", " + ("cel.bind(x, " + next + ", ").repeat(times) + last + ")".repeat(times + 1);
  }

  private static <T> T onSmallStack(Supplier<T> work) {
    CompletableFuture<T> result = new CompletableFuture<>();
    Thread thread =
        new Thread(
            null,
            () -> {
              try {
                result.complete(work.get());
              } catch (Throwable e) {
                result.completeExceptionally(e);
              }
            },
            "small stack",
            STACK);
    thread.start();
    return result.orTimeout(30, TimeUnit.SECONDS).join();
  }
}
