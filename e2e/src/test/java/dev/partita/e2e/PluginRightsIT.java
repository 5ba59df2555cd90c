package dev.partita.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.partita.e2e.cluster.Ask;
import dev.partita.e2e.cluster.ClaimUnderTest;
import dev.partita.e2e.cluster.Daemons;
import dev.partita.e2e.cluster.Fresh;
import dev.partita.e2e.cluster.OnRealCluster;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.TokenClient;
import dev.partita.e2e.cluster.Workspace;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSlice;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** A plugin whose token is stolen: it is held to its own node and to what a plugin does. */
@OnRealCluster
class PluginRightsIT {
  private static GenericKubernetesResource gpuNode(KubernetesClient client, String node) {
    return client.genericKubernetesResources("gpu.partita.dev/v1alpha1", "GpuNode").withName(node).get();
  }

  private static void writeStatus(KubernetesClient client, String node) {
    Fresh.write(() -> client.resource(gpuNode(client, node)).updateStatus());
  }

  private static KubernetesClient pluginOf(RealCluster cluster, String node) {
    return TokenClient.ofPod(cluster.client(), new Daemons(cluster.client()).awaitPlugin(node));
  }

  @Test
  void itWritesTheGpuNodeOfItsOwnNodeAndOfNoOther(RealCluster cluster) {
    String own = cluster.nodes().getFirst();
    try (KubernetesClient plugin = pluginOf(cluster, own)) {
      writeStatus(plugin, own);
      for (String other : cluster.nodes().subList(1, cluster.nodes().size())) {
        assertThatThrownBy(() -> writeStatus(plugin, other))
            .isInstanceOf(KubernetesClientException.class)
            .hasMessageContaining("GpuNode of its own node only");
      }
    }
  }

  @Test
  void itMakesNoGpuNodeInAnothersNameAndChangesNoKnobs(RealCluster cluster, Workspace workspace) {
    String own = cluster.nodes().getFirst();
    try (KubernetesClient plugin = pluginOf(cluster, own)) {
      GenericKubernetesResource stranger = gpuNode(plugin, own);
      stranger.getMetadata().setName(workspace.namespace());
      stranger.getMetadata().setResourceVersion(null);
      assertThatThrownBy(() -> plugin.resource(stranger).create()).hasMessageContaining("GpuNode of its own node only");
      GenericKubernetesResource mine = gpuNode(plugin, own);
      mine.setAdditionalProperties(Map.of("spec", Map.of("allocator", "Scheduler")));
      assertForbidden(() -> plugin.resource(mine).update());
      assertForbidden(() -> plugin.resource(mine).delete());
    }
  }

  @Test
  void itNeitherPublishesNorReadsWhatIsNoneOfItsBusiness(RealCluster cluster) {
    String own = cluster.nodes().getFirst();
    try (KubernetesClient plugin = pluginOf(cluster, own)) {
      ResourceSlice slice = new Daemons(cluster.client()).awaitSlices(own).getFirst();
      assertForbidden(() -> plugin.resource(slice).update());
      assertForbidden(() -> plugin.resource(slice).delete());
      assertForbidden(() -> plugin.resources(Secret.class).inNamespace(RealCluster.NAMESPACE).list());
      assertForbidden(() -> plugin.resources(ConfigMap.class).inNamespace(RealCluster.NAMESPACE).list());
      assertForbidden(() -> plugin.pods().inAnyNamespace().list());
      assertForbidden(() -> plugin.nodes().withName(own)
          .edit(node -> node.edit().editMetadata().addToLabels("x", "y").endMetadata().build()));
    }
  }

  @Test
  void itCannotAllocate(RealCluster cluster, Workspace workspace) {
    String own = cluster.nodes().getFirst();
    ClaimUnderTest claim = workspace.pod("allocated", own, Ask.share("1Gi"), "exec sleep 600").awaitRunning().claim();
    ClaimUnderTest free = workspace.claim("free", Ask.share("1Gi"));
    try (KubernetesClient plugin = pluginOf(cluster, own)) {
      ResourceClaim taken = free.get().edit().withStatus(claim.get().getStatus()).build();
      taken.getStatus().setDevices(List.of());
      taken.getStatus().setReservedFor(List.of());
      assertForbidden(() -> plugin.resource(taken).updateStatus());
      assertForbidden(() -> Fresh.write(() -> {
        ResourceClaim freed = claim.get();
        freed.getStatus().setReservedFor(List.of());
        freed.getStatus().setAllocation(null);
        freed.getStatus().setDevices(List.of());
        plugin.resource(freed).updateStatus();
      }));
    }
    assertThat(claim.devices()).isNotEmpty();
    assertThat(free.devices()).isEmpty();
  }

  @Test
  void itReportsOnDevicesOfItsOwnNodeOnly(RealCluster cluster, Workspace workspace) {
    org.junit.jupiter.api.Assumptions.assumeTrue(cluster.nodes().size() > 1, "needs two nodes");
    String own = cluster.nodes().getFirst();
    String other = cluster.nodes().get(1);
    ClaimUnderTest there = workspace.pod("there", other, Ask.share("1Gi"), "exec sleep 600").awaitRunning().claim();
    there.awaitDeviceStatus();
    try (KubernetesClient plugin = pluginOf(cluster, own)) {
      assertForbidden(() -> Fresh.write(() -> {
        ResourceClaim lie = there.get();
        lie.getStatus().getDevices().getFirst().getConditions().getFirst().setStatus("False");
        plugin.resource(lie).updateStatus();
      }));
    }
  }

  @Test
  void itWritesNoEventsOfOthersAndNoneOnPods(RealCluster cluster, Workspace workspace) {
    String event =
        """
            apiVersion: events.k8s.io/v1
            kind: Event
            metadata: {name: %2$s}
            eventTime: "2026-01-01T00:00:00.000000Z"
            type: Normal
            reason: Any
            action: Any
            reportingController: %3$s
            reportingInstance: any
            regarding: {apiVersion: v1, kind: %4$s, name: any, namespace: %1$s}
            """;
    String own = "gpu.partita.dev/kubelet-plugin";
    String namespace = workspace.namespace();
    Event others =
        (Event) workspace.create(event.formatted(namespace, "others", "kubelet", "ResourceClaim")).getFirst();
    Event onAPod = (Event) workspace.dryRun(event.formatted(namespace, "on-a-pod", own, "Pod"));
    onAPod.getMetadata().setUid(null);
    try (KubernetesClient plugin = pluginOf(cluster, cluster.nodes().getFirst())) {
      assertThatThrownBy(() -> plugin.resource(others).update()).hasMessageContaining("'partita-own-events'");
      assertThatThrownBy(() -> plugin.resource(onAPod).create()).hasMessageContaining("'partita-own-events'");
      assertForbidden(() -> plugin.resource(others).delete());
      assertForbidden(() -> plugin.resources(Event.class).inNamespace(namespace).list());
    }
  }

  /** Refused by the API server: 403, or the 422 with which it refuses parts of a claim's status. */
  private static void assertForbidden(Runnable call) {
    assertThatThrownBy(call::run)
        .isInstanceOfSatisfying(
            KubernetesClientException.class,
            refused -> {
              assertThat(refused.getCode()).isIn(403, 422);
              assertThat(refused).hasMessageContaining("forbidden");
            });
  }
}
