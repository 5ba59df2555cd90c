package dev.partita.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.partita.e2e.cluster.Ask;
import dev.partita.e2e.cluster.Daemons;
import dev.partita.e2e.cluster.DependsOnVersion;
import dev.partita.e2e.cluster.NeedsSteadyController;
import dev.partita.e2e.cluster.OnRealCluster;
import dev.partita.e2e.cluster.OnSettingsNode;
import dev.partita.e2e.cluster.PodTraits;
import dev.partita.e2e.cluster.PodUnderTest;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.Workspace;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.client.dsl.Resource;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What differs from node to node: who allocates, and whether there is a driver at all. */
@OnRealCluster
@OnSettingsNode
class NodeSettingsIT {
  private static final String PLUGIN_LABEL = "gpu.partita.dev/plugin";

  @Test
  @DependsOnVersion
  void kubeSchedulerAllocatesWhereANodeLeavesItToIt(RealCluster cluster, Workspace workspace) {
    String node = cluster.settingsNode();
    Daemons daemons = new Daemons(cluster.client());
    cluster.patchGpuNode(node, "{\"allocator\": \"Scheduler\"}");
    try {
      awaitUntainted(daemons, node);
      PodUnderTest pod =
          workspace.pod("scheduled", node, Ask.share("8Gi").cores(25).config("coreLimit: Hard"),
              "partita-probe alloc 7Gi; partita-probe alloc 9Gi; exec sleep 600").awaitLine("9663676416");
      assertThat(pod.log()).contains("alloc 7516192768 CUDA_SUCCESS")
          .contains("alloc 9663676416 CUDA_ERROR_OUT_OF_MEMORY");
      assertThat(pod.claim().awaitDeviceStatus().getFirst().getConditions().getFirst().getStatus()).isEqualTo("True");
      String share = pod.claim().awaitAllocated().getFirst().getDevice();
      assertThat(share).endsWith("-shared");
      PodUnderTest whole = workspace.pod("whole", node, Ask.wholeCards(1), "exec sleep 600").awaitRunning();
      assertThat(whole.claim().awaitAllocated().getFirst().getDevice() + "-shared").isNotEqualTo(share);
      whole.deleteAndAwait();
      pod.deleteAndAwait();
    } finally {
      cluster.patchGpuNode(node, "{\"allocator\": \"Controller\"}");
      await("devices with the taint").atMost(Workspace.PATIENCE).until(() -> isTainted(daemons, node));
    }
  }

  @Test
  void kubeSchedulerFillsTheCardWithTheLeastMemoryLeftFirst(RealCluster cluster, Workspace workspace) {
    String node = cluster.settingsNode();
    Daemons daemons = new Daemons(cluster.client());
    daemons.awaitFreeCards(node);
    cluster.patchGpuNode(node, "{\"allocator\": \"Scheduler\"}");
    try {
      awaitUntainted(daemons, node);
      PodUnderTest first = workspace.pod("first", node, Ask.share("8Gi"), "exec sleep 600").awaitRunning();
      PodUnderTest large = workspace.pod("large", node, Ask.share("136Gi"), "exec sleep 600").awaitRunning();
      String fuller = large.claim().awaitAllocated().getFirst().getDevice();
      assertThat(fuller).as("for both there is no room on one card")
          .isNotEqualTo(first.claim().awaitAllocated().getFirst().getDevice());
      await("the fuller card to be the first").atMost(Workspace.PATIENCE)
          .untilAsserted(() -> assertThat(shares(daemons, node).getFirst()).isEqualTo(fuller));
      PodUnderTest small = workspace.pod("small", node, Ask.share("1Gi"), "exec sleep 600").awaitRunning();
      assertThat(small.claim().awaitAllocated().getFirst().getDevice()).isEqualTo(fuller);
      small.deleteAndAwait();
      large.deleteAndAwait();
      first.deleteAndAwait();
    } finally {
      cluster.patchGpuNode(node, "{\"allocator\": \"Controller\"}");
      await("devices with the taint").atMost(Workspace.PATIENCE).until(() -> isTainted(daemons, node));
    }
  }

