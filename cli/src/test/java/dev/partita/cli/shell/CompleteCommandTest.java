package dev.partita.cli.shell;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.cli.Partita;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

class CompleteCommandTest {
  private static List<String> complete(String... words) {
    StringWriter out = new StringWriter();
    CommandLine line = Partita.commandLine().setOut(new PrintWriter(out, true));
    List<String> arguments = new ArrayList<>(List.of("__complete", "--"));
    arguments.addAll(List.of(words));
    assertThat(line.execute(arguments.toArray(String[]::new))).isZero();
    return out.toString().lines().toList();
  }

  @Test
  void commandsAreCompleted() {
    assertThat(complete("to")).containsExactly("top", ":4");
    assertThat(complete("")).contains("top", "web", "resize").doesNotContain("__complete").endsWith(":4");
  }

  @Test
  void aCommandsOwnCommandsAndOptionsAreCompleted() {
    assertThat(complete("top", "g")).contains("gpus", ":4");
    assertThat(complete("top", "gpus", "--so")).containsExactly("--sort-by", ":4");
  }

  @Test
  void whereNothingMayStandNothingIsSaid() {
    assertThat(complete("top", "gpus", "--nothing")).containsExactly(":4");
  }
}
