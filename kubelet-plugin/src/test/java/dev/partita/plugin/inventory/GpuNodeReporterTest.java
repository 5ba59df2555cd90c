package dev.partita.plugin.inventory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.partita.api.gpu.Gpu;
import dev.partita.api.gpu.GpuHealth;
import dev.partita.api.gpu.GpuProduct;
import dev.partita.api.gpu.GpuTopology;
import dev.partita.api.node.GpuNode;
import dev.partita.api.node.GpuNodeSpec;
import dev.partita.api.node.GpuNodeStatus;
import dev.partita.api.node.NodeSetup;
import dev.partita.plugin.kube.ApiCalls;
import dev.partita.serving.access.MockApiServer;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.server.mock.KubernetesMockServer;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

@MockApiServer(crud = true)
class GpuNodeReporterTest {
  @SuppressWarnings("NullAway.Init") // set by the extension
  KubernetesClient client;

  @SuppressWarnings("NullAway.Init") // set by the extension
  KubernetesMockServer server;

  private static final Inventory NO_DRIVER = new Inventory.NoCards(NodeReason.NoDriver, "none");
  private static final NodeSetup SETUP = new NodeSetup(2, "/var/run/cdi", null, false, "/opt/partita", null, true);

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
      reporter.report(NO_DRIVER, List.of(), SETUP);
      assertThat(reporter.spec(Duration.ZERO)).isEqualTo(GpuNodeSpec.DEFAULT);
    }
  }

  @Test
  void aNewNodeHasTheSpecThatItsLabelsSay() {
    client.resource(new NodeBuilder().withNewMetadata().withName("node-l")
        .addToLabels("gpu.partita.dev/allocator", "Scheduler").addToLabels("gpu.partita.dev/publish", "Whole.Mig")
        .endMetadata().build()).create();
    try (GpuNodeReporter reporter =
        new GpuNodeReporter(client, ApiCalls.standard(), "node-l", Optional.empty(), Optional.empty(),
            Clock.systemUTC())) {
      reporter.report(NO_DRIVER, List.of(), SETUP);
      assertThat(reporter.spec(Duration.ZERO)).isEqualTo(new GpuNodeSpec(GpuNodeSpec.Allocator.Scheduler,
          List.of(GpuNodeSpec.PublishedMode.Whole, GpuNodeSpec.PublishedMode.Mig), null));
    }
  }

  @Test
  void theCardsOfAnEarlierPluginAreKnownThoughTheServerFailsAtFirst() {
    Gpu gpu = new Gpu(1, 0, "GPU-1", GpuProduct.named("NVIDIA H200", "Nvidia", "Hopper", "9.0"), 141L << 30,
        GpuTopology.UNKNOWN, GpuHealth.HEALTHY);
    GpuNode node = new GpuNode();
    node.setMetadata(new ObjectMetaBuilder().withName("node-e").build());
    node.setStatus(new GpuNodeStatus(1, "1x h200", "580.1", "13.0", "old", "uid-old", List.of(gpu), List.of()));
    String path = "/apis/gpu.partita.dev/v1alpha1/gpunodes/node-e";
    server.expect().get().withPath(path).andReturn(503, "").once();
    server.expect().get().withPath(path).andReturn(200, node).always();
    try (GpuNodeReporter reporter =
        new GpuNodeReporter(client, ApiCalls.standard(), "node-e", Optional.empty(), Optional.empty(),
            Clock.systemUTC())) {
      assertThat(reporter.earlierCards()).extracting(Gpu::index).containsExactly(1);
    }
  }

  @Test
  void aFieldThatTheServerDropsIsNotWrittenAgainAndAgain() {
    AtomicInteger writes = new AtomicInteger();
    server.expect().put().withPath("/apis/gpu.partita.dev/v1alpha1/gpunodes/node-o/status").andReply(200, request -> {
      writes.incrementAndGet();
      GpuNode kept = Serialization.unmarshal(request.getUtf8Body(), GpuNode.class);
      kept.setStatus(kept.getStatus().withSetup(null)); // as the custom resource of an earlier release has it
      return kept;
    }).always();
    try (GpuNodeReporter reporter =
        new GpuNodeReporter(client, ApiCalls.standard(), "node-o", Optional.empty(), Optional.empty(),
            Clock.systemUTC())) {
      reporter.report(NO_DRIVER, List.of(), SETUP);
      reporter.report(NO_DRIVER, List.of(), SETUP);
      assertThat(writes).hasValue(1);
      reporter.report(NO_DRIVER, List.of(),
          new NodeSetup(2, "/var/run/cdi", "the plugin may not write there", false, "/opt/partita", null, true));
      assertThat(writes).hasValue(2);
    }
  }
}
