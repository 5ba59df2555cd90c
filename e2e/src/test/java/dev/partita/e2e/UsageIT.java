package dev.partita.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.partita.e2e.cluster.Ask;
import dev.partita.e2e.cluster.ClaimUnderTest;
import dev.partita.e2e.cluster.OnRealCluster;
import dev.partita.e2e.cluster.PodUnderTest;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.Scrape;
import dev.partita.e2e.cluster.Workspace;
import org.junit.jupiter.api.Test;

/** What the node sees of the processes in containers. */
@OnRealCluster
class UsageIT {
  /** A copy of the driver's own library, which lies behind the shadow, in front of the shadow. */
  static final String PAST_THE_SHADOW =
      "mkdir /tmp/own; cp \"$(find /usr -name libcuda-real.so.1 | head -n 1)\" /tmp/own/libcuda.so.1; LD_LIBRARY_PATH=/tmp/own exec partita-probe ";

  @Test
  void whatContextsTakeCountsAndIsSaidOnTheClaim(RealCluster cluster, Workspace workspace) {
    PodUnderTest pod =
        workspace.pod("contexts", cluster.quietNodes().getFirst(), Ask.share("8Gi"), "exec partita-probe hold 4Gi")
            .awaitLine("holding");
    ClaimUnderTest claim = pod.claim();
    assertThat(claim.awaitCondition("WithinMemoryLimit", "WithinLimit").getStatus()).isEqualTo("True");
    assertThat(String.valueOf(claim.awaitDeviceStatus().getFirst().getData())).contains("memoryOverhead=300Mi");
    String quota = "cat /etc/partita/shares/*/quota";
    assertThat(pod.exec(quota)).contains("memory 8589934592\n");
    await("what a context takes to be learned").atMost(Workspace.PATIENCE)
        .until(() -> pod.exec(quota).contains("context 314572800\n"));
    await("nvidia-smi to show the context").atMost(Workspace.PATIENCE)
        .until(() -> pod.exec("nvidia-smi").contains("4396MiB /   8192MiB"));
    assertThat(pod.exec("partita-probe alloc 4Gi; partita-probe alloc 3Gi")).containsSubsequence("OUT_OF_MEMORY",
        "CUDA_SUCCESS");
  }

  @Test
  void aContainerThatLoadsTheDriversOwnLibraryAndTakesMoreThanItsShareIsFound(
      RealCluster cluster,
      Workspace workspace) {
    String node = cluster.quietNodes().getLast();
    PodUnderTest honest =
        workspace.pod("honest", node, Ask.share("4Gi"), "exec partita-probe hold 2Gi").awaitLine("holding");
    PodUnderTest thief =
        workspace.pod("thief", node, Ask.share("4Gi"), PAST_THE_SHADOW + "hold 12Gi").awaitLine("holding 12884901888");
    assertThat(thief.claim().awaitCondition("WithinMemoryLimit", "LimitExceeded").getMessage())
        .containsPattern(
            "process \\d+ \\(pid on the node\\) holds 12.2 GiB, of which the ledger has nothing; the claim has 4 GiB of GPU-");
    assertThat(workspace.awaitEvent("ResourceClaim", thief.claim().name(), "LimitExceeded").message())
        .contains("12.2 GiB", "End the pod");
    assertThat(honest.claim().awaitCondition("WithinMemoryLimit", "WithinLimit").getStatus()).isEqualTo("True");
    assertThat(thief.phase()).as("the default is to report").isEqualTo("Running");
  }

  /** On a card on which no other test has kernels: {@link ComputeIT} uses others of this node. */
  @Test
  void aContainerThatLoadsTheDriversOwnLibraryAndUsesMoreOfTheCardThanItsCoreLimitIsFound(
      RealCluster cluster,
      Workspace workspace) {
    String node = cluster.quietNodes().getFirst();
    Ask quarter = Ask.share("1Gi").cores(25).config("coreLimit: Hard").onCardOf("gpu-1");
    PodUnderTest patient = workspace.pod("patient", node, quarter, "exec partita-probe spin 600s").awaitRunning();
    PodUnderTest greedy = workspace.pod("greedy", node, quarter, PAST_THE_SHADOW + "spin 600s").awaitRunning();
    assertThat(greedy.claim().awaitCondition("WithinCoreLimit", "CoreLimitExceeded"))
        .satisfies(
            condition -> assertThat(condition.getStatus()).isEqualTo("False"),
            condition -> assertThat(condition.getMessage())
                .containsPattern(
                    "had \\d+ % of the time of GPU-\\S+ since \\S+Z, where the claim has 25 % at most: process \\d+ \\(pid on the node\\) \\d+ % and in no ledger"));
    assertThat(workspace.awaitEvent("ResourceClaim", greedy.claim().name(), "CoreLimitExceeded").message())
        .contains("25 % at most", "Look at what the pod runs");
    assertThat(patient.claim().awaitCondition("WithinCoreLimit", "WithinLimit").getStatus()).isEqualTo("True");
    await("how much of the card it had, and how long it waited, in its status").atMost(Workspace.PATIENCE)
        .until(patient.claim()::statusData,
            data -> data.contains("coresUsed=") && data.contains("throttledShare=") && data.contains("memoryPeak="));
    Scrape scrape = Scrape.ofPlugin(cluster.client(), node, workspace.metricsReader());
    assertThat(scrape.value("partita_share_within_core_limit", "claim=\"" + greedy.claim().name() + "\""))
        .contains(0.0);
    assertThat(scrape.value("partita_share_within_core_limit", "claim=\"" + patient.claim().name() + "\""))
        .contains(1.0);
    assertThat(greedy.phase()).as("it is only told").isEqualTo("Running");
  }
}
