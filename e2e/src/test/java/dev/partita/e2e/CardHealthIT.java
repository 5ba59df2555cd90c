package dev.partita.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.partita.e2e.cluster.Ask;
import dev.partita.e2e.cluster.ClaimUnderTest;
import dev.partita.e2e.cluster.Daemons;
import dev.partita.e2e.cluster.DependsOnVersion;
import dev.partita.e2e.cluster.OnBrokenNode;
import dev.partita.e2e.cluster.OnChangedNode;
import dev.partita.e2e.cluster.OnRealCluster;
import dev.partita.e2e.cluster.PodUnderTest;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.Workspace;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.ResourceHealth;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;

/** What a pod's user sees of the health of its card. */
@OnRealCluster
@Order(2) // on two nodes side by side: most of the time passes while a test waits
class CardHealthIT {
  /** A share of the one card of its node that is lost: one that is three times within 10 min stays unhealthy. */
  private static final Ask OFTEN_ILL = Ask.share("1Gi").onCardOf("gpu-0");

  @Test
  @DependsOnVersion
  @OnBrokenNode
  void aCardThatFallsOffTheBusShowsInTheStatusOfItsPodUntilItIsBackAndWasReset(
      RealCluster cluster,
      Workspace workspace) {
    String node = cluster.brokenNode();
    PodUnderTest pod = workspace.pod("on-card", node, OFTEN_ILL, "exec sleep 600").awaitRunning();
    String card = cardOf(pod);
    awaitHealth(workspace, pod, "Healthy");
    pod.claim().awaitCondition("Healthy", "CardHealthy");
    assertThat(pod.claim().statusData()).contains("health=Healthy", "enforcement=Interception");
    changeCard(cluster, node, "touch", card);
    try {
      awaitHealth(workspace, pod, "Unhealthy");
      assertThat(pod.claim().awaitCondition("Healthy", "GpuIsLost").getStatus()).isEqualTo("False");
      assertThat(pod.claim().awaitCondition("Ready", "CardUnhealthy").getMessage()).contains("does not answer");
      assertThat(pod.claim().statusData()).contains("health=GpuIsLost");
      workspace.awaitEvent("ResourceClaim", pod.claim().name(), "GpuUnhealthy");
      // kubelet takes for unknown what it has not heard of for 30 s
      await("more than kubelet's patience").during(Duration.ofSeconds(35)).atMost(Duration.ofSeconds(40))
          .until(() -> health(workspace, pod).equals(List.of("Unhealthy")));

      cluster.files().setSimulated(node, "recovery", "reset", "gpu " + card);
      changeCard(cluster, node, "rm -f", card);
      pod.claim().awaitCondition("Healthy", "GpuResetRequired");
      restartPlugin(cluster, node);
      assertThat(healthInGpuNode(cluster, node, card)).as("what a plugin says that has heard of no error")
          .containsEntry("reason", "GpuResetRequired");
      awaitHealth(workspace, pod, "Unhealthy");
    } finally {
      cluster.files().setSimulated(node, "recovery", "none", "gpu " + card);
      changeCard(cluster, node, "rm -f", card);
    }
    awaitHealth(workspace, pod, "Healthy");
    pod.claim().awaitCondition("Healthy", "CardHealthy");
    pod.claim().awaitCondition("Ready", "Prepared");
  }

  @Test
  @OnChangedNode
  void podsAreEvictedFromALostCardOnlyWhereTheNodeSaysSo(RealCluster cluster, Workspace workspace) {
    String node = cluster.changedNode();
    PodUnderTest pod = workspace.pod("evicted", node, OFTEN_ILL, "exec sleep 600").awaitRunning();
    String card = cardOf(pod);
    changeCard(cluster, node, "touch", card);
    try {
      pod.claim().awaitCondition("Ready", "CardUnhealthy");
      assertThat(pod.isStaying()).isTrue();
      cluster.patchGpuNode(node, "{\"evictFrom\": [\"GpuIsLost\"]}");
      pod.awaitGone();
    } finally {
      cluster.patchGpuNode(node, "{\"evictFrom\": null}");
      changeCard(cluster, node, "rm -f", card);
    }
  }

