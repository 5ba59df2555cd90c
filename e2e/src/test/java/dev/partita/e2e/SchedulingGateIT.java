package dev.partita.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.e2e.cluster.Ask;
import dev.partita.e2e.cluster.ClaimUnderTest;
import dev.partita.e2e.cluster.NeedsSteadyController;
import dev.partita.e2e.cluster.OnRealCluster;
import dev.partita.e2e.cluster.PodTraits;
import dev.partita.e2e.cluster.PodUnderTest;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.Workspace;
import org.junit.jupiter.api.Test;

/** kube-scheduler does not look at a pod before the controller is done with it, and looks at it then. */
@OnRealCluster
class SchedulingGateIT {
  private static PodTraits gated(RealCluster cluster) {
    return PodTraits.on(cluster.quietNodes().getFirst()).gate(PodTraits.ALLOCATION_GATE);
  }

  @Test
  void theGateGoesOnceTheAllocationIsWritten(RealCluster cluster, Workspace workspace) {
    PodUnderTest pod = workspace.pod("gated", gated(cluster), Ask.share("2Gi"), "partita-probe alloc 1Gi");
    assertThat(pod.awaitLog()).contains("CUDA_SUCCESS");
    assertThat(workspace.events()).extracting(event -> event.reason()).as("kube-scheduler saw it once, with its place")
        .doesNotContain("FailedScheduling");
  }

  @Test
  @NeedsSteadyController // which answers what explain asks
  void aPodThatOthersHoldBackGetsNothingBeforeTheirGateGoes(RealCluster cluster, Workspace workspace) {
    PodUnderTest pod =
        workspace.pod("held", gated(cluster).gate("example.com/other"), Ask.share("2Gi"), "partita-probe alloc 1Gi");
    ClaimUnderTest claim = pod.claim();
    workspace.pod("later", gated(cluster), Ask.share("1Gi"), "true").awaitLog();
    assertThat(claim.devices()).isEmpty();
    assertThat(pod.gates()).contains("example.com/other");
    assertThat(cluster.kubectlPartita("explain", "pod", pod.name(), "-n", workspace.namespace()).out())
        .contains("scheduling gates: example.com/other");
    pod.open();
    assertThat(pod.awaitLog()).contains("CUDA_SUCCESS");
  }

  @Test
  void theGateStaysWhileTheClaimWaits(RealCluster cluster, Workspace workspace) {
    PodUnderTest pod = workspace.pod("huge", gated(cluster), Ask.share("200Gi"), "true");
    workspace.awaitEvent("ResourceClaim", pod.claim().name(), "Unallocatable");
    PodUnderTest later = workspace.pod("later", gated(cluster), Ask.share("1Gi"), "partita-probe alloc 256Mi");
    assertThat(later.awaitLog()).contains("CUDA_SUCCESS");
    assertThat(pod.gates()).containsExactly(PodTraits.ALLOCATION_GATE);
    assertThat(workspace.events()).filteredOn(event -> event.name().equals("huge")).extracting(event -> event.reason())
        .as("kube-scheduler may meet the other one's pod before its claim, which it watches apart")
        .doesNotContain("FailedScheduling");
  }

  @Test
  void theGateGoesWhereNoClaimIsOurs(RealCluster cluster, Workspace workspace) {
    String nics = workspace.deviceClassOfNics();
    ClaimUnderTest nic =
        workspace.claimOfSpec("nic",
            "{devices: {requests: [{name: nic, exactly: {deviceClassName: %s}}]}}".formatted(nics));
    PodUnderTest other = workspace.podOf(nic, "other", gated(cluster), "true").awaitGates();
    workspace.awaitEvent("Pod", other.name(), "FailedScheduling");
    assertThat(workspace.podWithoutClaim("none", gated(cluster), "echo ran").awaitLog()).contains("ran");
  }

  @Test
  void theGateOfAPodWhoseClaimWasDeletedGoesAndThePodRunsOnceThereIsSuchAClaim(
      RealCluster cluster,
      Workspace workspace) {
    ClaimUnderTest claim = workspace.claim("deleted", Ask.share("200Gi"));
    PodUnderTest pod = workspace.podOf(claim, "left", gated(cluster), "partita-probe alloc 256Mi");
    workspace.awaitEvent("ResourceClaim", claim.name(), "Unallocatable");
    claim.delete();
    pod.awaitGates();
    workspace.claim(claim.name(), Ask.share("1Gi"));
    assertThat(pod.awaitLog()).contains("CUDA_SUCCESS");
  }
}
