package dev.partita.e2e;

import static org.awaitility.Awaitility.await;

import dev.partita.e2e.cluster.Ask;
import dev.partita.e2e.cluster.ChangesControllers;
import dev.partita.e2e.cluster.Cleanup;
import dev.partita.e2e.cluster.Controllers;
import dev.partita.e2e.cluster.Daemons;
import dev.partita.e2e.cluster.OnRealCluster;
import dev.partita.e2e.cluster.PaperNode;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.AllocatedMemory;
import dev.partita.e2e.cluster.Workspace;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.dsl.Resource;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Controllers that both believe that they lead. */
@OnRealCluster
@ChangesControllers
class TwoLeadersIT {
  private static final int CARDS = 6;

  /** Three shares of 40 GiB fit on a card, so that every card is fought for until all are full. */
  @Test
  void twoThatLeadAllTheTimeFillTheCardsAndAllocateNoneTwice(RealCluster cluster, Workspace workspace) {
    Controllers controllers = new Controllers(cluster);
    try (Cleanup cleanup = new Cleanup();
        PaperNode node = PaperNode.create(cluster.client(), workspace.namespace(), CARDS)) {
      Resource<Pod> another = controllers.another(workspace.namespace());
      cleanup.undo("its lease", () -> controllers.lease(workspace.namespace()).delete());
      cleanup.undo("another controller", () -> another.withGracePeriod(0).delete());
      another.create();
      another.waitUntilReady(Workspace.PATIENCE.toSeconds(), TimeUnit.SECONDS);
      await("it to lead").atMost(Workspace.PATIENCE)
          .until(() -> controllers.lease(workspace.namespace()).get() != null);
      new Daemons(cluster.client()).awaitSlices(node.name());

      for (int i = 0; i < 3 * CARDS; i++) {
        workspace.pod("load-" + i, node.name(), Ask.share("40Gi"), "true");
      }

      await("all claims to be allocated")
          .atMost(Workspace.PATIENCE)
          .until(() -> AllocatedMemory.of(workspace).fits().claims(), claims -> claims == 3 * CARDS);
      await("all pods to be bound").atMost(Workspace.PATIENCE)
          .until(() -> workspace.client().pods().inNamespace(workspace.namespace()).list().getItems().stream()
              .allMatch(pod -> node.name().equals(pod.getSpec().getNodeName())));
      AllocatedMemory.of(workspace).fits();
    }
  }
}
