package dev.partita.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.partita.api.node.GpuNode;
import dev.partita.cli.checkout.Progress;
import dev.partita.cli.cluster.install.ClusterIdentity;
import dev.partita.cli.cluster.provider.ClusterRecord;
import dev.partita.cli.cluster.provider.ProviderName;
import dev.partita.cli.cluster.provider.StateFolder;
import dev.partita.cli.command.CommandFailure;
import dev.partita.cli.command.PaperCluster;
import dev.partita.controller.fleet.PaperFleet;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DownCommandTest {
  @TempDir private Path folder;
  private Path kubeconfig;
  private StateFolder state;

  @BeforeEach
  void name() {
    kubeconfig = folder.resolve("kubeconfig");
    state = StateFolder.of(Map.of("PARTITA_STATE", folder.toString()));
  }

  private ClusterRecord recordOf(ClusterIdentity cluster) {
    return new ClusterRecord(ProviderName.CURRENT, Map.of("KUBECONFIG", kubeconfig.toString()), "partita-system",
        "h200x4", Instant.EPOCH, new ClusterRecord.Access(kubeconfig.toString(), List.of(), cluster));
  }

  private void remove(ClusterRecord record) {
    DownCommand.remove(record, state, new Progress(new PrintWriter(new StringWriter()), InstantSource.system()));
  }

  private void assertRefused(ClusterRecord record, String why) {
    assertThatThrownBy(() -> remove(record))
        .isInstanceOfSatisfying(CommandFailure.class, failure -> assertThat(failure.exitStatus()).isEqualTo(2))
        .hasMessage(why);
  }

  /** A cluster with a GpuNode; the context of the kubeconfig that leads to it is {@code paper}. */
  private PaperCluster cluster() throws IOException {
    PaperCluster cluster = new PaperCluster(folder);
    cluster.client().resource(new NamespaceBuilder().withNewMetadata().withName("kube-system").endMetadata().build())
        .create();
    cluster.add(PaperFleet.node("n", 1));
    return cluster;
  }

  private static void assertWhole(PaperCluster cluster) {
    assertThat(cluster.client().resources(GpuNode.class).list().getItems()).hasSize(1);
    assertThat(cluster.client().apiextensions().v1().customResourceDefinitions().list().getItems()).hasSize(2);
  }

  @Test
  void aKubeconfigThatIsGoneIsSaidWithTheWayOut() {
    assertRefused(recordOf(new ClusterIdentity("uid", "paper")),
        kubeconfig + " is gone, by which Partita would be removed: put it back or, if the cluster is gone too, delete "
            + state.recordFile());
  }

  @Test
  void anotherClusterThanTheOneOfUpIsLeftAlone() throws IOException {
    try (PaperCluster production = cluster()) {
      String begin = "context 'paper' of " + kubeconfig + " leads to another cluster than 'cluster up' used: ";
      String end = " or, if that cluster is gone, delete " + state.recordFile();
      assertRefused(recordOf(new ClusterIdentity("uid-of-test", "test")),
          begin + "go back to that by 'kubectl --kubeconfig " + kubeconfig + " config use-context test'" + end);
      assertRefused(recordOf(new ClusterIdentity("uid-of-test", "paper")), begin + "have it lead there again" + end);
      assertWhole(production);
    }
  }

  @Test
  void aRecordThatDoesNotSayWhichClusterItIsOfIsNotFollowed() throws IOException {
    try (PaperCluster cluster = cluster()) {
      Files.writeString(state.recordFile(), """
          {"provider": "CURRENT", "details": {"KUBECONFIG": "%1$s"}, "namespace": "partita-system", "gpus": "h200x4",
           "startedAt": 1767323045.0, "access": {"kubeconfig": "%1$s", "path": []}}
          """.formatted(kubeconfig));
      assertRefused(state.read().orElseThrow(),
          state.recordFile() + " is of an earlier version, and does not say to which cluster " + kubeconfig
              + " led: uninstall Partita there as docs/operate/upgrade.md says, and delete that file");
      assertWhole(cluster);
    }
  }

  @Test
  void theClusterOfUpIsKnownAgainUnderAnotherContext() throws IOException {
    try (PaperCluster cluster = cluster()) {
      String uid = cluster.client().namespaces().withName("kube-system").get().getMetadata().getUid();
      assertThatCode(() -> remove(recordOf(new ClusterIdentity(uid, "renamed")))).doesNotThrowAnyException();
      assertThat(cluster.client().resources(GpuNode.class).list().getItems()).isEmpty();
    }
  }
}
