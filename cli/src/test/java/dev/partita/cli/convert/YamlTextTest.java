package dev.partita.cli.convert;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.partita.cli.output.YamlWriter;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.yaml.snakeyaml.error.YAMLException;

class YamlTextTest {
  @Test
  void valuesAreWhatKubectlReads() {
    Object read =
        YamlText.read("[0644, yes, off, 12:30, 12:30:45, 2020-01-01, 1.5, 1e3, 0x1f, ~, \"1\", v1.2, 1_000, a: b]"
            .replace("a: b", "{a: b}"));

    assertThat(read)
        .isEqualTo(
            java.util.Arrays.asList(
                420, true, false, "12:30", "12:30:45", "2020-01-01", 1.5, 1000.0, 31, null, "1", "v1.2", 1000,
                Map.of("a", "b")));
  }

  @Test
  void octalNumbersMayBeWrittenAsYaml12HasThem() {
    assertThat(YamlText.read("[0o644, -0o17, +0o7, 0o1_0, 08]")).isEqualTo(List.of(420, -15, 7, 8, 8.0));
  }

  /** As kubectl does, which takes a document that begins with a brace for JSON first. */
  @Test
  void jsonMayBeIndentedByTabs() {
    assertThat(YamlText.read("\n{\n\t\"a\": [1, 1.5, true, null],\n\t\"b\": \"\\u0041\\/\u007f\"\n}\n"))
        .isEqualTo(Map.of("a", java.util.Arrays.asList(1, 1.5, true, null), "b", "A/\u007f"));
    assertThat(YamlText.read("{a: b}")).isEqualTo(Map.of("a", "b"));
    assertThatThrownBy(() -> YamlText.read("{\"a\": 1, \"a\": 2}")).isInstanceOf(YAMLException.class)
        .hasMessageContaining("duplicate key");
  }

  @ParameterizedTest
  @ValueSource(strings = {"a: {{ .Values.a }}", "{{ .Values.a }}: b", "? [a]\n: b", "a: [{{a: b}: c}]"})
  void aKeyThatIsNoScalarIsRefused(String text) {
    assertThatThrownBy(() -> YamlText.read(text)).isInstanceOf(YAMLException.class)
        .hasMessageContaining("a key is a mapping or a list");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "yes", "y", "N", "on", "true", "null", "~", "", "1", "0644", "0o17", "1e3", "1_000", "12:30", "2020-01-01",
        "0x1f", ".5", "1.5", "-1",
        " space ", "# no comment", "a: b", "- a", "*a", "&a", "!a", "%a", "@a", "`a", "{a", "[a", "\"", "'", "=", "<<",
        "a\tb", "a\u0000b", "a\nb\n", "\na  \nb",
        "  a\n b\n\n", "\u0085", "\u202e", "\udb40\udc01\n", "\uD83D\uDE00", "---", "...", "1Gi", ".inf", "NaN"
      })
  void stringsStayStrings(String value) {
    String text = YamlWriter.write(Map.of("k", List.of(value)));

    assertThat(YamlText.read(text)).isEqualTo(Map.of("k", List.of(value)));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"yes", "y", "n", "on", "0644", "0o17", "12:30:45", "2020-01-01", "1e3", "1_000", "~", "null", "0x1f"})
  void whatAnyReaderCouldTakeForSomethingElseIsQuoted(String value) {
    assertThat(YamlWriter.write(Map.of("k", value))).isIn("k: '" + value + "'\n", "k: \"" + value + "\"\n");
  }

  @Test
  void scriptsStayLegible() {
    assertThat(YamlWriter.write(Map.of("k", "set -e\nrun it\n"))).isEqualTo("k: |\n  set -e\n  run it\n");
  }
}
