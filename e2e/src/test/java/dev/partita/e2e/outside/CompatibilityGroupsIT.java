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
import io.fabric8.kubernetes.api.model.resource.v1.Device;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * Ways to use a card as compatibility groups (KEP-5963), by which kube-scheduler knows that one excludes the other. The
 * cluster is of Kubernetes 1.37 or newer, with the feature gate {@code DRADeviceCompatibilityGroups} on, which it is
 * not by default.
 */
@OnRealCluster
@OnChangedNode
@NeedsSteadyController
class CompatibilityGroupsIT {
  @Test
  void modesOfOneCardAreGroupsForKubeSchedulerWhereItKnowsThem(RealCluster cluster, Workspace workspace) {
    FeatureGates.assertOn(cluster, "DRADeviceCompatibilityGroups");
    String node = cluster.changedNode();
    Daemons daemons = new Daemons(cluster.client());
    daemons.awaitFreeCards(node);
    try (Cleanup cleanup = new Cleanup()) {
      cluster.leaveToScheduler(node, cleanup, "Whole", "Shared", "Mig");
      await("compatibility groups").atMost(Workspace.PATIENCE).untilAsserted(() -> {
        assertThat(groups(daemons, node, "gpu-0")).containsExactly("whole");
        assertThat(groups(daemons, node, "gpu-0-shared")).containsExactly("shared");
        assertThat(groups(daemons, node, "gpu-0-mig-1g-18gb-0")).containsExactly("mig");
      });
      PodUnderTest first = workspace.pod("first", node, Ask.instance("1g.18gb"), "exec sleep 600").awaitRunning();
      PodUnderTest second = workspace.pod("second", node, Ask.instance("1g.18gb"), "exec sleep 600").awaitRunning();
      assertThat(cardOf(second)).as("a card that is cut serves another instance").isEqualTo(cardOf(first));
      PodUnderTest share = workspace.pod("share", node, Ask.share("8Gi"), "exec sleep 600").awaitRunning();
      assertThat(cardOf(share)).as("and no share").isNotEqualTo(cardOf(first));
      PodUnderTest whole =
          workspace.pod("whole", node, Ask.wholeCards(RealCluster.CARDS), "exec sleep 600");
      workspace.awaitEvent("Pod", "whole", "FailedScheduling", "cannot allocate all claims");
      whole.deleteAndAwait();
      share.deleteAndAwait();
      second.deleteAndAwait();
      first.deleteAndAwait();
    }
    await("the devices of " + node).atMost(Workspace.PATIENCE).until(
        () -> daemons.slices(node).stream().flatMap(slice -> slice.getSpec().getDevices().stream()).map(Device::getName)
            .toList(),
        devices -> !devices.isEmpty() && devices.stream().noneMatch(device -> device.contains("-mig-")));
  }

  private static String cardOf(PodUnderTest pod) {
    return pod.claim().awaitAllocated().getFirst().getDevice().replaceAll("-(mig|shared).*", "");
  }

  private static List<Object> groups(Daemons daemons, String node, String device) {
    return daemons.slices(node).stream().flatMap(slice -> slice.getSpec().getDevices().stream())
        .filter(its -> its.getName().equals(device)).flatMap(its -> its.getConsumesCounters().stream())
        .flatMap(taken -> ((List<?>) taken.getAdditionalProperties().getOrDefault("compatibilityGroups", List.of()))
            .stream())
        .<Object>map(group -> group).toList();
  }
}
