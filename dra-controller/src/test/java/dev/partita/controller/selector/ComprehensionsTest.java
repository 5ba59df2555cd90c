package dev.partita.controller.selector;

import static dev.partita.controller.selector.Devices.SHARED;
import static org.assertj.core.api.Assertions.assertThat;

import dev.cel.common.CelAbstractSyntaxTree;
import dev.cel.common.CelValidationException;
import dev.cel.runtime.CelEvaluationException;
import dev.partita.controller.selector.cost.CostLimit;
import dev.partita.controller.selector.cost.CostlyCalls;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ComprehensionsTest {
  private final DeviceSelectors selectors = new DeviceSelectors();

  /** With the examples of cel-go's ext/comprehensions.go. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "[1, 2, 3].all(i, j, i < j) && !{'hello': 'world', 'taco': 'taco'}.all(k, v, k != v)",
        "{'h': ['hello', 'hi'], 'j': ['joke', 'jog']}.all(k, vals, vals.all(v, v.startsWith(k)))",
        "{'greeting': 'hello', 'farewell': 'goodbye'}.exists(k, v, k.startsWith('good') || v.endsWith('bye'))",
        "![1, 2, 4, 8, 16].exists(i, v, v == 1024 && i == 10)",
        "![1, 2, 1, 3, 1, 4].existsOne(i, v, i == 1 || v == 1) && [1, 1, 2, 2, 3, 3].existsOne(i, v, i == 2 && v == 2)",
        "{'i': 0, 'j': 1, 'k': 2}.exists_one(i, v, i == 'l' || v == 1)",
        "[1, 2, 3].transformList(i, v, (i * v) + v) == [1, 4, 9] && [1, 2, 3].transformList(i, v, i % 2 == 0, (i * v) + v) == [1, 9]",
        "{'greeting': 'hello', 'farewell': 'goodbye'}.transformList(k, v, k).sort() == ['farewell', 'greeting']",
        "[1, 2, 3].transformMap(i, v, (i * v) + v) == {0: 1, 1: 4, 2: 9} && [1, 2, 3].transformMap(i, v, i % 2 == 0, (i * v) + v) == {0: 1, 2: 9}",
        "{'greeting': 'hello'}.transformMap(k, v, v + '!') == {'greeting': 'hello!'}",
        "{'greeting': 'hello'}.transformMapEntry(k, v, {v: k}) == {'hello': 'greeting'} && [1, 2].transformMapEntry(i, v, v > 1, {v: i}) == {2: 1}",
        "device.attributes['gpu.partita.dev'].exists(name, value, name == 'model' && value == 'h200')",
        "device.attributes.exists(domain, names, domain == 'gpu.partita.dev' && names.model == 'h200')",
        "device.capacity['gpu.partita.dev'].transformList(name, amount, name == 'memory', amount.isGreaterThan(quantity('100Gi'))) == [true]",
        "cel.bind(all, device.attributes['gpu.partita.dev'], all.all(k, v, k != 'colour'))",
      })
  void ofTwoVariablesMeanWhatTheyMeanInKubernetes(String expression) {
    assertThat(selectors.compileError(expression)).as(expression).isEmpty();
    assertThat(selectors.evaluate(expression, SHARED)).as(expression).isEqualTo(Verdict.TRUE);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"1 < 1.5 && 2u > 1 && 1.0 <= 1u", "[1, 2].exists(i, v, i < 0.5 && v > 0u)"})
  void numbersOfDifferentTypesAreCompared(String expression) {
    assertThat(selectors.compileError(expression)).as(expression).isEmpty();
    assertThat(selectors.evaluate(expression, SHARED)).as(expression).isEqualTo(Verdict.TRUE);
  }

  @Test
  void aKeyThatComesTwiceIsAnError() {
    assertThat(selectors
        .evaluate("{'greeting': 'aloha', 'farewell': 'aloha'}.transformMapEntry(k, v, {v: k}).size() > 0", SHARED))
        .isInstanceOfSatisfying(Verdict.Failed.class, failed -> assertThat(failed.error()).contains("already exists"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"[1].all(i, i, i > 0)", "[1].exists(i, 1, true)", "[1].transformMap(i, v)",
    "[1].existsOne(n, n < 2)", "[1].transformMapEntry(i, v, v).size() == 0"})
  void whatIsNoComprehensionDoesNotCompile(String expression) {
    assertThat(selectors.compileError(expression)).as(expression).isPresent();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "lists.range(1000).all(i, v, lists.range(1000).sum() > 0)",
        "lists.range(2000).all(i, v, lists.range(1000).lastIndexOf(v) != -2)",
        "lists.range(5000000).size() > 0",
        "[1, 2].exists(i, v, lists.range(9000).exists(j, w, '%.100000f'.format([1.0]) == ''))",
      })
  void costsAreLimited(String expression) {
    assertThat(selectors.evaluate(expression, SHARED))
        .as(expression)
        .isInstanceOfSatisfying(Verdict.Failed.class, failed -> assertThat(failed.error())
            .containsAnyOf("more than 1000000 units", "more than 100000 characters or elements"));
  }

  @Test
  void aFunctionOfAListCostsWhatThereIsToLookAt() {
    String elements = "lists.range(1000)";
    assertThat(cost(elements + ".sum() > 0") - cost(elements + ".size() > 0")).isEqualTo(1000);
    assertThat(cost("lists.range(10).map(i, '" + "x".repeat(100) + "').isSorted()")
        - cost("lists.range(10).map(i, '" + "x".repeat(100) + "').size() > 0"))
        .isEqualTo(100 - 1 - 1);
  }

  private static long cost(String expression) {
    try {
      CelAbstractSyntaxTree tree = KubernetesCel.checked(KubernetesCel.parsed(expression));
      CostLimit limit = new CostLimit(CostlyCalls.of(tree));
      KubernetesCel.program(tree).trace(Map.of("device", Map.of()), limit);
      return limit.spent();
    } catch (CelValidationException | CelEvaluationException e) {
      throw new AssertionError(expression, e);
    }
  }
}