  @Test
  @NeedsSteadyController
  void whatKubeSchedulerDoesNotKnowIsNotLeftToIt(RealCluster cluster, Workspace workspace) {
    String node = cluster.settingsNode();
    Daemons daemons = new Daemons(cluster.client());
    Ask another = Ask.share("1Gi").config("placement: {models: {avoid: [h200]}}");
    cluster.patchGpuNode(node, "{\"allocator\": \"Scheduler\"}");
    try {
      awaitUntainted(daemons, node);
      PodUnderTest gated =
          workspace.pod("gated", PodTraits.on(node).gate(PodTraits.ALLOCATION_GATE), another, "exec sleep 600");
      workspace.awaitEvent("ResourceClaim", gated.claim().name(), "Unallocatable",
          "kube-scheduler allocates there, and it knows no placement.models");
      assertThat(gated.gates()).isNotEmpty();
      PodUnderTest ungated = workspace.withoutAdmission().pod("ungated", node, another, "exec sleep 600");
      workspace.awaitEvent("ResourceClaim", ungated.claim().name(), "PrepareFailed",
          "is of model h200, against its config's placement.models: kube-scheduler allocated it");
    } finally {
      cluster.patchGpuNode(node, "{\"allocator\": \"Controller\"}");
      await("devices with the taint").atMost(Workspace.PATIENCE).until(() -> isTainted(daemons, node));
    }
  }

  @Test
  void aCardInUseIsOfferedInAnotherWayOnceItIsReleased(RealCluster cluster, Workspace workspace) {
    String node = cluster.settingsNode();
    Daemons daemons = new Daemons(cluster.client());
    cluster.patchGpuNode(node, "{\"allocator\": \"Scheduler\"}");
    try {
      awaitUntainted(daemons, node);
      PodUnderTest pod = workspace.pod("user", node, Ask.share("8Gi"), "exec sleep 600").awaitRunning();
      String card = pod.claim().awaitAllocated().getFirst().getDevice().replace("-shared", "");
      cluster.patchGpuNode(node, "{\"publish\": [\"Shared\"]}");
      await("the other cards to be offered as shares only").atMost(Workspace.PATIENCE)
          .untilAsserted(() -> assertThat(wholeCards(daemons, node)).containsExactly(card));
      pod.deleteAndAwait();
      await("this one too").atMost(Workspace.PATIENCE)
          .untilAsserted(() -> assertThat(wholeCards(daemons, node)).isEmpty());
    } finally {
      cluster.patchGpuNode(node, "{\"allocator\": \"Controller\", \"publish\": null}");
      await("all cards as before").atMost(Workspace.PATIENCE)
          .until(() -> isTainted(daemons, node) && wholeCards(daemons, node).size() > 1);
    }
  }

  @Test
  @NeedsSteadyController
  void aCardThatIsWithheldIsOfferedToNobodyUntilItIsNoMore(RealCluster cluster, Workspace workspace) {
    String node = cluster.settingsNode();
    Daemons daemons = new Daemons(cluster.client());
    daemons.awaitFreeCards(node);
    List<Map<String, Object>> cards = Objects.requireNonNull(cluster.gpuNode(node).get()).get("status", "gpus");
    cluster.patchGpuNode(node, "{\"withhold\": [\"%s\"]}".formatted(cards.getFirst().get("uuid")));
    try {
      await("the card to go").atMost(Workspace.PATIENCE).until(() -> !wholeCards(daemons, node).contains("gpu-0"));
      PodUnderTest all = workspace.pod("all", node, Ask.wholeCards(cards.size()), "exec sleep 600");
      workspace.awaitEvent("ResourceClaim", all.claim().name(), "Unallocatable",
          "1 card on " + node + ": not offered at all");
      cluster.patchGpuNode(node, "{\"withhold\": null}");
      all.awaitRunning().deleteAndAwait();
    } finally {
      cluster.patchGpuNode(node, "{\"withhold\": null}");
    }
  }

