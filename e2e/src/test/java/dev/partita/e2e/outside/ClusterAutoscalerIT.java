package dev.partita.e2e.outside;

import static dev.partita.e2e.outside.ClusterAutoscaler.FITS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.partita.e2e.cluster.Ask;
import dev.partita.e2e.cluster.Cleanup;
import dev.partita.e2e.cluster.Daemons;
import dev.partita.e2e.cluster.OnRealCluster;
import dev.partita.e2e.cluster.OnSettingsNode;
import dev.partita.e2e.cluster.PodUnderTest;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.Workspace;
import io.fabric8.kubernetes.api.model.resource.v1.Device;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSlice;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSliceBuilder;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Cluster Autoscaler reckons with nodes of ours as the page says that tells how to autoscale. */
@OnRealCluster
@OnSettingsNode
class ClusterAutoscalerIT {
  private static final String TAINT = "gpu.partita.dev/allocator";
  private static final String CANNOT = "cannot allocate all claims";

  /** What a node has room for. */
  private static final Map<String, List<Ask>> MODEST = Map.of("a share", List.of(Ask.share("8Gi")),
      "a whole card", List.of(Ask.wholeCards(1)), "all cards", List.of(Ask.wholeCards(RealCluster.CARDS)));

  /** What no node has room for. */
  private static final Map<String, List<Ask>> EXCESSIVE =
      Map.of("more memory than a card's", List.of(Ask.share("200Gi")),
          "one card more", List.of(Ask.wholeCards(RealCluster.CARDS + 1)));

  @TempDir Path folder;

  @Test
  void whereKubeSchedulerAllocatesNewNodesDoForWhatTheirCardsHaveRoomFor(RealCluster cluster, Workspace workspace) {
    ClusterAutoscaler autoscaler = ClusterAutoscaler.of(cluster, workspace, folder);
    String node = cluster.settingsNode();
    Daemons daemons = new Daemons(cluster.client());
    daemons.awaitFreeCards(node);
    try (Cleanup cleanup = new Cleanup()) {
      cleanup.undo("who allocates on " + node, () -> leaveToTheController(cluster, node));
      cluster.patchGpuNode(node, "{\"allocator\": \"Scheduler\"}");
      List<ResourceSlice> slices = awaitSlices(daemons, node, false);

      assertEach(autoscaler.reckon(node, slices, MODEST), FITS);
      assertEach(autoscaler.reckon(node, slices, EXCESSIVE), CANNOT);
      List<Ask> onAllCards = Collections.nCopies(RealCluster.CARDS, Ask.share("100Gi"));
      assertThat(autoscaler.reckon(node, slices, Map.of("shares, and then a card",
          Stream.concat(onAllCards.stream(), Stream.of(Ask.wholeCards(1))).toList()))
          .questions().get("shares, and then a card")).containsExactly(FITS, FITS, FITS, FITS, CANNOT);

      assertThat(utilization(autoscaler, node, slices)).isZero();
      PodUnderTest share = workspace.pod("share", node, Ask.share("8Gi"), "exec sleep 600").awaitBound();
      assertThat(utilization(autoscaler, node, slices)).as("a share on one of four cards").isEqualTo(0.25);
      share.deleteAndAwait();
      PodUnderTest whole = workspace.pod("whole", node, Ask.wholeCards(1), "exec sleep 600").awaitBound();
      assertThat(utilization(autoscaler, node, slices)).as("one of four cards").isEqualTo(0.25);
      whole.deleteAndAwait();
    }
  }

  @Test
  void whereTheControllerAllocatesNoNewNodeDoesAndNothingButTheTaintIsInTheWay(
      RealCluster cluster,
      Workspace workspace) {
    ClusterAutoscaler autoscaler = ClusterAutoscaler.of(cluster, workspace, folder);
    String node = cluster.settingsNode();
    Daemons daemons = new Daemons(cluster.client());
    daemons.awaitFreeCards(node);
    List<ResourceSlice> slices = awaitSlices(daemons, node, true);

    assertEach(autoscaler.reckon(node, slices, MODEST), CANNOT);
    List<ResourceSlice> untainted = slices.stream().map(ClusterAutoscalerIT::withoutTaint).toList();
    assertEach(autoscaler.reckon(node, untainted, MODEST), FITS);
    assertEach(autoscaler.reckon(node, untainted, EXCESSIVE), CANNOT);

    assertThat(utilization(autoscaler, node, slices)).isZero();
    PodUnderTest share = workspace.pod("share", node, Ask.share("8Gi"), "exec sleep 600").awaitBound();
    assertThat(utilization(autoscaler, node, slices)).as("a share on one of four cards").isEqualTo(0.125);
    share.deleteAndAwait();
    PodUnderTest all =
        workspace.pod("all", node, Ask.wholeCards(RealCluster.CARDS), "exec sleep 600").awaitBound();
    assertThat(utilization(autoscaler, node, slices)).as("all cards").isEqualTo(0.5);
    all.deleteAndAwait();
  }

  private static double utilization(ClusterAutoscaler autoscaler, String node, List<ResourceSlice> slices) {
    return autoscaler.reckon(node, slices, Map.of()).utilization();
  }

  private static void assertEach(ClusterAutoscaler.Answers answers, String answer) {
    assertThat(answers.questions()).isNotEmpty()
        .allSatisfy((question, said) -> assertThat(said).as(question).containsExactly(answer));
  }

  private static void leaveToTheController(RealCluster cluster, String node) {
    cluster.patchGpuNode(node, "{\"allocator\": \"Controller\"}");
    awaitSlices(new Daemons(cluster.client()), node, true);
  }

  /** All slices of the node as published for one allocator: those for the controller have its taint. */
  private static List<ResourceSlice> awaitSlices(Daemons daemons, String node, boolean tainted) {
    return await("slices of " + node + (tainted ? " with the taint" : " without the taint")).atMost(Workspace.PATIENCE)
        .until(() -> daemons.slices(node), slices -> !slices.isEmpty()
            && slices.stream().allMatch(slice -> slice.getSpec().getPool().getResourceSliceCount() == slices.size()
                && slice.getSpec().getPool().getGeneration()
                    .equals(slices.getFirst().getSpec().getPool().getGeneration())
                && slice.getSpec().getDevices().stream().allMatch(device -> isTainted(device) == tainted)));
  }

  private static boolean isTainted(Device device) {
    return device.getTaints().stream().anyMatch(taint -> TAINT.equals(taint.getKey()));
  }

  private static ResourceSlice withoutTaint(ResourceSlice slice) {
    ResourceSlice without = new ResourceSliceBuilder(slice).build();
    without.getSpec().getDevices()
        .forEach(device -> device.setTaints(device.getTaints().stream().filter(its -> !TAINT.equals(its.getKey()))
            .toList()));
    return without;
  }
}
