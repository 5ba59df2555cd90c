package dev.partita.e2e.outside;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.e2e.cluster.Ask;
import dev.partita.e2e.cluster.Cleanup;
import dev.partita.e2e.cluster.Controllers;
import dev.partita.e2e.cluster.OnRealCluster;
import dev.partita.e2e.cluster.PaperNode;
import dev.partita.e2e.cluster.PodTraits;
import dev.partita.e2e.cluster.PodUnderTest;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.Workspace;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/** Karpenter adds nodes for pods with claims of ours, as the page says that tells how to autoscale. */
@OnRealCluster
@Isolated
class KarpenterIT {
  private static final String SETTING = "PARTITA_AUTOSCALED_NODES";

  @TempDir Path folder;

  @Test
  void nodesAreAddedFromZeroForClaimsThatNoNodeHasRoomForAndTheClaimsAreAllocatedThere(
      RealCluster cluster,
      Workspace workspace) {
    Controllers controllers = new Controllers(cluster);
    try (Cleanup cleanup = new Cleanup()) {
      cleanup.undo("the setting", () -> controllers.set(SETTING, Optional.empty()));
      controllers.set(SETTING, Optional.of("true"));
      Karpenter karpenter = Karpenter.start(cluster, cluster.nodes().getFirst(), folder);
      cleanup.undo("Karpenter", karpenter::close);

      PodUnderTest first = share(workspace, karpenter, "share-0");
      first.awaitGates().awaitCondition("PodScheduled", "Unschedulable");
      GenericKubernetesResource added = karpenter.awaitNodeClaims(1);
      assertThat(added.getMetadata().getLabels()).containsEntry("node.kubernetes.io/instance-type",
          Karpenter.WITH_CARDS);
      assertThat(added.getMetadata().getAnnotations()).containsValue("gpu.partita.dev");
      String node = karpenter.node(added).orElseThrow();
      PaperNode machine = PaperNode.adopt(cluster.client(), node, RealCluster.CARDS);
      cleanup.undo("the machine of the node", machine::close);
      first.awaitBound();
      assertThat(first.claim().devices()).singleElement()
          .satisfies(device -> assertThat(device.getPool()).isEqualTo(node + "/gpu"));
      karpenter.awaitCondition(added, "Initialized", "True", "Initialized");

      for (int i = 1; i < RealCluster.CARDS; i++) {
        share(workspace, karpenter, "share-" + i).awaitBound();
      }
      assertThat(karpenter.nodeClaims()).as("the node had room for them").hasSize(1);

      pod(workspace, karpenter, "whole", Ask.wholeCards(1)).awaitGates();
      workspace.awaitEvent("Pod", "whole", "Nominated", node); // though shares are on all of its cards
      pod(workspace, karpenter, "huge", Ask.share("200Gi")).awaitGates();
      workspace.awaitEvent("Pod", "huge", "FailedScheduling", "Failed to schedule pod");
      assertThat(karpenter.nodeClaims()).hasSize(1);

      PodUnderTest more = share(workspace, karpenter, "more");
      more.awaitGates();
      GenericKubernetesResource second = karpenter.awaitNodeClaims(2);
      assertThat(karpenter.node(second)).isNotEqualTo(Optional.of(node));
    }
  }

  /** Larger than half a card, so that each has a card for itself. */
  private static PodUnderTest share(Workspace workspace, Karpenter karpenter, String name) {
    return pod(workspace, karpenter, name, Ask.share("100Gi"));
  }

  private static PodUnderTest pod(Workspace workspace, Karpenter karpenter, String name, Ask ask) {
    return workspace.pod(name, karpenter.onItsNodes().gate(PodTraits.ALLOCATION_GATE), ask, "true");
  }
}
