package dev.partita.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.partita.e2e.cluster.Ask;
import dev.partita.e2e.cluster.Daemons;
import dev.partita.e2e.cluster.NeedsSteadyController;
import dev.partita.e2e.cluster.OnRealCluster;
import dev.partita.e2e.cluster.OnSettingsNode;
import dev.partita.e2e.cluster.PodUnderTest;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.Workspace;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * A node whose cards another DRA driver publishes as well. That driver has slices and a class and no plugin: its pods
 * get their devices from kube-scheduler and wait for kubelet to prepare them, which is when a card must be theirs.
 */
@OnRealCluster
@OnSettingsNode
class OtherDriverIT {
  @Test
  @NeedsSteadyController
  void aCardThatKubeSchedulerGivesByAnotherDriverIsRefusedUntilItsPodHasEnded(
      RealCluster cluster,
      Workspace workspace) {
    String node = cluster.settingsNode();
    Daemons daemons = new Daemons(cluster.client());
    daemons.awaitFreeCards(node);
    String driver = workspace.namespace() + ".gpu.example.com";
    List<String> uuids = uuids(cluster, node);
    workspace.createInCluster(slice(driver, node, uuids));
    String theirs = workspace.deviceClassOf(driver);
    awaitCards(daemons, node, List.of(0, 1, 2, 3));

    claimAndPod(workspace, "one", "{deviceClassName: %s}".formatted(theirs), node);
    int given = awaitGiven(workspace, "one").getFirst();
    awaitCards(daemons, node, IntStream.range(0, RealCluster.CARDS).filter(i -> i != given).boxed().toList());
    assertThat(otherDrivers(cluster, node)).singleElement()
        .satisfies(device -> assertThat(device).containsEntry("uuid", uuids.get(given)).containsEntry("driver", driver)
            .containsEntry("claims", 1));
    PodUnderTest beside = workspace.pod("beside", node, Ask.share("8Gi"), "partita-probe info; exec sleep 600");
    beside.awaitLine("device 0");
    assertThat(beside.claim().devices()).singleElement()
        .satisfies(device -> assertThat(device.getDevice()).isNotEqualTo("gpu-" + given + "-shared"));
    beside.deleteAndAwait();

    claimAndPod(workspace, "rest", "{deviceClassName: %s, count: 3}".formatted(theirs), node);
    assertThat(awaitGiven(workspace, "rest")).doesNotContain(given).hasSize(3);
    awaitCards(daemons, node, List.of());
    PodUnderTest waiting = workspace.pod("waiting", node, Ask.share("8Gi"), "partita-probe info; exec sleep 600");
    String why = "other claims have it by the DRA driver " + driver;
    assertThat(workspace.awaitEvent("ResourceClaim", waiting.claim().name(), "Unallocatable").message()).contains(why);
    assertThat(cluster.kubectlPartita("explain", "pod", "waiting", "-n", workspace.namespace()).out()).contains(why);
    assertThat(cluster.kubectlPartita("top", "gpus", "--node", node, "-o", "wide").out())
        .contains("ServedElsewhere", "claims have it by the DRA driver " + driver);

    workspace.podNamed("one").deleteAndAwait();
    waiting.awaitLine("device 0");
    assertThat(waiting.claim().devices()).singleElement()
        .satisfies(device -> assertThat(device.getDevice()).isEqualTo("gpu-" + given + "-shared"));
    workspace.podNamed("rest").deleteAndAwait();
    awaitCards(daemons, node, List.of(0, 1, 2, 3));
    await("its GpuNode to have nothing of the other driver").atMost(Workspace.PATIENCE)
        .until(() -> otherDrivers(cluster, node).isEmpty());
  }

  /** The indexes of the cards that kube-scheduler has given to the claim. */
  private static List<Integer> awaitGiven(Workspace workspace, String claim) {
    return await("kube-scheduler to allocate claim " + claim).atMost(Workspace.PATIENCE)
        .until(() -> given(workspace.client().resources(ResourceClaim.class).inNamespace(workspace.namespace())
            .withName(claim).get()), cards -> !cards.isEmpty());
  }

  private static List<Integer> given(ResourceClaim claim) {
    return claim.getStatus() == null || claim.getStatus().getAllocation() == null
        ? List.of()
        : claim.getStatus().getAllocation().getDevices().getResults().stream()
            .map(result -> Integer.parseInt(result.getDevice().substring("theirs-".length()))).toList();
  }

  /** Waits until exactly these cards of the node are published by Partita. */
  private static void awaitCards(Daemons daemons, String node, List<Integer> wanted) {
    await("cards " + wanted + " of " + node + " to be offered").atMost(Workspace.PATIENCE)
        .until(() -> daemons.slices(node).stream().flatMap(slice -> slice.getSpec().getDevices().stream())
            .map(device -> Integer.parseInt(device.getName().replaceAll("^gpu-([0-9]+).*", "$1")))
            .distinct().sorted().toList(), wanted::equals);
  }

  private static List<Map<String, Object>> otherDrivers(RealCluster cluster, String node) {
    GenericKubernetesResource found = cluster.gpuNode(node).get();
    List<Map<String, Object>> devices = found.get("status", "otherDrivers");
    return devices == null ? List.of() : devices;
  }

  private static List<String> uuids(RealCluster cluster, String node) {
    GenericKubernetesResource found = cluster.gpuNode(node).get();
    return IntStream.range(0, RealCluster.CARDS).mapToObj(i -> found.<String>get("status", "gpus", i, "uuid")).toList();
  }

  private static String slice(String driver, String node, List<String> uuids) {
    String devices = IntStream.range(0, uuids.size())
        .mapToObj(i -> "{name: theirs-%d, attributes: {uuid: {string: %s}}}".formatted(i, uuids.get(i)))
        .collect(Collectors.joining(", "));
    return """
        {apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: %s}, spec: {
          driver: %s, nodeName: %s, pool: {name: %s, generation: 1, resourceSliceCount: 1}, devices: [%s]}}
        """.formatted(driver, driver, node, node, devices);
  }

  private static void claimAndPod(Workspace workspace, String name, String request, String node) {
    workspace.create("""
        apiVersion: resource.k8s.io/v1
        kind: ResourceClaim
        metadata: {name: %1$s}
        spec: {devices: {requests: [{name: gpu, exactly: %2$s}]}}
        ---
        apiVersion: v1
        kind: Pod
        metadata: {name: %1$s}
        spec:
          terminationGracePeriodSeconds: 1
          nodeSelector: {kubernetes.io/hostname: %3$s}
          resourceClaims: [{name: gpu, resourceClaimName: %1$s}]
          containers:
          - {name: main, image: %4$s, imagePullPolicy: IfNotPresent, command: [sleep, "600"],
             resources: {claims: [{name: gpu}]}}
        """.formatted(name, request, node, RealCluster.PROBE_IMAGE));
  }
}
