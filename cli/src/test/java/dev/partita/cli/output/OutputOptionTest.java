package dev.partita.cli.output;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.yaml.snakeyaml.Yaml;
import picocli.CommandLine;

class OutputOptionTest {
  /** As in PrintableTest, and one beyond the first plane. */
  static Stream<String> moving() {
    return Stream.of("\u009b", "\u0085", "\u202e", "\u2066", "\u2028", "\u200b", "\u007f", "\u001b[2J",
        "\udb40\udc01");
  }

  @ParameterizedTest
  @MethodSource("moving")
  void jsonHasNothingThatMovesTextAndSaysItAll(String moving) throws JsonProcessingException {
    Map<String, String> document = Map.of("a" + moving, "é 卡 " + moving + "\\u009b");
    String json = text("json", document);
    assertThat(json.lines()).hasSize(3).noneMatch(line -> line.codePoints().anyMatch(OutputOptionTest::moves))
        .anyMatch(line -> line.contains("é 卡"));
    assertThat(new ObjectMapper().readTree(json)).isEqualTo(new ObjectMapper().valueToTree(document));
  }

  @ParameterizedTest
  @MethodSource("moving")
  void yamlHasNothingThatMovesTextAndSaysItAll(String moving) {
    Map<String, Object> document = Map.of("a" + moving, "é 卡 " + moving + "\\u009b", "of lines",
        List.of("\\x\n" + moving + "\n"), "legible", "one\ntwo\n");
    String yaml = text("yaml", document);
    assertThat(yaml.lines()).noneMatch(line -> line.codePoints().anyMatch(OutputOptionTest::moves))
        .anyMatch(line -> line.contains("é 卡")).contains("  one", "  two");
    assertThat(new Yaml().<Object>load(yaml)).isEqualTo(document);
  }

  private static String text(String format, Object document) {
    OutputOption output = new OutputOption();
    new CommandLine(CommandLine.Model.CommandSpec.create().addMixin("output",
        CommandLine.Model.CommandSpec.forAnnotatedObject(output))).parseArgs("-o", format);
    return output.text(document, () -> "a table");
  }

  private static boolean moves(int character) {
    return !Printable.text(Character.toString(character) + ".").equals(Character.toString(character) + ".");
  }
}
