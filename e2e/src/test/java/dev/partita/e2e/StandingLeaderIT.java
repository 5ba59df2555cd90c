package dev.partita.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.partita.e2e.cluster.Ask;
import dev.partita.e2e.cluster.ChangesControllers;
import dev.partita.e2e.cluster.Cleanup;
import dev.partita.e2e.cluster.Controllers;
import dev.partita.e2e.cluster.Daemons;
import dev.partita.e2e.cluster.HeldWrites;
import dev.partita.e2e.cluster.OnRealCluster;
import dev.partita.e2e.cluster.PaperNode;
import dev.partita.e2e.cluster.PodTraits;
import dev.partita.e2e.cluster.PodUnderTest;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.AllocatedMemory;
import dev.partita.e2e.cluster.Workspace;
import io.fabric8.kubernetes.api.model.Pod;
import org.junit.jupiter.api.Test;

/**
 * A process that gets no processor for longer than its lease lasts, as on a node that swaps or a machine that is moved.
 */
@OnRealCluster
@ChangesControllers
class StandingLeaderIT {
  private static final int CARDS = 2;

  /** Three shares of 40 GiB fit on a card. The leader is stopped between a proposal and its allocation. */
  @Test
  void aLeaderThatStandsStillIsSucceededAndAllocatesNothingTwiceWhenItGoesOn(RealCluster cluster, Workspace workspace) {
    assumeTrue(cluster.lab().isPresent(), "its API server must reach this process");
    workspace.withoutAdmission();
    Controllers controllers = new Controllers(cluster);
    try (Cleanup cleanup = new Cleanup();
        PaperNode node = PaperNode.create(cluster.client(), workspace.namespace(), CARDS)) {
      new Daemons(cluster.client()).awaitSlices(node.name());
      cleanup.undo("a second controller", () -> controllers.scale(1));
      controllers.scale(2);
      Pod leader = controllers.awaitLeader();
      PodUnderTest begun;
      try (HeldWrites writes = HeldWrites.in(workspace)) {
        begun = share(workspace, node, "begun");
        await("what is proposed for it").atMost(Workspace.PATIENCE).until(() -> !begun.claim().proposal().isEmpty());
        controllers.stop(leader);
        cleanup.undo("its standstill", () -> controllers.goOn(leader));
        writes.holdNoMore();
        controllers.awaitAnotherLeader(leader);
      }
      begun.awaitBound();
      for (int i = 1; i < 3 * CARDS; i++) {
        share(workspace, node, "share-" + i);
      }
      await("all claims to be allocated").atMost(Workspace.PATIENCE)
          .until(() -> AllocatedMemory.of(workspace).fits().claims(), claims -> claims == 3 * CARDS);
      PodUnderTest waiting = share(workspace, node, "waiting");
      workspace.awaitEvent("ResourceClaim", waiting.claim().name(), "Unallocatable");

      controllers.goOn(leader);
      begun.deleteOnPaper();

      waiting.awaitBound();
      assertThat(AllocatedMemory.of(workspace).fits().claims()).isEqualTo(3 * CARDS);
      assertThat(controllers.awaitLeader().getMetadata().getName()).isNotEqualTo(leader.getMetadata().getName());
    }
  }

  private static PodUnderTest share(Workspace workspace, PaperNode node, String name) {
    return workspace.pod(name, PodTraits.on(node.name()).gate(PodTraits.ALLOCATION_GATE), Ask.share("40Gi"), "true");
  }
}