  @Test
  @OnChangedNode
  void whatIsWrongWithACardIsToldOnItsClaimsAndKeepsOthersOffItUntilItIsOver(RealCluster cluster, Workspace workspace) {
    String node = cluster.changedNode();
    Map<Integer, ClaimUnderTest> claims = new TreeMap<>();
    for (int card : List.of(1, 2, 3)) {
      claims.put(card, workspace.pod("on-" + card, node, Ask.share("1Gi").onCardOf("gpu-" + card), "exec sleep 600")
          .awaitRunning().claim());
    }
    try {
      cluster.files().setSimulated(node, "row-remapping", "pending", "gpu 2");
      cluster.files().setSimulated(node, "ecc-sram", "1", "gpu 2");
      cluster.files().setSimulated(node, "fabric", "not-started", "gpu 3");
      cluster.files().simulate(node, "xid --gpu 1 --xid 95");
      awaitWrong(cluster, claims, 1, "XidError", "CardUnhealthy");
      awaitWrong(cluster, claims, 2, "UncorrectableEccErrors", "CardUnhealthy");
      awaitWrong(cluster, claims, 3, "FabricNotReady", "CardUnhealthy");
      assertThat(Objects.requireNonNull(claims.get(3)).awaitCondition("Healthy", "FabricNotReady").getMessage())
          .contains("error 802", "start nvidia-fabricmanager");
      cluster.files().setSimulated(node, "fabric", "failed", "gpu 3");
      awaitWrong(cluster, claims, 3, "FabricFailed", "CardUnhealthy");

      cluster.files().setSimulated(node, "ecc-sram", "0", "gpu 2");
      awaitWrong(cluster, claims, 2, "RowRemappingPending", "Prepared");
    } finally {
      cluster.files().setSimulated(node, "ecc-sram", "0", "gpu 2");
      cluster.files().setSimulated(node, "row-remapping", "good", "gpu 2");
      cluster.files().setSimulated(node, "fabric", "none", "gpu 3");
      cluster.files().simulate(node, "reset --gpu 1");
    }
    claims.forEach((card, claim) -> {
      claim.awaitCondition("Healthy", "CardHealthy");
      claim.awaitCondition("Ready", "Prepared");
      awaitTaints(cluster, node, card, List.of());
    });
  }

  @Test
  @OnChangedNode
  void aCardThatIsTooHotForAMinuteIsUnhealthyUntilItIsNot(RealCluster cluster, Workspace workspace) {
    String node = cluster.changedNode();
    ClaimUnderTest claim =
        workspace.pod("hot", node, Ask.share("1Gi").onCardOf("gpu-2"), "exec sleep 600").awaitRunning().claim();
    try {
      cluster.files().setSimulated(node, "brake", "thermal", "gpu 2");
      awaitWrong(cluster, Map.of(2, claim), 2, "ThermalSlowdown", "Prepared");
    } finally {
      cluster.files().setSimulated(node, "brake", "none", "gpu 2");
    }
    claim.awaitCondition("Healthy", "CardHealthy");
    awaitTaints(cluster, node, 2, List.of());
  }

  @Test
  @OnBrokenNode
  void aDriverThatHangsIsToldOnItsClaimsAndItsNodeUntilItAnswers(RealCluster cluster, Workspace workspace) {
    String node = cluster.brokenNode();
    PodUnderTest pod =
        workspace.pod("hangs", node, Ask.share("1Gi").onCardOf("gpu-2"), "exec sleep 600").awaitRunning();
    // longer than the plugin waits before it says so; only the plugin asks for this
    cluster.files().simulate(node, "fault --function nvmlDeviceGetRemappedRows --delay-us 130000000 --times 1");
    pod.claim().awaitCondition("Healthy", "NvmlDoesNotAnswer");
    await("the GpuNode to say so").atMost(Workspace.PATIENCE)
        .until(() -> healthInGpuNode(cluster, node, "2"), health -> "NvmlDoesNotAnswer".equals(health.get("reason")));
    assertThat(pod.phase()).isEqualTo("Running");
    pod.claim().awaitCondition("Healthy", "CardHealthy");
  }

