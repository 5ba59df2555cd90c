package dev.partita.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.cli.command.CommandRun;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PartitaTest {
  @Test
  void aCommandIsReadWithoutTheOthers() {
    assertThat(Partita.commandLineFor("top", "gpus").getSubcommands()).containsOnlyKeys("top");
  }

  /** The command behind them would not read them, and ask another cluster than the one that is named. */
  @ParameterizedTest
  @ValueSource(strings = {"top --context there gpus", "simulate --snapshot monday.json fits"})
  void optionsBeforeACommandThatDoesNotReadThemAreRefused(String line) {
    CommandRun run = CommandRun.of(line.split(" ", -1));
    assertThat(run.status()).isEqualTo(2);
    assertThat(run.err().lines()).singleElement().asString().startsWith("partita: ")
        .contains(line.split(" ", -1)[1] + " must stand behind '" + line.split(" ", -1)[3] + "'");
  }

  @Test
  void helpIsGivenOfTheCommandThatIsAskedForIt() {
    assertThat(CommandRun.of("top", "--help", "gpus").status()).isZero();
    assertThat(CommandRun.of("top", "gpus", "--help").out()).contains("A row a card");
  }

  @ParameterizedTest
  @ValueSource(strings = {"completion", "man", "--help", "tpo", ""})
  void whatTellsAboutAllCommandsKnowsAll(String argument) {
    assertThat(Partita.commandLineFor(argument).getSubcommands())
        .containsOnlyKeys(Partita.commandLine().getSubcommands().keySet()).containsKeys("top", "web", "man");
    assertThat(Partita.commandLineFor().getSubcommands()).hasSizeGreaterThan(10);
  }
}
