package dev.partita.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.cli.command.CommandRun;
import org.junit.jupiter.api.Test;

class UpCommandTest {
  /** Whoever has set up a provider, or removed the cluster that is up, would only then learn of it. */
  @Test
  void theCardsAreLookedAtBeforeAProviderIsLookedFor() {
    CommandRun run = CommandRun.of("cluster", "up", "--provider", "lab", "--gpus", "foo");
    assertThat(run.err()).as("the program that knows cards, which the tests have nowhere")
        .contains("partita-sim-driver is missing");
  }
}
