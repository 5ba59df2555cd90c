package dev.partita.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import dev.partita.e2e.cluster.AllocationHistory;
import dev.partita.e2e.cluster.Ask;
import dev.partita.e2e.cluster.Cleanup;
import dev.partita.e2e.cluster.Daemons;
import dev.partita.e2e.cluster.OnRealCluster;
import dev.partita.e2e.cluster.OnSettingsNode;
import dev.partita.e2e.cluster.PaperNode;
import dev.partita.e2e.cluster.PodTraits;
import dev.partita.e2e.cluster.PodUnderTest;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.Workspace;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** A claim moves when its pod cannot run where the claim is. */
@OnRealCluster
class SchedulerVetoIT {
  private static final int PORT = 7077;

  /** The controller knows nothing of host ports: it proposes the node whose card is begun, where the port is taken. */
  @Test
  void whereKubeSchedulerFindsNoFitTheControllerTakesTheNextNode(RealCluster cluster, Workspace workspace) {
    String pool = workspace.namespace();
    try (PaperNode taken = PaperNode.create(cluster.client(), pool + "-taken", pool, 1);
        PaperNode free = PaperNode.create(cluster.client(), pool + "-free", pool, 1);
        AllocationHistory history = AllocationHistory.of(workspace)) {
      Daemons daemons = new Daemons(cluster.client());
      daemons.awaitSlices(taken.name());
      daemons.awaitSlices(free.name());
      // By default the mix of all tests' requests would decide which of the two is proposed.
      Ask fullestFirst = Ask.share("40Gi").config("placement: {nodes: Binpack}");
      workspace.pod("begins", taken.name(), Ask.share("40Gi"), "true").awaitBound();
      workspace.podWithoutClaim("blocks", PodTraits.on(taken.name()).hostPort(PORT), "true").awaitBound();

      PodUnderTest pod = workspace
          .pod("moves", PodTraits.onNodesWith(PaperNode.POOL, pool).hostPort(PORT), fullestFirst, "true").awaitBound();

      assertThat(pod.node()).isEqualTo(free.name());
      assertThat(history.poolsOf(pod.claim())).startsWith(taken.name() + "/gpu", "").endsWith(free.name() + "/gpu");
      assertThat(pod.claim().devices()).singleElement()
          .satisfies(device -> assertThat(device.getPool()).isEqualTo(free.name() + "/gpu"));
    }
  }

  @Test
  @OnSettingsNode
  void thePodsOfANodeThatIsDrainedGetCardsElsewhere(RealCluster cluster, Workspace workspace) {
    String drained = cluster.settingsNode();
    String other = cluster.quietNodes().getLast();
    assumeFalse(drained.equals(other), "needs two nodes");
    String label = PaperNode.POOL + "-" + workspace.namespace();
    try (Cleanup cleanup = new Cleanup()) {
      for (String node : new String[]{drained, other}) {
        cleanup.undo("the label of " + node,
            () -> cluster.patchNode(node, "{\"metadata\": {\"labels\": {\"" + label + "\": null}}}"));
      }
      label(cluster, drained, label);
      workspace.create(replicas(label));
      PodUnderTest before = theOne(workspace, drained).awaitLine("holding");
      String uid = before.claim().uid();

      label(cluster, other, label);
      cleanup.undo("the cordon", () -> cluster.patchNode(drained, "{\"spec\": {\"unschedulable\": null}}"));
      cluster.patchNode(drained, "{\"spec\": {\"unschedulable\": true}}");
      assertThat(workspace.client().pods().inNamespace(workspace.namespace()).withName(before.name()).evict()).isTrue();

      PodUnderTest after = theOne(workspace, other).awaitLine("holding");
      assertThat(after.claim().devices()).singleElement()
          .satisfies(device -> assertThat(device.getPool()).isEqualTo(other + "/gpu"));
      assertThat(after.exec("partita-probe alloc 2560Mi; partita-probe alloc 512Mi")).as("the rest of its share")
          .containsSubsequence("OUT_OF_MEMORY", "CUDA_SUCCESS");
      before.awaitGone();
      await("traces on the drained node").atMost(Workspace.PATIENCE)
          .untilAsserted(() -> assertThat(cluster.files().tracesOf(uid, drained)).isEmpty());
    }
  }

  private static void label(RealCluster cluster, String node, String label) {
    cluster.patchNode(node, "{\"metadata\": {\"labels\": {\"" + label + "\": \"\"}}}");
  }

  private static PodUnderTest theOne(Workspace workspace, String node) {
    return await("a pod on " + node)
        .atMost(Workspace.PATIENCE)
        .until(
            () -> workspace.client().pods().inNamespace(workspace.namespace()).list().getItems().stream()
                .filter(pod -> node.equals(pod.getSpec().getNodeName()))
                .map(Pod::getMetadata)
                .findFirst(),
            Optional::isPresent)
        .map(pod -> new PodUnderTest(workspace, pod.getName()))
        .orElseThrow();
  }

  private static String replicas(String label) {
    return """
        apiVersion: resource.k8s.io/v1
        kind: ResourceClaimTemplate
        metadata: {name: share}
        spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.partita.dev, capacity: {requests: {memory: 3Gi}}}}]}}}
        ---
        apiVersion: apps/v1
        kind: ReplicaSet
        metadata: {name: movable}
        spec:
          replicas: 1
          selector: {matchLabels: {app: movable}}
          template:
            metadata: {labels: {app: movable}}
            spec:
              terminationGracePeriodSeconds: 1
              nodeSelector: {%s: ""}
              resourceClaims: [{name: gpu, resourceClaimTemplateName: share}]
              containers:
              - name: main
                image: %s
                imagePullPolicy: IfNotPresent
                command: [partita-probe, hold, 1Gi]
                resources: {claims: [{name: gpu}]}
        """
        .formatted(label, RealCluster.PROBE_IMAGE);
  }
}
