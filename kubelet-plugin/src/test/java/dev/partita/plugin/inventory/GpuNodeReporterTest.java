package dev.partita.plugin.inventory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.partita.api.node.GpuNode;
import dev.partita.api.node.GpuNodeSpec;
import dev.partita.plugin.kube.ApiCalls;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.server.mock.EnableKubernetesMockClient;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

@EnableKubernetesMockClient(crud = true)
class GpuNodeReporterTest {
  @SuppressWarnings("NullAway.Init") // set by the extension
  KubernetesClient client;

  @Test
  void theSpecIsNotGuessedButWaitedFor() {
    GpuNodeSpec spec = new GpuNodeSpec(GpuNodeSpec.Allocator.Controller, List.of(), null, 200);
    GpuNode node = new GpuNode();
    node.setMetadata(new ObjectMetaBuilder().withName("node-w").build());
    node.setSpec(spec);
    client.resource(node).create();
    try (GpuNodeReporter reporter =
        new GpuNodeReporter(client, ApiCalls.standard(), "node-w", Optional.empty(), Optional.empty(),
            Clock.systemUTC())) {
      assertThatThrownBy(() -> reporter.spec(Duration.ZERO))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("GpuNode node-w has not been read yet")
          .hasMessageContaining("kubelet tries again");
      reporter.start();
      assertThat(reporter.spec(Duration.ofMinutes(1))).isEqualTo(spec);
    }
  }

  @Test
  void theSpecIsKnownOnceTheNodeHasBeenMade() {
    try (GpuNodeReporter reporter =
        new GpuNodeReporter(client, ApiCalls.standard(), "node-v", Optional.empty(), Optional.empty(),
            Clock.systemUTC())) {
      reporter.report(new Inventory.NoCards(NodeReason.NoDriver, "none"), List.of());
      assertThat(reporter.spec(Duration.ZERO)).isEqualTo(GpuNodeSpec.DEFAULT);
    }
  }
}
