package dev.partita.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.partita.e2e.cluster.Ask;
import dev.partita.e2e.cluster.ClaimUnderTest;
import dev.partita.e2e.cluster.OnRealCluster;
import dev.partita.e2e.cluster.PodUnderTest;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.Workspace;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** What cannot be had is said, on the claim, in words that lead on; nothing else waits for it. */
@OnRealCluster
class BadInputIT {
  private static String unallocatable(Workspace workspace, PodUnderTest pod) {
    return workspace.awaitEvent("ResourceClaim", pod.claim().name(), "Unallocatable").message();
  }

  private static void staysPendingWhileOthersRun(
      RealCluster cluster,
      Workspace workspace,
      PodUnderTest pod,
      ClaimUnderTest claim) {
    String node = cluster.quietNodes().getFirst();
    assertThat(workspace.pod("other", node, Ask.share("1Gi"), "partita-probe alloc 256Mi").awaitLog())
        .contains("CUDA_SUCCESS");
    assertThat(pod.phase()).isEqualTo("Pending");
    assertThat(claim.devices()).isEmpty();
  }

  @Test
  void moreMemoryThanAnyCardHasIsSaidWithTheLimit(RealCluster cluster, Workspace workspace) {
    PodUnderTest pod = workspace.pod("huge", cluster.quietNodes().getFirst(), Ask.share("200Gi"), "true");
    assertThat(unallocatable(workspace, pod)).contains("asks 200 GiB", "139.8 GiB");
    staysPendingWhileOthersRun(cluster, workspace, pod, pod.claim());
  }

  @Test
  void moreCoresThanACardHasIsSaidWithTheLimit(RealCluster cluster, Workspace workspace) {
    PodUnderTest pod = workspace.pod("many", cluster.quietNodes().getFirst(), Ask.share("1Gi").cores(120), "true");
    assertThat(unallocatable(workspace, pod)).containsIgnoringCase("cores").contains("100");
    staysPendingWhileOthersRun(cluster, workspace, pod, pod.claim());
  }

  @Test
  void aMisspeltFieldOfAConfigThatNoWebhookSawIsRefusedWithItsPath(RealCluster cluster, Workspace workspace) {
    PodUnderTest pod = workspace.withoutAdmission().pod("misspelt", cluster.quietNodes().getFirst(),
        Ask.share("1Gi").config("corelimit: Hard"), "true");
    assertThat(unallocatable(workspace, pod)).contains("corelimit").contains("config[0].opaque.parameters");
    staysPendingWhileOthersRun(cluster, workspace, pod, pod.claim());
  }

  @Test
  void anUnknownKindOfConfigThatNoWebhookSawIsRefused(RealCluster cluster, Workspace workspace) {
    PodUnderTest pod =
        workspace.withoutAdmission().pod(
            "kind",
            cluster.quietNodes().getFirst(),
            new Ask(Ask.ANY_SHARE, 1, java.util.Map.of("memory", "1Gi"),
                "{apiVersion: gpu.partita.dev/v1alpha1, kind: GpuSharesConfig}", ""),
            "true");
    assertThat(unallocatable(workspace, pod)).contains("GpuSharesConfig");
    assertThat(pod.claim().devices()).isEmpty();
  }

  @Test
  void devicesOfAnotherDriverInTheSameClaimNeedAClaimOfTheirOwn(Workspace workspace, RealCluster cluster) {
    String nics = workspace.deviceClassOfNics();
    ClaimUnderTest claim =
        workspace.claimOfSpec(
            "mixed",
            "{devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.partita.dev}}, {name: nic, exactly: {deviceClassName: %s}}]}}"
                .formatted(nics));
    PodUnderTest pod = workspace.podOf(claim, "mixed", cluster.quietNodes().getFirst(), "true");
    assertThat(workspace.awaitEvent("ResourceClaim", claim.name(), "Unallocatable").message()).contains("two claims");
    staysPendingWhileOthersRun(cluster, workspace, pod, claim);
  }

  @Test
  void aPodThatIsDeletedBeforeItStartsLeavesNothing(RealCluster cluster, Workspace workspace) {
    String node = cluster.quietNodes().getFirst();
    for (int i = 0; i < 3; i++) {
      PodUnderTest pod = workspace.pod("gone-" + i, node, Ask.share("1Gi"), "exec sleep 600");
      ClaimUnderTest claim = pod.claim();
      String uid = claim.uid();
      claim.awaitAllocated();
      pod.deleteAndAwait();
      leavesNothing(cluster, claim, uid, node);
    }
  }

  @Test
  void aClaimThatIsDeletedWhileItIsPreparedLeavesNothing(RealCluster cluster, Workspace workspace) {
    String node = cluster.quietNodes().getFirst();
    ClaimUnderTest claim = workspace.claim("deleted", Ask.share("1Gi"));
    PodUnderTest pod = workspace.podOf(claim, "user", node, "exec sleep 600");
    String uid = claim.uid();
    claim.awaitAllocated();
    claim.delete();
    pod.deleteAndAwait();
    leavesNothing(cluster, claim, uid, node);
  }

  /** Nothing of it in the API, nor on the node; and it stays so while kubelet retries whatever it had begun. */
  private static void leavesNothing(RealCluster cluster, ClaimUnderTest claim, String uid, String node) {
    await("claim " + claim.name() + " to be gone").atMost(Workspace.PATIENCE).until(() -> claim.find().isEmpty());
    await("no trace of claim " + uid)
        .atMost(Workspace.PATIENCE)
        .during(Duration.ofSeconds(2))
        .pollInterval(Duration.ofMillis(500))
        .untilAsserted(() -> assertThat(cluster.files().tracesOf(uid, node)).isEmpty());
  }
}
