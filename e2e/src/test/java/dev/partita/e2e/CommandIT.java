package dev.partita.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.e2e.cluster.OnRealCluster;
import dev.partita.e2e.cluster.PartitaCommand.Outcome;
import dev.partita.e2e.cluster.PartitaCommand;
import dev.partita.e2e.cluster.RealCluster;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code ./partita cluster}: what cannot work is one line and exit status 2, and nothing is made. */
@OnRealCluster
class CommandIT {
  private static void refused(Outcome outcome, String... said) {
    assertThat(outcome.status()).as(outcome.err()).isEqualTo(2);
    assertThat(outcome.err().strip().lines()).singleElement().asString().startsWith("partita: ").contains(said);
    assertThat(outcome.out()).isEmpty();
  }

  private static PartitaCommand elsewhere(RealCluster cluster, Path folder) {
    return new PartitaCommand(cluster.home(), Map.of("PARTITA_STATE", folder.resolve("state").toString()));
  }

  @Test
  void anUnknownProfileOrAMalformedCountIsRefusedWithTheOnesThereAre(RealCluster cluster, @TempDir Path folder) {
    PartitaCommand fresh = elsewhere(cluster, folder);
    refused(fresh.run("cluster", "up", "--provider", "current", "--gpus", "voodoo2x4"), "voodoo2", "h200", "t4");
    refused(fresh.run("cluster", "up", "--provider", "current", "--gpus", "h200x0"), "h200x0");
    refused(fresh.run("cluster", "up", "--provider", "current", "--gpus", "h200x17"), "h200x17");
    refused(fresh.run("cluster", "up", "--nodes", "0"), "--nodes");
    assertThat(folder.resolve("state")).doesNotExist();
  }

  @Test
  void aSecondClusterInTheSameStateFolderIsRefused(RealCluster cluster) {
    refused(cluster.command().run("cluster", "up"), "already up", "cluster down");
  }

  @Test
  void aStateFolderThatCannotBeOneIsRefused(RealCluster cluster, @TempDir Path folder) throws IOException {
    Path file = Files.createFile(folder.resolve("file"));
    PartitaCommand command =
        new PartitaCommand(cluster.home(), Map.of("PARTITA_STATE", file.toString(), "KUBECONFIG", file.toString()));
    refused(command.run("cluster", "up", "--provider", "current"), "PARTITA_STATE");
  }

  @Test
  void aProviderThatIsNotThereIsRefusedWithWhatToSet(RealCluster cluster, @TempDir Path folder) {
    PartitaCommand fresh = elsewhere(cluster, folder);
    refused(fresh.run(Map.of("KUBE_LAB", ""), "cluster", "up", "--provider", "lab"), "KUBE_LAB");
    refused(fresh.run(Map.of("KUBE_LAB", "/nonexistent"), "cluster", "up", "--provider", "lab"), "/nonexistent");
    refused(fresh.run(Map.of("KUBECONFIG", "/nonexistent"), "cluster", "up", "--provider", "current"), "KUBECONFIG");
    refused(fresh.run("cluster", "up", "--provider", "cloud"), "cloud");
  }

  @Test
  void aClusterThatHasPartitaAlreadyIsNotGivenASecondOne(RealCluster cluster, @TempDir Path folder) {
    Outcome again =
        elsewhere(cluster, folder).run(cluster.kubeconfigEnvironment(), "cluster", "up", "--provider", "current");
    assertThat(again.status()).as(again.err()).isEqualTo(2);
    assertThat(again.err()).contains("already installed");
  }

  @Test
  void withoutAClusterThereIsNothingToPointAtAndNothingToTakeDown(RealCluster cluster, @TempDir Path folder) {
    PartitaCommand fresh = elsewhere(cluster, folder);
    refused(fresh.run("cluster", "env"), "no cluster is up");
    refused(fresh.run("cluster", "load", "image.tar"), "no cluster is up");
    assertThat(fresh.run("cluster", "down").status()).isZero();
  }

  @Test
  void misspeltCommandsAreRefusedAndHelpShowsExamples(RealCluster cluster) {
    refused(cluster.command().run("cluser"), "cluser");
    refused(cluster.command().run("cluster", "upp"), "upp");
    for (String command : List.of("up", "env", "load", "down")) {
      Outcome help = cluster.command().run("cluster", command, "--help");
      assertThat(help.status()).isZero();
      assertThat(help.out()).contains("Usage: partita cluster " + command).contains("Example");
    }
  }
}
