package dev.partita.e2e.outside;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.partita.e2e.cluster.Daemons;
import dev.partita.e2e.cluster.OnRealCluster;
import dev.partita.e2e.cluster.PodUnderTest;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.Workspace;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/** KAI, with the objects of the page that says how to use it. */
@OnRealCluster
@Isolated
class KaiIT {
  private static final String NEARLY_ALL = "nearly-all";
  private static final String WHOLE = "whole";
  private static final String MEMORY_OF_A_CARD =
      "deviceClassName: gpu.partita.dev, capacity: {requests: {memory: 136Gi}}";

  @TempDir Path folder;

  @Test
  void itsPodsRunWhereTheControllerHasAllocatedAndItAllocatesNothingThereItself(
      RealCluster cluster,
      Workspace workspace) {
    String node = cluster.ownNode();
    try (Kai kai = Kai.install(cluster, workspace, folder)) {
      PagePods.template(workspace, WHOLE, "deviceClassName: whole.gpu.partita.dev");
      assertThat(PagePods.times(3, i -> kai.pod("share-" + i, node, PagePods.SHARE))).allSatisfy(PagePods::hasItsShare);
      PodUnderTest whole = kai.pod("whole", node, WHOLE).awaitRunning();
      assertThat(whole.claim().devices().getFirst().getDevice()).matches("gpu-[0-9]+");

      workspace.withoutAdmission();
      assertThat(PagePods.times(4, i -> kai.pod("ungated-" + i, node, PagePods.SHARE)))
          .allSatisfy(PagePods::hasItsShare);
      PodUnderTest oneOfTwo = kai.podOfGang("one-of-two", node, WHOLE); // for which the controller waits
      workspace.awaitEvent("Pod", oneOfTwo.name(), "BindingError",
          "Partita's controller allocates the devices of node " + node);
      assertThat(oneOfTwo.claim().devices()).isEmpty();
    }
  }

  @Test
  void aGangOfBothGetsNothingWhileThereIsNoRoomForAllOfIt(RealCluster cluster, Workspace workspace) {
    String node = cluster.ownNode();
    new Daemons(cluster.client()).awaitFreeCards(node);
    try (Kai kai = Kai.install(cluster, workspace, folder)) {
      PagePods.template(workspace, NEARLY_ALL, MEMORY_OF_A_CARD);
      List<PodUnderTest> large = PagePods.times(RealCluster.CARDS - 1, i -> kai.pod("large-" + i, node, NEARLY_ALL));
      large.forEach(PodUnderTest::awaitRunning);
      List<PodUnderTest> gang = kai.gang(2, node, NEARLY_ALL);
      gang.forEach(pod -> workspace.awaitEvent("ResourceClaim", pod.claim().name(), "Unallocatable", "cards fit"));
      assertThat(gang).allSatisfy(pod -> assertThat(pod.claim().devices()).isEmpty());
      large.getFirst().deleteAndAwait();
      gang.forEach(PodUnderTest::awaitRunning);
    }
  }

  @Test
  void whereTheSchedulerAllocatesItAllocatesNothingAndSaysSo(RealCluster cluster, Workspace workspace) {
    String node = cluster.changedNode();
    Daemons daemons = new Daemons(cluster.client());
    daemons.awaitFreeCards(node);
    cluster.patchGpuNode(node, "{\"allocator\": \"Scheduler\"}");
    try (Kai kai = Kai.install(cluster, workspace, folder)) {
      await("devices without the taint").atMost(Workspace.PATIENCE)
          .until(() -> daemons.slices(node).stream().flatMap(slice -> slice.getSpec().getDevices().stream())
              .allMatch(device -> device.getTaints().isEmpty()));
      PagePods.template(workspace, WHOLE, "deviceClassName: whole.gpu.partita.dev");
      PodUnderTest share = kai.pod("share", node, PagePods.SHARE);
      PodUnderTest whole = kai.pod("whole", node, WHOLE);
      workspace.awaitEvent("Pod", share.name(), "Unschedulable", "the DRAConsumableCapacity feature is disabled");
      workspace.awaitEvent("Pod", whole.name(), "Unschedulable", "cannot allocate all claims");
      assertThat(List.of(share, whole)).allSatisfy(pod -> assertThat(pod.claim().devices()).isEmpty());
    } finally {
      cluster.patchGpuNode(node, "{\"allocator\": \"Controller\"}");
    }
  }
}
