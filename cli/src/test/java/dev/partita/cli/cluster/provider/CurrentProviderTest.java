package dev.partita.cli.cluster.provider;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.partita.cli.checkout.Progress;
import dev.partita.cli.cluster.install.ClusterIdentity;
import dev.partita.cli.command.CommandFailure;
import dev.partita.cli.command.PaperCluster;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CurrentProviderTest {
  private static ClusterRecord.Access up(Path folder) {
    return CurrentProvider.from(Map.of("KUBECONFIG", folder.resolve("kubeconfig").toString()))
        .up(2, Optional.empty(), new Progress(new PrintWriter(new StringWriter()), InstantSource.system()));
  }

  @Test
  void itIsRecordedWhichClusterItIsBeforeAnythingIsInstalled(@TempDir Path folder) throws IOException {
    try (PaperCluster cluster = new PaperCluster(folder)) {
      String uid = cluster.client()
          .resource(new NamespaceBuilder().withNewMetadata().withName("kube-system").endMetadata().build()).create()
          .getMetadata().getUid();
      ClusterRecord.Access access = up(folder);
      assertThat(access.kubeconfig()).isEqualTo(folder.resolve("kubeconfig").toString());
      assertThat(access.cluster()).isEqualTo(new ClusterIdentity(uid, "paper"));
    }
  }

  @Test
  void aClusterThatCouldNotBeKnownAgainIsNotUsed(@TempDir Path folder) throws IOException {
    try (PaperCluster cluster = new PaperCluster(folder)) {
      assertThat(cluster.client().namespaces().list().getItems()).isEmpty();
      assertThatThrownBy(() -> up(folder)).isInstanceOf(CommandFailure.class)
          .hasMessage("the cluster has no namespace kube-system, whose UID tells it from others");
    }
  }
}
