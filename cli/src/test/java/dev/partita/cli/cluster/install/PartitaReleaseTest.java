package dev.partita.cli.cluster.install;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.cli.command.PaperCluster;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PartitaReleaseTest {
  @Test
  void onlyANamespaceThatWasMadeForItGoesWithIt(@TempDir Path folder) throws IOException {
    try (PaperCluster cluster = new PaperCluster(folder)) {
      cluster.client()
          .resource(new NamespaceBuilder().withNewMetadata().withName("tools").endMetadata().build()).create();
      for (String namespace : new String[]{"tools", "partita-system"}) {
        PartitaRelease release = new PartitaRelease(folder.resolve("kubeconfig"), namespace);
        release.makeNamespace(cluster.client());
        assertThat(cluster.client().namespaces().withName(namespace).get()).isNotNull();
        release.removeNamespace(cluster.client());
      }
      assertThat(cluster.client().namespaces().withName("tools").get()).isNotNull();
      assertThat(cluster.client().namespaces().withName("partita-system").get()).isNull();
    }
  }
}
