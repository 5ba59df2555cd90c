package dev.partita.controller.selector;

import static dev.partita.controller.selector.Devices.SHARED;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class FormattedTextTest {
  private final DeviceSelectors selectors = new DeviceSelectors();

  /** What cel-go 0.26 with golang.org/x/text 0.33, which are those of Kubernetes 1.36, makes of these. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "no clause | '' | no clause",
        "str is %s and more | 'filler' | str is filler and more",
        "%%%s%% and %% | 'text' | %text% and %",
        "%d %d, %s %s | 1, 2u, 'A', 'é' | 1 2, A é",
        "%d | 1, 2 | 1",
        "%.3f %f %.0f | 1.2345, 2.71828, 2.5 | 1.234 2.718280 2",
        "%f %.1f %.3f | 1234567.891, -1234.5, 999.9999999 | 1,234,567.891000 -1,234.5 1,000.000",
        "%.20f | 1234.1 | 1,234.09999999999990905053",
        "%f %f %f %f | 'NaN', 'Infinity', '-Infinity', double('NaN') | NaN ∞ -∞ NaN",
        "%e %.2e %e %e | 1052.032911275, 2.71828, -0.5, 0.0 | 1.052033×10⁰³ 2.718280×10⁰⁰ -5.000000×10⁻⁰¹ 0.000000×10⁰⁰",
        "%e %.18e %.3e | 1e300, 1.5, 'Infinity' | 1.000000×10³⁰⁰      1.500000×10⁰⁰   ∞",
        "%b %b %b %b | 5, -5, 64u, true | 101 -101 1000000 1",
        "%o %o %o | 11, -11, 65535u | 13 -13 177777",
        "%x %X %x %X | 30, 30, -30, 6000u | 1e 1E -1e 1770",
        "%x %X %x | 'Hello', b'byte', 'é' | 48656c6c6f 62797465 c3a9",
        "%s %s %s %s | 2.71, 0.000000002, 1e6, 123456.0 | 2.71 2e-09 1e+06 123456",
        "%s %s %s %s | double('NaN'), 1.0/0.0, -1.0/0.0, 9007199254740993.0 | NaN +Inf -Inf 9.007199254740992e+15",
        "%s %s %s %s | null, 999999999999, b'xyz', true | null 999999999999 xyz true",
        "%s %s %s | type('a'), type(1u), type(duration('1s')) | string uint google.protobuf.Duration",
        "%s %s | timestamp('2023-02-03T23:31:20+00:00'), timestamp('2023-02-03T23:31:20.500Z') | 2023-02-03T23:31:20Z 2023-02-03T23:31:20.5Z",
        "%s %s %s | duration('1h45m47s'), duration('2ns'), duration('-1500ms') | 6347s 0.000000002s -1.5s",
        "%s | ['abc', 3.14, null, [9, 8], timestamp('2023-02-03T23:31:20Z'), 1234.5] | [\"abc\", 3.140000, null, [9, 8], timestamp(\"2023-02-03T23:31:20Z\"), 1234.500000]",
        "%s | [double('NaN'), 1.0/0.0, -1.0/0.0] | [\"NaN\", \"+Inf\", \"-Inf\"]",
        "%s | {'key1': b'xyz', 'key5': null, 'key2': duration('2h'), 'key4': true, 'key3': 2.71828} | {\"key1\":b\"xyz\", \"key2\":duration(\"7200s\"), \"key3\":2.718280, \"key4\":true, \"key5\":null}",
        "%s | {1: 'value1', 2u: 'value2', true: double('NaN')} | {1:\"value1\", 2:\"value2\", true:\"NaN\"}",
        "%s | ['a\"b\\\\c\\n\\u0001\\u200b\\u00ad\\u00a0\\U0001F600'] | [\"a\\\"b\\\\c\\n\\x01\\u200b\\u00ad\\u00a0\\U0001F600\"]",
      })
  void clausesBecomeWhatTheyBecomeInKubernetes(String format, String values, String text) {
    String visible = text.replace("\\U0001F600", "\uD83D\uDE00").replace("\\", "\\\\").replace("\"", "\\\"");
    String expression = "\"%s\".format([%s]) == \"%s\"".formatted(format, values.equals("''") ? "" : values, visible);
    assertThat(selectors.compileError(expression)).as(expression).isEmpty();
    assertThat(selectors.evaluate(expression, SHARED)).as(expression).isEqualTo(Verdict.TRUE);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "\"%s-%d\".format([device.attributes[\"gpu.partita.dev\"].model, device.attributes[\"gpu.partita.dev\"].index]) == \"h200-0\"",
        "strings.quote('two \\a\\n \"x\" \\\\') == '\"two \\\\a\\\\n \\\\\"x\\\\\" \\\\\\\\\"' && strings.quote('é\\u0001') == '\"é\\u0001\"'",
        "string(1e6) == '1e+06' && string(1.0) == '1' && string(-0.0) == '-0' && string(duration('1500ms')) == '1.5s'",
        "string(timestamp('2023-02-03T23:31:20.120Z')) == '2023-02-03T23:31:20.12Z' && string(1u) == '1'",
      })
  void otherTextsAreKubernetesOwn(String expression) {
    assertThat(selectors.compileError(expression)).as(expression).isEmpty();
    assertThat(selectors.evaluate(expression, SHARED)).as(expression).isEqualTo(Verdict.TRUE);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "%a | 1 | no clause %a",
        "%E | 0.5 | no clause %E",
        "%d %d %d | 0, 1 | more clauses than values",
        "x% | 1 | ends within a clause",
        "%.3 | 1.0 | ends within a clause",
        "%.f | 1.0 | precision",
        "%.99999999999f | 1.0 | precision",
        "%b | 'abc' | takes no string",
        "%d | duration('30m2s') | takes no google.protobuf.Duration",
        "%d | 1.5 | takes no double",
        "%o | 'a' | takes no string",
        "%x | 0.5 | takes no double",
        "%f | 1 | takes no int",
        "%f | '1.5' | takes no string",
        "%e | true | takes no bool",
        "%s | quantity('1Gi') | no text for a KubernetesQuantity",
        "%s | [optional.of(1)] | no text",
        "%s | b'\\xff' | no UTF-8",
      })
  void whatCannotBeFormattedIsSaid(String format, String values, String reason) {
    String expression = "\"%s\".format([%s]) == \"\"".formatted(format, values);
    assertThat(selectors.compileError(expression)).as(expression).isEmpty();
    assertThat(selectors.evaluate(expression, SHARED))
        .as(expression)
        .isInstanceOfSatisfying(Verdict.Failed.class, failed -> assertThat(failed.error()).contains(reason));
  }
}
