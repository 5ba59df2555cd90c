package dev.partita.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.partita.e2e.cluster.ClaimUnderTest;
import dev.partita.e2e.cluster.Cleanup;
import dev.partita.e2e.cluster.Daemons;
import dev.partita.e2e.cluster.DependsOnVersion;
import dev.partita.e2e.cluster.NeedsSteadyController;
import dev.partita.e2e.cluster.OnRealCluster;
import dev.partita.e2e.cluster.OnSettingsNode;
import dev.partita.e2e.cluster.PodUnderTest;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.Workspace;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClass;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClassBuilder;
import io.fabric8.kubernetes.client.utils.Serialization;
import org.junit.jupiter.api.Test;

/**
 * Pods that ask for a class of ours as an extended resource (KEP-5004), where no webhook converts them: kube-scheduler
 * makes their claims. {@link DialectsIT} has one that is converted.
 */
@OnRealCluster
@DependsOnVersion
@OnSettingsNode
class ExtendedResourceIT {
  @Test
  void whereKubeSchedulerAllocatesAPodGetsACardByTheNameOfItsClassOrByAnExtendedResourceOfOnes(
      RealCluster cluster,
      Workspace workspace) {
    String node = cluster.settingsNode();
    Daemons daemons = new Daemons(cluster.client());
    daemons.awaitFreeCards(node);
    workspace.withoutAdmission();
    String named = workspace.namespace() + ".example/gpu";
    workspace.createInCluster(
        """
            apiVersion: resource.k8s.io/v1
            kind: DeviceClass
            metadata: {name: %s}
            spec:
              extendedResourceName: %s
              selectors:
                - cel: {expression: "device.driver == 'gpu.partita.dev' && device.attributes['gpu.partita.dev'].mode == 'whole'"}
            """
            .formatted(workspace.namespace(), named));
    try (Cleanup cleanup = new Cleanup()) {
      cleanup.undo("the cards of " + node, () -> daemons.awaitFreeCards(node));
      cluster.leaveToScheduler(node, cleanup);
      PodUnderTest byClass = asking(workspace, "by-class", node,
          "deviceclass.resource.kubernetes.io/whole.gpu.partita.dev");
      assertHasWholeCard(byClass, node);
      PodUnderTest byName = asking(workspace, "by-name", node, named);
      assertHasWholeCard(byName, node);
      byClass.deleteAndAwait();
      byName.deleteAndAwait();
    }
  }

  /** As {@code docs/reference/devices.md} has it made. */
  @Test
  @NeedsSteadyController // while no controller answers, pods of other tests stay unconverted, and would get cards by this class
  void whereKubeSchedulerAllocatesAPodThatAsksForNvidiasResourceGetsACardByAClassThatHasItsName(
      RealCluster cluster,
      Workspace workspace) {
    String node = cluster.settingsNode();
    Daemons daemons = new Daemons(cluster.client());
    daemons.awaitFreeCards(node);
    workspace.withoutAdmission();
    workspace.createInCluster(Serialization.asYaml(new DeviceClassBuilder()
        .withNewMetadata().withName(workspace.namespace()).endMetadata()
        .withNewSpec().withExtendedResourceName("nvidia.com/gpu").withSelectors(
            cluster.client().resources(DeviceClass.class).withName("whole.gpu.partita.dev").require().getSpec()
                .getSelectors())
        .endSpec().build()));
    try (Cleanup cleanup = new Cleanup()) {
      cleanup.undo("the cards of " + node, () -> daemons.awaitFreeCards(node));
      cluster.leaveToScheduler(node, cleanup);
      PodUnderTest pod = asking(workspace, "asks", node, "nvidia.com/gpu");
      assertHasWholeCard(pod, node);
      pod.deleteAndAwait();
    }
  }

  private static PodUnderTest asking(Workspace workspace, String name, String node, String resource) {
    return workspace.podAsking(name, node, "{" + resource + ": 1}", "partita-probe alloc 100Gi; exec sleep 600");
  }

  private static void assertHasWholeCard(PodUnderTest pod, String node) {
    pod.awaitLine("CUDA_SUCCESS");
    String name =
        await("the claim of pod " + pod.name()).atMost(Workspace.PATIENCE)
            .until(() -> pod.workspace().client().pods().inNamespace(pod.workspace().namespace()).withName(pod.name())
                .get().getStatus().getExtendedResourceClaimStatus(), status -> status != null)
            .getResourceClaimName();
    ClaimUnderTest claim = new ClaimUnderTest(pod.workspace(), name);
    assertThat(claim.devices()).singleElement().satisfies(device -> {
      assertThat(device.getPool()).isEqualTo(node + "/gpu");
      assertThat(device.getDevice()).matches("gpu-[0-9]+");
    });
    assertThat(claim.awaitDeviceStatus().getFirst().getConditions().getFirst().getStatus()).isEqualTo("True");
  }
}
