package dev.partita.cli.output;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

class OutputOptionTest {
  /** As in TableTest, and one beyond the first plane. */
  @ParameterizedTest
  @ValueSource(
      strings = {"\u009b", "\u0085", "\u202e", "\u2066", "\u2028", "\u200b", "\u007f", "\u001b[2J", "\udb40\udc01"})
  void jsonHasNothingThatMovesTextAndSaysItAll(String moving) throws JsonProcessingException {
    Map<String, String> document = Map.of("a" + moving, "é 卡 " + moving + "\\u009b");
    OutputOption output = new OutputOption();
    new CommandLine(CommandLine.Model.CommandSpec.create().addMixin("output",
        CommandLine.Model.CommandSpec.forAnnotatedObject(output))).parseArgs("-o", "json");
    String json = output.text(document, () -> "a table");
    assertThat(json.lines()).hasSize(3).noneMatch(line -> line.codePoints().anyMatch(OutputOptionTest::moves))
        .anyMatch(line -> line.contains("é 卡"));
    assertThat(new ObjectMapper().readTree(json)).isEqualTo(new ObjectMapper().valueToTree(document));
  }

  private static boolean moves(int character) {
    return !Printable.text(Character.toString(character) + ".").equals(Character.toString(character) + ".");
  }
}
