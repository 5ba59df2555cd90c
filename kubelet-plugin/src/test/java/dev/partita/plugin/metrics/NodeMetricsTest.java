package dev.partita.plugin.metrics;

import static dev.partita.plugin.grant.Grants.GIB;
import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.gpu.Gpu;
import dev.partita.api.gpu.GpuHealth;
import dev.partita.api.gpu.GpuProduct;
import dev.partita.api.gpu.GpuTopology;
import dev.partita.api.gpu.OpaqueKind;
import dev.partita.api.node.GpuNodeSpec;
import dev.partita.plugin.checkpoint.Checkpoint;
import dev.partita.plugin.claim.CdiName;
import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.claimread.ClaimReader;
import dev.partita.plugin.grant.BookedShare;
import dev.partita.plugin.grant.CardIdentity;
import dev.partita.plugin.grant.ClaimRef;
import dev.partita.plugin.grant.Grant;
import dev.partita.plugin.inventory.Inventory;
import dev.partita.plugin.inventory.NodeReason;
import dev.partita.plugin.kube.ApiCalls;
import dev.partita.plugin.nvml.CardSamples;
import dev.partita.plugin.opaque.OpaqueCards;
import dev.partita.plugin.podresources.ContainerRef;
import dev.partita.plugin.podresources.ProcessContainers;
import dev.partita.plugin.resize.Recalls;
import dev.partita.plugin.usage.UseTotals;
import dev.partita.plugin.xid.XidCounts;
import dev.partita.serving.access.MockApiServer;
import dev.partita.serving.metrics.Metrics;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@MockApiServer(crud = true)
class NodeMetricsTest {
  @TempDir @SuppressWarnings("NullAway.Init") Path root;

  @SuppressWarnings("NullAway.Init") // set by the extension
  KubernetesClient client;

  @Test
  void aContainerThatHasOpaqueCardsAloneIsToldOfAndCostsNobodysFigures() throws IOException {
    Gpu card = new Gpu(100, -1, "OPAQUE-1", GpuProduct.named("Instinct MI300X", "AMD", "", ""), 192 * GIB,
        GpuTopology.UNKNOWN, GpuHealth.HEALTHY).asOpaque(new OpaqueKind("AMD", "s1"));
    Grant grant = new Grant(List.of("gpu"), "gpu-100-opaque", Optional.of("a"), CardIdentity.of(card),
        new BookedShare(8 * GIB, 8 * GIB, 25));
    ClaimRef claim = new ClaimRef("lab", "half", "0b5e8a9e-0000-4000-8000-000000000001");
    Inventory node = new Inventory.Cards(new Inventory.NoCards(NodeReason.NoDriver, "there is none"), List.of(card),
        OpaqueCards.NONE);
    try (Checkpoint checkpoint = new Checkpoint(root.resolve("claims"), Clock.systemUTC())) {
      checkpoint
          .write(new PreparedClaim(claim, PreparedClaim.Phase.COMPLETED, "boot", List.of(grant), Map.of(), false));
      NodeMetrics.Containers containers = new NodeMetrics.Containers(
          () -> Map.of(CdiName.idOf(claim, grant), List.of(new ContainerRef("lab", "trainer", "main"))),
          new ProcessContainers(pid -> Optional.empty(), new ClaimReader(client, ApiCalls.standard()),
              InstantSource.system()));
      Metrics metrics = new Metrics();
      metrics.add(new NodeMetrics(
          new NodeMetrics.NodeState("node-x", () -> node, () -> GpuNodeSpec.DEFAULT, checkpoint,
              new NodeMetrics.Shares(Map::of, Map::of, new Recalls(InstantSource.system())), containers,
              new XidCounts(), () -> 0),
          new UseTotals(), Map::of, (uuid, newerThan) -> new CardSamples.Told(List.of()),
          Set.of(OtherNames.values()), InstantSource.system()));
      assertThat(metrics.text().lines().filter(line -> line.startsWith("partita_device_memory_limit_bytes{")))
          .singleElement().asString().contains("claim=\"half\"", "pod=\"trainer\"", "container=\"main\"");
    }
  }
}
