package dev.partita.e2e;

import static org.awaitility.Awaitility.await;

import dev.partita.e2e.cluster.Ask;
import dev.partita.e2e.cluster.ChangesControllers;
import dev.partita.e2e.cluster.Daemons;
import dev.partita.e2e.cluster.OnRealCluster;
import dev.partita.e2e.cluster.PaperNode;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.AllocatedMemory;
import dev.partita.e2e.cluster.Workspace;
import org.junit.jupiter.api.Test;

@OnRealCluster
@ChangesControllers
class ControllerRestartIT {
  private static final int CLAIMS = 30;

  /**
   * Three shares of 40 GiB fit on a card: 30 claims fit on 12 cards, and nothing may be allocated twice. How they are
   * packed is another matter: it also follows from what other tests' pods have asked for.
   */
  @Test
  void claimsThatComeWhileTheControllerRestartsAreAllAllocatedAndNoCardIsAllocatedTwice(
      RealCluster cluster,
      Workspace workspace) {
    try (PaperNode node = PaperNode.create(cluster.client(), workspace.namespace(), 12)) {
      Daemons daemons = new Daemons(cluster.client());
      daemons.awaitSlices(node.name());
      for (int i = 0; i < CLAIMS; i++) {
        workspace.pod("load-" + i, node.name(), Ask.share("40Gi").cores(30), "true");
        if (i == CLAIMS / 3) {
          daemons.killControllers();
        }
      }
      await("all claims to be allocated")
          .atMost(Workspace.PATIENCE)
          .until(() -> AllocatedMemory.of(workspace).fits().claims(), claims -> claims == CLAIMS);
      await("all pods to be bound").atMost(Workspace.PATIENCE)
          .until(() -> workspace.client().pods().inNamespace(workspace.namespace()).list().getItems().stream()
              .allMatch(pod -> node.name().equals(pod.getSpec().getNodeName())));
    }
  }
}
