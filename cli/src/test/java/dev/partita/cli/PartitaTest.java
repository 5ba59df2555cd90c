package dev.partita.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PartitaTest {
  @Test
  void aCommandIsReadWithoutTheOthers() {
    assertThat(Partita.commandLineFor("top", "gpus").getSubcommands()).containsOnlyKeys("top");
  }

  @ParameterizedTest
  @ValueSource(strings = {"completion", "man", "--help", "tpo", ""})
  void whatTellsAboutAllCommandsKnowsAll(String argument) {
    assertThat(Partita.commandLineFor(argument).getSubcommands())
        .containsOnlyKeys(Partita.commandLine().getSubcommands().keySet()).containsKeys("top", "web", "man");
    assertThat(Partita.commandLineFor().getSubcommands()).hasSizeGreaterThan(10);
  }
}
