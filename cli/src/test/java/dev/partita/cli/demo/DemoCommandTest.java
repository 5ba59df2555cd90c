package dev.partita.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import org.junit.jupiter.api.Test;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine;

class DemoCommandTest {
  @Test
  void helpSaysWhatIsRealWhatIsSimulatedAndHowToRunIt() {
    String help = new CommandLine(new DemoCommand()).getUsageMessage(CommandLine.Help.Ansi.OFF);

    assertThat(help).contains("Real here:", "Simulated:", "--isolation", "library-path", "--keep", "Exit status:",
        "partita demo");
  }

  @Test
  void anUnknownIsolationNamesTheKnownOnes() {
    CommandLine command = new CommandLine(new DemoCommand());

    assertThatExceptionOfType(ParameterException.class)
        .isThrownBy(() -> command.parseArgs("--isolation", "docker"))
        .withMessageContaining("'docker' is none of auto, namespaces, library-path");
  }

  @Test
  void everyIsolationIsReadAsItIsWritten() {
    for (Isolation isolation : Isolation.values()) {
      new CommandLine(new DemoCommand()).parseArgs("--isolation", isolation.toString());
    }
  }

  @Test
  void theCardsOfAnEventAreCounted() {
    assertThat(
        ClaimsAreAllocated.cardsExplained(
            "0 of 4 cards fit: 2 cards on node-b: has 44.9 GiB; 1 card on node-a: 68.4 GiB free; 1 card on node-a: has 80 GiB"))
        .isEqualTo(4);
  }
}
