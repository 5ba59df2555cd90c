package dev.partita.e2e.outside;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.partita.e2e.cluster.Ask;
import dev.partita.e2e.cluster.Cleanup;
import dev.partita.e2e.cluster.Daemons;
import dev.partita.e2e.cluster.NeedsSteadyController;
import dev.partita.e2e.cluster.OnChangedNode;
import dev.partita.e2e.cluster.OnRealCluster;
import dev.partita.e2e.cluster.PodUnderTest;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.Workspace;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * What a ResourcePoolStatusRequest tells of devices that exclude each other (KEP-5677). The cluster is of Kubernetes
 * 1.37 or newer, with the feature gates {@code DRAResourcePoolStatus} and {@code DRAPartitionableDevicesType} on, which
 * they are not by default.
 */
@OnRealCluster
@OnChangedNode
@NeedsSteadyController
class PartitionTypesIT {
  @Test
  void aPoolsStatusTellsWhichOfTheDevicesThatExcludeEachOtherCanBeHad(RealCluster cluster, Workspace workspace) {
    FeatureGates.assertOn(cluster, "DRAResourcePoolStatus", "DRAPartitionableDevicesType");
    String node = cluster.changedNode();
    Daemons daemons = new Daemons(cluster.client());
    daemons.awaitFreeCards(node);
    try (Cleanup cleanup = new Cleanup()) {
      cluster.leaveToScheduler(node, cleanup, "Whole", "Shared");
      await("slices that name types").atMost(Workspace.PATIENCE).until(
          () -> daemons.slices(node).stream()
              .anyMatch(slice -> slice.getSpec().getAdditionalProperties().containsKey("partitionTypeAttribute")));
      PodUnderTest whole = workspace.pod("whole", node, Ask.wholeCards(1), "exec sleep 600").awaitRunning();
      String taken = whole.claim().awaitAllocated().getFirst().getDevice();
      PodUnderTest share = workspace.pod("share", node, Ask.share("8Gi"), "exec sleep 600").awaitRunning();
      String shared = share.claim().awaitAllocated().getFirst().getDevice();
      Set<String> cannotBeHad =
          Set.of(taken, taken + "-shared", shared, shared.replace("-shared", ""));

      Map<?, ?> pool = status(cluster, cleanup, node);
      assertThat(pool.get("validationError")).isNull();
      assertThat(((List<?>) Objects.requireNonNull(pool.get("partitionSummary"))).stream().map(Map.class::cast)
          .collect(Collectors.toMap(type -> type.get("type"), type -> type.get("allocatable"))))
          .hasSize(2 * RealCluster.CARDS)
          .allSatisfy((device, allocatable) -> assertThat(allocatable).as(device.toString())
              .isEqualTo(cannotBeHad.contains(device) ? 0 : 1));
      assertThat(consumedMemory(pool)).isEqualTo("8Gi");
      share.deleteAndAwait();
      whole.deleteAndAwait();
    }
  }

  private static @Nullable Object consumedMemory(Map<?, ?> pool) {
    Map<?, ?> shareable = (Map<?, ?>) Objects.requireNonNull(pool.get("shareableSummary"));
    return ((List<?>) Objects.requireNonNull(shareable.get("capacity"))).stream().map(Map.class::cast)
        .filter(capacity -> Objects.toString(capacity.get("name")).endsWith("memory")).findFirst().orElseThrow()
        .get("consumed");
  }

  private static Map<?, ?> status(RealCluster cluster, Cleanup cleanup, String node) {
    Resource<GenericKubernetesResource> request =
        cluster.client().resource(Serialization.unmarshal("""
            apiVersion: resource.k8s.io/v1alpha3
            kind: ResourcePoolStatusRequest
            metadata: {name: %1$s}
            spec: {driver: gpu.partita.dev, poolName: %1$s/gpu}
            """.formatted(node), GenericKubernetesResource.class));
    cleanup.undo("the request", request::delete);
    request.create();
    return await("the pool's status").atMost(Workspace.PATIENCE)
        .until(() -> request.get().<List<Map<?, ?>>>get("status", "pools"), pools -> pools != null && !pools.isEmpty())
        .getFirst();
  }
}
