package dev.partita.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.partita.e2e.cluster.Ask;
import dev.partita.e2e.cluster.ClaimUnderTest;
import dev.partita.e2e.cluster.LockedPerTest;
import dev.partita.e2e.cluster.OnRealCluster;
import dev.partita.e2e.cluster.PodUnderTest;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.Workspace;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;

/** A driver that limits memory itself holds what gets round the interception library. */
@OnRealCluster
@Order(2) // as those that wait for this lock test by test
@ResourceLock(LockedPerTest.CHANGED_NODE) // from the first test to the last: they share the driver
class DriverLimitIT {
  @BeforeAll
  static void theDriverLimitsMemory(RealCluster cluster) {
    setDriver(cluster, "yes", "Driver");
  }

  @AfterAll
  static void theDriverIsAsBefore(RealCluster cluster) {
    setDriver(cluster, "no", "Interception");
  }

  @Test
  void aProgramWithTheDriversOwnLibraryGetsNoMoreThanItsShare(RealCluster cluster, Workspace workspace) {
    String node = cluster.changedNode();
    PodUnderTest thief =
        workspace.pod("thief", node, Ask.share("4Gi"), "(" + UsageIT.PAST_THE_SHADOW + "alloc 12Gi) || true");
    assertThat(thief.awaitLog()).contains("CUDA_ERROR_OUT_OF_MEMORY");
    PodUnderTest modest =
        workspace.pod("modest", node, Ask.share("4Gi"), UsageIT.PAST_THE_SHADOW + "alloc 3Gi");
    assertThat(modest.awaitLog()).contains("CUDA_SUCCESS");
  }

  @Test
  void theShareInTheContainerIsAsWithoutAndAResizeChangesBoth(RealCluster cluster, Workspace workspace) {
    PodUnderTest pod =
        workspace.pod("honest", cluster.changedNode(), Ask.share("4Gi"), "exec partita-probe hold 1Gi")
            .awaitLine("holding");
    assertThat(pod.exec("partita-probe info")).contains("total=" + (4L << 30));
    assertThat(pod.exec(UsageIT.PAST_THE_SHADOW + "alloc 5Gi")).contains("CUDA_ERROR_OUT_OF_MEMORY");
    pod.claim().annotate("gpu.partita.dev/resize", "memory=8Gi");
    await("the larger share").atMost(Workspace.PATIENCE)
        .until(() -> pod.exec("partita-probe alloc 5Gi").contains("CUDA_SUCCESS"));
    assertThat(pod.exec("LD_LIBRARY_PATH=/tmp/own partita-probe alloc 5Gi")).contains("CUDA_SUCCESS");
    assertThat(pod.exec("LD_LIBRARY_PATH=/tmp/own partita-probe alloc 12Gi")).contains("CUDA_ERROR_OUT_OF_MEMORY");
  }

  /** kubelet has a claim prepared once, for the first of its pods. */
  @Test
  void aPodThatComesToAPreparedClaimIsLimitedOnceItIsSeenOnTheCard(RealCluster cluster, Workspace workspace) {
    String node = cluster.changedNode();
    ClaimUnderTest claim = workspace.claim("shared", Ask.share("4Gi"));
    workspace.podOf(claim, "first", node, "exec partita-probe hold 1Gi").awaitLine("holding");
    PodUnderTest second = workspace.podOf(claim, "second", node, "exec partita-probe hold 1Gi").awaitLine("holding");
    assertThat(second.exec(UsageIT.PAST_THE_SHADOW + "info")).contains("device 0");
    await("its limit").atMost(Workspace.PATIENCE).until(
        () -> second.exec("LD_LIBRARY_PATH=/tmp/own partita-probe alloc 12Gi").contains("CUDA_ERROR_OUT_OF_MEMORY"));
  }

  /** In the simulated driver's configuration, and waits until the node says so of every card. */
  private static void setDriver(RealCluster cluster, String limits, String enforcement) {
    String node = cluster.changedNode();
    cluster.files().setSimulated(node, "memory-limits", limits, "cuda-version.*");
    await(enforcement + " on all cards of " + node).atMost(Workspace.PATIENCE).until(
        () -> cards(cluster, node).stream().allMatch(card -> enforcement.equals(card.get("memoryEnforcement"))));
  }

  private static List<Map<String, Object>> cards(RealCluster cluster, String node) {
    GenericKubernetesResource gpuNode = Objects.requireNonNull(cluster.gpuNode(node).get());
    return Objects.requireNonNull(gpuNode.get("status", "gpus"));
  }
}
