package dev.partita.controller.selector;

import static dev.partita.controller.selector.Devices.SHARED;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ListFunctionsTest {
  private final DeviceSelectors selectors = new DeviceSelectors();

  /** With the examples of k8s.io/apiserver/pkg/cel/library/lists.go. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "[1, 2, 3].isSorted() && ['a', 'b', 'b', 'c'].isSorted() && ![2.0, 1.0].isSorted() && [1].isSorted() && [].isSorted()",
        "[false, true].isSorted() && ![true, false].isSorted() && [b'a', b'b'].isSorted() && ![2u, 1u].isSorted()",
        "[duration('1s'), duration('1m')].isSorted() && ![timestamp(2), timestamp(1)].isSorted()",
        "[1, 3].sum() == 4 && [1.0, 3.0].sum() == 4.0 && [1u, 3u].sum() == 4u && [].sum() == 0",
        "[duration('1m'), duration('1s')].sum() == duration('1m1s') && [duration('1s'), duration('-2s')].sum() == duration('-1s')",
        "[1, 3].min() == 1 && [1, 3].max() == 3 && [1].min() == 1 && ['b', 'a'].max() == 'b' && [duration('2s'), duration('1s')].min() == duration('1s')",
        "['\uFF5E', '\uD83D\uDE00'].isSorted() && ['\uFF5E', '\uD83D\uDE00'].max() == '\uD83D\uDE00'",
        "[1, 2, 2, 3].indexOf(2) == 1 && ['a', 'b', 'b', 'c'].lastIndexOf('b') == 2 && [1.0].indexOf(1.1) == -1 && [].indexOf('string') == -1",
        "[[1], [2]].indexOf([2]) == 1 && [1, 2].lastIndexOf(3) == -1 && 'abcb'.indexOf('b') == 1 && 'abcb'.lastIndexOf('b') == 3",
        "[1, 2, 3].includes(2) && ![1, 2, 3].includes(4) && 'model-a'.includes('model-a') && !'model-a'.includes('model-b')",
        "[1, 2].includes(2.0) && device.attributes['gpu.partita.dev'].model.includes('h200')",
        "[1, 2, 3].map(n, n * 2).sum() == 12 && ([0] + [1].filter(n, n > 1)).min() == 0 && [3, 1].sort().isSorted()",
        "device.attributes['gpu.partita.dev'].productName.split(' ').indexOf('H200') == 1",
      })
  void meanWhatTheyMeanInKubernetes(String expression) {
    assertThat(selectors.compileError(expression)).as(expression).isEmpty();
    assertThat(selectors.evaluate(expression, SHARED)).as(expression).isEqualTo(Verdict.TRUE);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "[1u].filter(n, n > 1u).sum() + 1u == 1u",
        "[1.0].filter(n, n > 1.0).sum() + 1.5 == 1.5",
        "[duration('1s')].filter(d, d > duration('1m')).sum() + duration('1s') == duration('1s')",
      })
  void theSumOfNothingIsOfTheListsType(String expression) {
    assertThat(selectors.evaluate(expression, SHARED)).as(expression).isEqualTo(Verdict.TRUE);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "dyn([1, 2]).sum() == 3 && [dyn(1.5), dyn(2.5)].sum() == 4.0 && dyn([]).sum() == 0",
        "dyn(['b', 'a']).min() == 'a' && dyn([1u, 2u]).max() == 2u && !dyn([2, 1]).isSorted()",
        "[dyn(1), dyn(2.5), dyn(2u)].max() == 2.5 && [dyn(1), dyn(2u), dyn(2.5)].isSorted() && [dyn(-1), dyn(1u)].min() == -1",
        "[dyn(1), dyn('a')].isSorted() && [1.0, double('NaN'), 0.0].isSorted() && [double('NaN'), 1.0].min() != 1.0",
        "dyn([1, 2, 1]).lastIndexOf(1) == 2 && dyn('abc').indexOf('c') == 2 && dyn([1]).includes(1)",
      })
  void elementsOfUnknownTypeDecideWhenTheyAreThere(String expression) {
    assertThat(selectors.compileError(expression)).as(expression).isEmpty();
    assertThat(selectors.evaluate(expression, SHARED)).as(expression).isEqualTo(Verdict.TRUE);
  }

  @ParameterizedTest
  @ValueSource(strings = {"['a'].sum() == 'a'", "[true].sum()", "[[1]].max() == [1]",
    "[{}].isSorted()", "[1].indexOf('a') == 0", "[1].sum(2) == 3", "1.sum() == 1"})
  void whatHasNoSumOrOrderDoesNotCompile(String expression) {
    assertThat(selectors.compileError(expression)).as(expression).isPresent();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "[].min() == 1 | min of an empty list",
        "[1].filter(n, n > 1).max() == 1 | max of an empty list",
        "[9223372036854775807, 1].sum() == 0 | overflow",
        "[18446744073709551615u, 1u].sum() == 0u | overflow",
        "[duration('292000h'), duration('2500000h')].sum() > duration('1s') | overflow",
        "[dyn(1), dyn(1.5)].sum() == 2.5 | cannot add a double to a int",
        "dyn(['a']).sum() == 'a' | cannot be added up",
        "dyn([[1]]).isSorted() | no order",
        "dyn('a').sum() == 1 | No matching overload",
      })
  void whatCannotBeDoneIsSaid(String expression, String reason) {
    assertThat(selectors.compileError(expression)).as(expression).isEmpty();
    assertThat(selectors.evaluate(expression, SHARED))
        .as(expression)
        .isInstanceOfSatisfying(Verdict.Failed.class, failed -> assertThat(failed.error()).contains(reason));
  }
}