  /** What claims that have the card, and whoever looks for one, are told. */
  private static void awaitWrong(
      RealCluster cluster,
      Map<Integer, ClaimUnderTest> claims,
      int card,
      String reason,
      String ready) {
    ClaimUnderTest claim = Objects.requireNonNull(claims.get(card));
    assertThat(claim.awaitCondition("Healthy", reason).getStatus()).isEqualTo("False");
    claim.awaitCondition("Ready", ready);
    awaitTaints(cluster, cluster.changedNode(), card,
        List.of((reason.equals("XidError") ? "XID-95" : reason) + ":NoSchedule"));
  }

  private static void awaitTaints(RealCluster cluster, String node, int card, List<String> taints) {
    await("the taints by health of card gpu-" + card + " of " + node + " to be " + taints).atMost(Workspace.PATIENCE)
        .until(
            () -> new Daemons(cluster.client()).slices(node).stream()
                .flatMap(slice -> slice.getSpec().getDevices().stream())
                .filter(device -> device.getName().equals("gpu-" + card + "-shared"))
                .flatMap(device -> device.getTaints().stream())
                .filter(taint -> taint.getKey().equals("gpu.partita.dev/unhealthy"))
                .map(taint -> taint.getValue() + ":" + taint.getEffect()).toList(),
            taints::equals);
  }

  /** The index of the card that the pod has a share of. */
  private static String cardOf(PodUnderTest pod) {
    return pod.claim().awaitAllocated().getFirst().getDevice().replaceAll("^gpu-([0-9]+)-shared$", "$1");
  }

  private static void awaitHealth(Workspace workspace, PodUnderTest pod, String health) {
    await(health + " in the status of pod " + pod.name()).atMost(Workspace.PATIENCE)
        .until(() -> health(workspace, pod), found -> found.equals(List.of(health)));
  }

  /** Of every device of the pod's container, as kubelet says. */
  private static List<String> health(Workspace workspace, PodUnderTest pod) {
    Pod now =
        Objects.requireNonNull(workspace.client().pods().inNamespace(workspace.namespace()).withName(pod.name()).get());
    return now.getStatus().getContainerStatuses().stream()
        .flatMap(container -> container.getAllocatedResourcesStatus().stream())
        .flatMap(resource -> resource.getResources().stream())
        .map(ResourceHealth::getHealth)
        .toList();
  }

  /** Ends the plugin and waits until it runs again, in the same pod: another one would install the driver anew. */
  private static void restartPlugin(RealCluster cluster, String node) {
    Daemons daemons = new Daemons(cluster.client());
    Pod before = daemons.awaitPlugin(node);
    cluster.files().signal(node, before.getMetadata().getUid(), "KILL");
    await("the plugin of " + node + ", started again").atMost(Workspace.PATIENCE)
        .until(() -> daemons.plugin(node).filter(pod -> starts(pod) > starts(before)).isPresent());
  }

  private static int starts(Pod pod) {
    return pod.getStatus().getContainerStatuses().getFirst().getRestartCount();
  }

  private static Map<String, Object> healthInGpuNode(RealCluster cluster, String node, String card) {
    GenericKubernetesResource gpuNode = Objects.requireNonNull(cluster.gpuNode(node).get());
    return Objects.requireNonNull(gpuNode.get("status", "gpus", Integer.parseInt(card), "health"));
  }

  /** Runs a command on the file whose existence makes the simulated card one that fell off the bus. */
  private static void changeCard(RealCluster cluster, String node, String command, String card) {
    cluster.files().shell(
        node,
        """
            set -e
            state=$(find /var/lib/partita/simulator -path '*/run/partita-simulator/state')
            %s "$(dirname "$state")/lost-%s"
            """
            .formatted(command, card));
  }
}
