package dev.partita.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.partita.e2e.cluster.Ask;
import dev.partita.e2e.cluster.ClaimUnderTest;
import dev.partita.e2e.cluster.Daemons;
import dev.partita.e2e.cluster.OnRealCluster;
import dev.partita.e2e.cluster.PaperNode;
import dev.partita.e2e.cluster.PodUnderTest;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.Workspace;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceRequestAllocationResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

@OnRealCluster
class ControllerRestartIT {
  private static final int CLAIMS = 30;
  private static final long SHARE = 40L << 30;

  /** Three shares of 40 GiB fit on a card: 30 claims take 10 of the 12 cards, and nothing may be sold twice. */
  @Test
  void claimsThatComeWhileTheControllerRestartsAreAllAllocatedAndNoCardIsSoldTwice(RealCluster cluster, Workspace workspace) {
    try (PaperNode node = PaperNode.create(cluster.client(), workspace.namespace(), 12)) {
      Daemons daemons = new Daemons(cluster.client());
      daemons.awaitSlices(node.name());
      List<PodUnderTest> pods = new ArrayList<>();
      for (int i = 0; i < CLAIMS; i++) {
        pods.add(workspace.pod("load-" + i, node.name(), Ask.share("40Gi").cores(30), "true"));
        if (i == CLAIMS / 3) {
          daemons.killControllers();
        }
      }
      List<ClaimUnderTest> claims = pods.stream().map(PodUnderTest::claim).toList();
      await("all claims to be allocated")
          .atMost(Duration.ofSeconds(90))
          .pollInterval(Duration.ofSeconds(1))
          .until(() -> claims.stream().noneMatch(claim -> claim.devices().isEmpty()));
      Map<String, Long> sold = new HashMap<>();
      for (ClaimUnderTest claim : claims) {
        DeviceRequestAllocationResult result = claim.devices().getFirst();
        sold.merge(result.getDevice(), SHARE, Long::sum);
      }
      assertThat(sold).hasSize(10).allSatisfy((card, bytes) -> assertThat(bytes).isLessThanOrEqualTo(RealCluster.CARD_MEMORY));
      await("all pods to be bound").atMost(Workspace.PATIENCE).until(() ->
          workspace.client().pods().inNamespace(workspace.namespace()).list().getItems().stream().allMatch(pod -> node.name().equals(pod.getSpec().getNodeName())));
    }
  }
}
