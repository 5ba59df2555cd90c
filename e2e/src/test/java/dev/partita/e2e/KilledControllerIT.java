package dev.partita.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.partita.e2e.cluster.Ask;
import dev.partita.e2e.cluster.ChangesControllers;
import dev.partita.e2e.cluster.ClaimUnderTest;
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

/** A controller that is killed in the middle of an allocation. */
@OnRealCluster
@ChangesControllers
class KilledControllerIT {
  @Test
  void aControllerThatIsKilledBetweenItsProposalAndTheAllocationLeavesNothingAndItsSuccessorServesThePod(
      RealCluster cluster,
      Workspace workspace) {
    assumeTrue(cluster.lab().isPresent(), "its API server must reach this process");
    Controllers controllers = new Controllers(cluster);
    try (PaperNode node = PaperNode.create(cluster.client(), workspace.namespace(), 2)) {
      new Daemons(cluster.client()).awaitSlices(node.name());
      Pod leader = controllers.awaitLeader();
      ClaimUnderTest orphan = workspace.claim("orphan", Ask.share("100Gi"));
      PodUnderTest served;
      try (HeldWrites writes = HeldWrites.in(workspace)) {
        served = workspace.pod("served", PodTraits.on(node.name()).gate(PodTraits.ALLOCATION_GATE), Ask.share("100Gi"),
            "true");
        PodUnderTest gone = workspace.podOf(orphan, "gone", node.name(), "true");
        for (ClaimUnderTest claim : new ClaimUnderTest[]{served.claim(), orphan}) {
          await("what is proposed for claim " + claim.name()).atMost(Workspace.PATIENCE)
              .until(() -> !claim.proposal().isEmpty());
        }
        controllers.kill(leader);
        gone.deleteOnPaper();
        writes.holdNoMore();
        assertThat(AllocatedMemory.of(workspace).claims()).as("claims that had been allocated when it was killed")
            .isZero();
      }

      assertThat(served.awaitBound().gates()).isEmpty();
      await("nothing to be left of what was proposed for nobody")
          .atMost(Workspace.PATIENCE)
          .until(() -> orphan.proposal().isEmpty() && orphan.get().getMetadata().getFinalizers().isEmpty());
      assertThat(orphan.devices()).isEmpty();
      assertThat(controllers.awaitLeader().getMetadata().getUid()).as("kubelet starts it anew in its pod")
          .isEqualTo(leader.getMetadata().getUid());
      PodUnderTest other = workspace.pod("other", node.name(), Ask.share("100Gi"), "true").awaitBound();
      assertThat(AllocatedMemory.of(workspace).fits().bytes()).as("cards, of which one had been kept for the orphan")
          .hasSize(2);
      assertThat(other.claim().devices()).hasSize(1);
    }
  }
}
