package dev.partita.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.partita.cli.cluster.install.PartitaRelease;
import dev.partita.cli.command.CommandFailure;
import dev.partita.cli.command.CommandRun;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;

class UpCommandTest {
  /** Whoever has set up a provider, or removed the cluster that is up, would only then learn of it. */
  @Test
  void theCardsAreLookedAtBeforeAProviderIsLookedFor() {
    CommandRun run = CommandRun.of("cluster", "up", "--provider", "lab", "--gpus", "foo");
    assertThat(run.err()).as("the program that knows cards, which the tests have nowhere")
        .contains("partita-sim-driver is missing");
  }

  /** After minutes there would be a cluster, without Partita. */
  @Test
  void valuesThatTheChartDoesNotTakeAreRefusedWithoutACluster() {
    Path chart = Path.of("../deploy/helm/partita");
    Map<String, Object> own = UpCommand.chartValues("h200x4", "registry.example/partita", "2026");
    assertThatCode(() -> PartitaRelease.check(chart, own, Map.of("controller.replicas", 2))).doesNotThrowAnyException();
    assertThatThrownBy(() -> PartitaRelease.check(chart, own, Map.of("controller.replicas", "two")))
        .isInstanceOfSatisfying(CommandFailure.class, failure -> assertThat(failure.exitStatus()).isEqualTo(2))
        .hasMessageContaining("at '/controller/replicas': got string, want integer");
  }
}
