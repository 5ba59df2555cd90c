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

/** Volcano, with the objects of the page that says how to use it. */
@OnRealCluster
@Isolated
class VolcanoIT {
  private static final String NEARLY_ALL = "nearly-all";
  private static final String WHOLE = "whole";

  /** Of a class that the page's queue does not name, and so does not count. */
  private static final String MEMORY_OF_A_CARD =
      "deviceClassName: h200.gpu.partita.dev, capacity: {requests: {memory: 136Gi}}";

  @TempDir Path folder;

  @Test
  void itsPodsRunWhereTheControllerHasAllocatedAndItAllocatesNothingThereItself(
      RealCluster cluster,
      Workspace workspace) {
    String node = cluster.ownNode();
    try (Volcano volcano = Volcano.install(cluster, workspace, folder)) {
      PagePods.template(workspace, WHOLE, "deviceClassName: whole.gpu.partita.dev");
      assertThat(PagePods.times(3, i -> volcano.pod("share-" + i, node, PagePods.SHARE)))
          .allSatisfy(PagePods::hasItsShare);
      PodUnderTest whole = volcano.pod("whole", node, WHOLE).awaitRunning();
      assertThat(whole.claim().devices().getFirst().getDevice()).matches("gpu-[0-9]+");

      workspace.withoutAdmission();
      assertThat(PagePods.times(4, i -> volcano.pod("ungated-" + i, node, PagePods.SHARE)))
          .allSatisfy(PagePods::hasItsShare);
      PodUnderTest oneOfTwo = volcano.podOfGang("one-of-two", node, WHOLE); // for which the controller waits
      workspace.awaitEvent("Pod", oneOfTwo.name(), "FailedScheduling",
          "Partita's controller allocates the devices of node " + node);
      assertThat(oneOfTwo.claim().devices()).isEmpty();
    }
  }

  @Test
  void whereItAllocatesItCountsTheCapacityOfSharesAndPlacesGangsOrNothing(RealCluster cluster, Workspace workspace) {
    String node = cluster.changedNode();
    Daemons daemons = new Daemons(cluster.client());
    daemons.awaitFreeCards(node);
    cluster.patchGpuNode(node, "{\"allocator\": \"Scheduler\"}");
    try (Volcano volcano = Volcano.install(cluster, workspace, folder)) {
      await("devices without the taint").atMost(Workspace.PATIENCE)
          .until(() -> daemons.slices(node).stream().flatMap(slice -> slice.getSpec().getDevices().stream())
              .allMatch(device -> device.getTaints().isEmpty()));
      PagePods.template(workspace, NEARLY_ALL, MEMORY_OF_A_CARD);
      List<PodUnderTest> large =
          PagePods.times(RealCluster.CARDS - 1, i -> volcano.pod("large-" + i, node, NEARLY_ALL));
      assertThat(large).allSatisfy(PodUnderTest::awaitRunning)
          .extracting(pod -> pod.claim().devices().getFirst().getDevice()).doesNotHaveDuplicates();
      volcano.job("gang", node, NEARLY_ALL, false);
      List<PodUnderTest> gang = volcano.awaitPods("gang", 2);
      awaitFailedScheduling(workspace, gang, "once minAvailable is satisfied");
      awaitFailedScheduling(workspace, gang, "cannot allocate all claims");
      assertThat(gang).allSatisfy(pod -> assertThat(pod.claim().devices()).isEmpty());

      List<PodUnderTest> small = PagePods.times(2, i -> volcano.pod("small-" + i, node, PagePods.SHARE));
      assertThat(small).allSatisfy(PagePods::hasItsShare)
          .extracting(pod -> pod.claim().devices().getFirst().getDevice()).as("both on the last card")
          .containsOnly(small.getFirst().claim().devices().getFirst().getDevice());
      small.forEach(PodUnderTest::deleteAndAwait);
      large.getFirst().deleteAndAwait();
      gang.forEach(PodUnderTest::awaitRunning);
    } finally {
      cluster.patchGpuNode(node, "{\"allocator\": \"Controller\"}");
    }
  }

  @Test
  void aGangOfBothGetsNothingWhileThereIsNoRoomForAllOfIt(RealCluster cluster, Workspace workspace) {
    String node = cluster.ownNode();
    new Daemons(cluster.client()).awaitFreeCards(node);
    try (Volcano volcano = Volcano.install(cluster, workspace, folder)) {
      PagePods.template(workspace, NEARLY_ALL, MEMORY_OF_A_CARD);
      List<PodUnderTest> large =
          PagePods.times(RealCluster.CARDS - 1, i -> volcano.pod("large-" + i, node, NEARLY_ALL));
      large.forEach(PodUnderTest::awaitRunning);
      volcano.job("gang", node, NEARLY_ALL, true);
      List<PodUnderTest> gang = volcano.awaitPods("gang", 2);
      gang.forEach(pod -> workspace.awaitEvent("ResourceClaim", pod.claim().name(), "Unallocatable", "cards fit"));
      assertThat(gang).allSatisfy(pod -> assertThat(pod.claim().devices()).isEmpty());
      large.getFirst().deleteAndAwait();
      gang.forEach(PodUnderTest::awaitRunning);
    }
  }

  @Test
  void aPodThatItsQueueHoldsBackTakesNoShareBeforeTheQueueHasRoom(RealCluster cluster, Workspace workspace) {
    String node = cluster.ownNode();
    try (Volcano volcano = Volcano.install(cluster, workspace, folder)) {
      List<PodUnderTest> first = PagePods.times(2, i -> volcano.queuedPod("first-" + i, node, PagePods.SHARE));
      assertThat(first).allSatisfy(PagePods::hasItsShare);
      volcano.awaitCounted("64Gi");
      PodUnderTest third = volcano.queuedPod("third", node, PagePods.SHARE);
      PagePods.hasItsShare(volcano.pod("of-another-queue", node, PagePods.SHARE));
      assertThat(third.claim().devices()).isEmpty();
      assertThat(third.gates()).containsExactly("scheduling.volcano.sh/queue-allocation-gate");
      first.getFirst().deleteAndAwait();
      PagePods.hasItsShare(third);
    }
  }

  private static void awaitFailedScheduling(Workspace workspace, List<PodUnderTest> pods, String why) {
    await("one of the pods to wait: " + why).atMost(Workspace.PATIENCE)
        .until(() -> workspace.events().stream()
            .anyMatch(event -> event.kind().equals("Pod") && event.message().contains(why)
                && pods.stream().anyMatch(pod -> pod.name().equals(event.name()))));
  }
}
