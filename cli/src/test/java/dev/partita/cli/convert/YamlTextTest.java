package dev.partita.cli.convert;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import dev.partita.cli.output.YamlWriter;
import java.time.Duration;
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

  @Test
  void aSchemaMayBeDeepAndAListMayHaveAnAliasInEveryItem() {
    assertThat(YamlText.read("[".repeat(500) + "]".repeat(500))).isInstanceOf(List.class);
    String list = "- &id001 {limits: {nvidia.com/gpu: 1}}\n" + "- *id001\n".repeat(1000);
    assertThat((List<?>) YamlText.read(list)).hasSize(1001)
        .allMatch(Map.of("limits", Map.of("nvidia.com/gpu", 1))::equals);
  }

  @Test
  void aFewLinesThatStandForMoreThanAnyMemoryHoldsAreRefused() {
    StringBuilder lists = new StringBuilder("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    StringBuilder merges = new StringBuilder("a0: &a0 {k: v}\n");
    for (int i = 1; i < 60; i++) {
      lists.append("a%d: &a%d [%s*a%d]\n".formatted(i, i, "*a%d, ".formatted(i - 1).repeat(8), i - 1));
      merges.append("a%d: &a%d {<<: [*a%d, *a%d]}\n".formatted(i, i, i - 1, i - 1));
    }
    String text = "a: &a " + "x".repeat(1 << 20) + "\nb: [" + "*a, ".repeat(100_000) + "*a]\n";
    for (String bomb : List.of(lists.toString(), merges.toString(), text)) {
      assertThatThrownBy(() -> YamlText.read(bomb)).isInstanceOf(YAMLException.class)
          .hasMessageContaining("its aliases stand for more than 16 MiB");
    }
    assertThatThrownBy(() -> YamlText.read("[".repeat(100_000))).isInstanceOf(YAMLException.class);
  }

  @Test
  void aLineThatTakesTheParserLongIsRefused() {
    assertThat(YamlText.read("a: " + "x".repeat(1 << 20))).isEqualTo(Map.of("a", "x".repeat(1 << 20)));
    String many = "x".repeat(3 << 20);
    for (String text : List.of("a: " + many, "? " + many + "\n: v", many + ": v", "a: \"" + many + "\"", "# " + many,
        "a: |\n  " + many, "a: b\n" + " ".repeat(3 << 20) + "c: d", "{\"" + many + "\": 1")) {
      assertThatThrownBy(() -> YamlText.read(text)).as(text.substring(0, 9)).isInstanceOf(YAMLException.class)
          .hasMessage("it has a line of more than 2 MiB");
    }
    assertThat(YamlText.read("{\"a\": \"" + many + "\"}")).as("JSON").isEqualTo(Map.of("a", many));
  }

  @Test
  void whatAliasesStandForCountsAsDeepAsItIsWrittenOut() {
    assertThat(YamlText.read(aliased(500, 499))).isInstanceOf(List.class);
    assertThat(YamlText.read("[".repeat(1000) + "x" + "]".repeat(1000))).isInstanceOf(List.class);
    StringBuilder chain = new StringBuilder("a0: &a0 [x]\n");
    StringBuilder merges = new StringBuilder("a0: &a0 {k: v}\n");
    for (int i = 1; i <= 40; i++) {
      chain.append("a%d: &a%d %s*a%d%s\n".formatted(i, i, "[".repeat(900), i - 1, "]".repeat(900)));
    }
    for (int i = 1; i <= 1200; i++) {
      merges.append("a%d: &a%d {<<: *a%d}\n".formatted(i, i, i - 1));
    }
    String written = "[".repeat(1002) + "]".repeat(1002);
    for (String deep : List.of(written, aliased(500, 500), chain.toString(), merges.toString())) {
      assertThatThrownBy(() -> YamlText.read(deep)).isInstanceOf(YAMLException.class)
          .hasMessage("Nesting Depth exceeded max 1000");
    }
  }

  /** A list in which an alias in as many lists stands for as many. */
  private static String aliased(int of, int around) {
    return "[&a %s%s, %s*a%s]".formatted("[".repeat(of), "]".repeat(of), "[".repeat(around), "]".repeat(around));
  }

  @Test
  void whatBeginsAsALongNumberIsReadInOneGo() {
    String list = ("- " + "1".repeat(1000) + "x\n").repeat(16 << 10);

    assertTimeoutPreemptively(Duration.ofSeconds(30), () -> YamlText.read(list));
  }

  @Test
  void whatHoldsItselfIsRefused() {
    assertThatThrownBy(() -> YamlText.read("a: &a {b: [*a]}")).isInstanceOf(YAMLException.class)
        .hasMessage("what &a stands for holds *a");
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
