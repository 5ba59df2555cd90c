package dev.partita.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.partita.e2e.cluster.Ask;
import dev.partita.e2e.cluster.OnOwnNode;
import dev.partita.e2e.cluster.OnRealCluster;
import dev.partita.e2e.cluster.PodUnderTest;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.Workspace;
import org.junit.jupiter.api.Test;

/** Shares that use what no claim has of their card, until one needs it. */
@OnRealCluster
@OnOwnNode // to know what is left of its card
class GrowingMemoryIT {
  /** Its program takes 60 GiB whenever it gets them. */
  private static final String PROGRAM =
      "until partita-probe hold 60Gi; do sleep 1; done"; // one that was killed is started again

  @Test
  void aShareGrowsAndGivesBackWhatAnotherPodAskedFor(RealCluster cluster, Workspace workspace) {
    String node = cluster.ownNode();
    PodUnderTest borrower = workspace.pod("grows", node,
        Ask.share("8Gi").config("memoryLimit: 100Gi").onCardOf("gpu-3"), PROGRAM).awaitLine("holding");
    borrower.claim().awaitCondition("MemoryLent", "Lent");
    assertThat(borrower.claim().statusData()).contains("memoryLimit=100Gi", "guarantee=memory=8Gi,cores=0");

    PodUnderTest owner =
        workspace.pod("owns", node, Ask.share("120Gi").onCardOf("gpu-3"), "exec sleep 600").awaitRunning();
    assertThat(workspace.awaitEvent("ResourceClaim", borrower.claim().name(), "MemoryRecalled").message())
        .contains("memory that this claim was lent is needed: it has 19.", "in 30 s are killed");
    workspace.awaitEvent("ResourceClaim", borrower.claim().name(), "ProcessKilled");
    assertThat(owner.exec("partita-probe alloc 115Gi")).as("all that it asked for").contains("CUDA_SUCCESS");
    assertThat(borrower.phase()).isEqualTo("Running");
    assertThat(borrower.exec("partita-probe alloc 15Gi")).as("what is left beside the other")
        .contains("CUDA_SUCCESS");
    assertThat(borrower.exec("partita-probe alloc 25Gi")).contains("OUT_OF_MEMORY");

    owner.deleteAndAwait();
    await("the program to have its 60 GiB again").atMost(Workspace.PATIENCE)
        .until(() -> borrower.log().split("holding", -1).length > 2);
  }
}
