package dev.partita.e2e.outside;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.partita.e2e.cluster.Ask;
import dev.partita.e2e.cluster.Cleanup;
import dev.partita.e2e.cluster.Controllers;
import dev.partita.e2e.cluster.Daemons;
import dev.partita.e2e.cluster.OnRealCluster;
import dev.partita.e2e.cluster.PodUnderTest;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.Workspace;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/**
 * Memory of the host that a container with a share takes besides what its pod requests (KEP-5517). The cluster is of
 * Kubernetes 1.37 or newer, with the feature gate {@code DRANodeAllocatableResources} on, which it is not by default.
 */
@OnRealCluster
@Isolated
class NodeResourcesIT {
  private static final String SETTING = "PARTITA_HOST_MEMORY";
  private static final long MIB = 1L << 20;

  @Test
  void aContainerWithAShareMayUseTheMemoryOfTheHostThatItsCardCostsBesidesItsLimit(
      RealCluster cluster,
      Workspace workspace) {
    FeatureGates.assertOn(cluster, "DRANodeAllocatableResources");
    Controllers controllers = new Controllers(cluster);
    Daemons daemons = new Daemons(cluster.client());
    String node = cluster.nodes().getFirst();
    try (Cleanup cleanup = new Cleanup()) {
      cleanup.undo("the setting", () -> controllers.set(SETTING, Optional.empty()));
      controllers.set(SETTING, Optional.of("300Mi"));
      await("devices that cost memory of their node").atMost(Workspace.PATIENCE).until(
          () -> daemons.slices(node).stream().flatMap(slice -> slice.getSpec().getDevices().stream()).toList(),
          devices -> !devices.isEmpty() && devices.stream()
              .allMatch(device -> device.getAdditionalProperties().containsKey("nodeAllocatableResources")));
      workspace.claim("share", Ask.share("8Gi"));
      workspace.create("""
          apiVersion: v1
          kind: Pod
          metadata: {name: pod}
          spec:
            nodeSelector: {kubernetes.io/hostname: %s}
            terminationGracePeriodSeconds: 0
            resourceClaims: [{name: gpu, resourceClaimName: share}]
            containers:
            - name: main
              image: %s
              imagePullPolicy: IfNotPresent
              command: [sleep, "600"]
              resources: {claims: [{name: gpu}], limits: {memory: 200Mi}}
            - name: beside
              image: %2$s
              imagePullPolicy: IfNotPresent
              command: [sleep, "600"]
              resources: {limits: {memory: 100Mi}}
          """.formatted(node, RealCluster.PROBE_IMAGE));
      PodUnderTest pod = workspace.podNamed("pod").awaitRunning();
      assertThat(memoryLimit(pod, "main")).isEqualTo(500 * MIB);
      assertThat(memoryLimit(pod, "beside")).isEqualTo(100 * MIB);
    }
  }

  /** As the kernel has it, by cgroups of version 2 or 1. */
  private static long memoryLimit(PodUnderTest pod, String container) {
    String file = "/sys/fs/cgroup/memory";
    return Long.parseLong(
        pod.execIn(container, "cat %1$s.max 2>/dev/null || cat %1$s/memory.limit_in_bytes".formatted(file)).strip());
  }
}