  @Test
  void aNodeWithoutADriverSaysSoAndOffersNothing(RealCluster cluster) {
    String node = cluster.settingsNode();
    Daemons daemons = new Daemons(cluster.client());
    Pod template = daemons.awaitPlugin(node);
    label(cluster, node, "disabled");
    Resource<Pod> bare = cluster.client().resource(withoutDriver(template, node));
    try {
      await("the plugin to leave").atMost(Workspace.PATIENCE).until(() -> daemons.plugin(node).isEmpty());
      bare.create();
      await("the reason")
          .atMost(Workspace.PATIENCE)
          .untilAsserted(
              () -> assertThat(readyCondition(cluster, node)).contains("status=False", "install the NVIDIA driver"));
      await("no slices").atMost(Workspace.PATIENCE).until(() -> daemons.slices(node).isEmpty());
      assertThat(Objects.requireNonNull(bare.get()).getStatus().getContainerStatuses().getFirst().getRestartCount())
          .as("restarts").isZero();
      assertThat(Objects.requireNonNull(bare.get()).getStatus().getPhase()).isEqualTo("Running");
    } finally {
      bare.withGracePeriod(0).delete();
      label(cluster, node, "enabled");
      daemons.awaitPlugin(node);
      daemons.awaitSlices(node);
    }
  }

  /** The plugin's pod, as the DaemonSet makes it, on a node where nothing lies below the driver root. */
  private static Pod withoutDriver(Pod template, String node) {
    return new PodBuilder()
        .withNewMetadata()
        .withNamespace(RealCluster.NAMESPACE)
        .withName("without-driver")
        .endMetadata()
        .withNewSpecLike(template.getSpec())
        .withNodeName(node)
        .withInitContainers()
        .editMatchingVolume(volume -> "driver-root".equals(volume.getName()))
        .editHostPath()
        .withPath("/var/lib/partita/without-driver")
        .endHostPath()
        .endVolume()
        .endSpec()
        .build();
  }

  private static String readyCondition(RealCluster cluster, String node) {
    GenericKubernetesResource gpuNode = cluster.gpuNode(node).get();
    return String.valueOf(gpuNode == null ? null : gpuNode.<Object>get("status", "conditions"));
  }

  private static List<String> wholeCards(Daemons daemons, String node) {
    return devices(daemons, node).filter(device -> device.matches("gpu-[0-9]+")).toList();
  }

  /** In the order in which kube-scheduler meets them. */
  private static List<String> shares(Daemons daemons, String node) {
    return devices(daemons, node).filter(device -> device.endsWith("-shared")).toList();
  }

  private static Stream<String> devices(Daemons daemons, String node) {
    return daemons.slices(node).stream().flatMap(slice -> slice.getSpec().getDevices().stream())
        .map(device -> device.getName());
  }

  private static void awaitUntainted(Daemons daemons, String node) {
    await("devices without the taint").atMost(Workspace.PATIENCE)
        .until(() -> !daemons.slices(node).isEmpty() && !isTainted(daemons, node));
  }

  private static boolean isTainted(Daemons daemons, String node) {
    return daemons.slices(node).stream()
        .flatMap(slice -> slice.getSpec().getDevices().stream())
        .anyMatch(device -> device.getTaints() != null
            && device.getTaints().stream().anyMatch(t -> "gpu.partita.dev/allocator".equals(t.getKey())));
  }

  private static void label(RealCluster cluster, String node, String plugin) {
    cluster.patchNode(node, "{\"metadata\": {\"labels\": {\"" + PLUGIN_LABEL + "\": \"" + plugin + "\"}}}");
  }
}
