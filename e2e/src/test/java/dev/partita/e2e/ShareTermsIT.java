package dev.partita.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.partita.e2e.cluster.Ask;
import dev.partita.e2e.cluster.NeedsSteadyController;
import dev.partita.e2e.cluster.OnRealCluster;
import dev.partita.e2e.cluster.PodUnderTest;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.Workspace;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** What a claim says in its GpuShareConfig of the card that it is on, and of who else may be there. */
@OnRealCluster
@NeedsSteadyController
class ShareTermsIT {
  @Test
  void nobodyElseIsOnACardThatAShareHasForItself(RealCluster cluster, Workspace workspace) {
    String node = cluster.quietNodes().getFirst();
    PodUnderTest alone = workspace.pod("alone", node, Ask.share("8Gi").config("placement: {exclusive: true}"),
        "partita-probe info; exec sleep 600").awaitLine("total=8589934592");
    String device = alone.claim().awaitAllocated().getFirst().getDevice();
    assertThat(alone.claim().awaitDeviceStatus().getFirst().getConditions().getFirst().getMessage())
        .endsWith("nobody else on it");
    PodUnderTest beside = workspace.pod("beside", node, Ask.share("1Gi").onCardOf(device), "exec sleep 600");
    assertThat(workspace.awaitEvent("ResourceClaim", beside.claim().name(), "Unallocatable").message())
        .contains("taken as a whole");
    alone.deleteAndAwait();
    assertThat(beside.awaitRunning().claim().awaitAllocated().getFirst().getDevice()).isEqualTo(device);
  }

  @Test
  void claimsByTimeSlicingHaveAllOfACardInTurnAndNoShareWithLimitsIsBesideThem(
      RealCluster cluster,
      Workspace workspace) {
    String node = cluster.quietNodes().getFirst();
    Ask inTurn = new Ask(Ask.ANY_SHARE, 1, Map.of(), "", "");
    PodUnderTest first =
        workspace.pod("first", node, inTurn.config("sharing: {strategy: TimeSlicing, interval: Short}"),
            "partita-probe info; nvidia-smi compute-policy --list; exec partita-probe hold 100Gi").awaitLine("holding");
    assertThat(first.log()).containsPattern("total=15\\d{10}").contains("timeslice SHORT").doesNotContain("device 1 ");
    String device = first.claim().awaitAllocated().getFirst().getDevice();
    PodUnderTest second =
        workspace.pod("second", node, inTurn.config("sharing: {strategy: TimeSlicing}").onCardOf(device),
            "ls /etc/partita; partita-probe info; partita-probe alloc 60Gi; partita-probe alloc 20Gi; exec sleep 600")
            .awaitLine("alloc 21474836480");
    assertThat(second.log()).containsPattern("total=15\\d{10}")
        .contains("alloc 64424509440 CUDA_ERROR_OUT_OF_MEMORY", "alloc 21474836480 CUDA_SUCCESS");
    assertThat(second.claim().awaitAllocated().getFirst().getDevice()).isEqualTo(device);
    assertThat(second.claim().awaitDeviceStatus().getFirst().getConditions().getFirst().getMessage())
        .contains("by time-slicing with other claims, neither memory nor cores limited");

    PodUnderTest limited = workspace.pod("limited", node, Ask.share("1Gi").onCardOf(device), "exec sleep 600");
    // others may have turns on the card, too
    String why = "shared by time-slicing among [0-9]+ devices of claims, whose memory and cores nothing limits";
    assertThat(workspace.awaitEvent("ResourceClaim", limited.claim().name(), "Unallocatable").message())
        .containsPattern(why);
    assertThat(cluster.command().run(cluster.kubeconfigEnvironment(), "explain", "pod", "limited", "-n",
        workspace.namespace()).out()).containsPattern(why);
    await("what the first is told that it holds").atMost(Workspace.PATIENCE).untilAsserted(
        () -> assertThat(String.valueOf(first.claim().awaitDeviceStatus().getFirst().getData()))
            .containsPattern("memoryUsed=10[0-9]"));
    first.deleteAndAwait();
    assertThat(second.exec("nvidia-smi compute-policy --list")).contains("timeslice ").doesNotContain("SHORT");
    second.deleteAndAwait();
    assertThat(limited.awaitRunning().claim().awaitAllocated().getFirst().getDevice()).isEqualTo(device);
    assertThat(limited.exec("nvidia-smi compute-policy --list")).as("when the last turn is gone")
        .contains("timeslice DEFAULT");
  }

  @Test
  void programsOfClaimsByMpsAreOnACardTogetherThroughOneDaemonThatEndsWithTheLast(
      RealCluster cluster,
      Workspace workspace) {
    String node = cluster.quietNodes().getLast();
    Ask byMps = Ask.share("8Gi").cores(25).config("sharing: {strategy: MPS}");
    PodUnderTest first = workspace.pod("first", node, byMps, "exec partita-probe hold 6Gi").awaitLine("holding");
    String device = first.claim().awaitAllocated().getFirst().getDevice();
    PodUnderTest second = workspace.pod("second", node, byMps.onCardOf(device),
        "env | grep CUDA_MPS; touch /tmp/nvidia-mps/x; partita-probe alloc 9Gi; exec partita-probe hold 6Gi")
        .awaitLine("holding");
    assertThat(second.log()).contains("CUDA_MPS_PIPE_DIRECTORY=/tmp/nvidia-mps",
        "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=25", "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT=0=8192M", "Read-only file system",
        "alloc 9663676416 CUDA_ERROR_OUT_OF_MEMORY");
    String server = first.exec("echo get_server_list | nvidia-cuda-mps-control").strip();
    assertThat(server).matches("[0-9]+").isEqualTo(
        second.exec("echo get_server_list | nvidia-cuda-mps-control").strip());
    assertThat(first.exec("echo get_client_list " + server + " | nvidia-cuda-mps-control").strip().lines())
        .as("one program of each").hasSize(2);
    assertThat(second.claim().awaitDeviceStatus().getFirst().getConditions().getFirst().getMessage())
        .contains("by MPS at the same time as other claims", "25 % of its multiprocessors");

    PodUnderTest limited = workspace.pod("limited", node, Ask.share("1Gi").onCardOf(device), "exec sleep 600");
    assertThat(workspace.awaitEvent("ResourceClaim", limited.claim().name(), "Unallocatable").message())
        .containsPattern("shared by MPS among [0-9]+ devices of claims");
    String uuid = uuid(cluster, node, Integer.parseInt(device.replaceAll("\\D", "")));
    first.deleteAndAwait();
    assertThat(cluster.files().shell(node, "ls /run/partita/mps")).contains(uuid);
    second.deleteAndAwait();
    assertThat(limited.awaitRunning().claim().awaitAllocated().getFirst().getDevice()).isEqualTo(device);
    assertThat(cluster.files().shell(node, "ls /run/partita/mps")).as("when the last one is gone").doesNotContain(uuid);
  }

  @Test
  void anOversubscribedShareHasMoreThanItTakesOfTheCard(RealCluster cluster, Workspace workspace) {
    PodUnderTest pod =
        workspace.pod(
            "oversubscribed", cluster.quietNodes().getLast(), Ask.share("8Gi").config("oversubscribe: 150"),
            "cat /etc/partita/shares/*/quota; partita-probe alloc 11Gi; partita-probe alloc 13Gi; exec sleep 600")
            .awaitLine("13958643712");
    assertThat(pod.log())
        .contains("memory 12884901888\n", "physical 8589934592\n", "alloc 11811160064 CUDA_SUCCESS",
            "alloc 13958643712 CUDA_ERROR_OUT_OF_MEMORY");
    assertThat(pod.claim().awaitAllocated().getFirst().getConsumedCapacity().get("memory")).hasToString("8Gi");
    assertThat(pod.claim().awaitDeviceStatus().getFirst().getConditions().getFirst().getMessage())
        .startsWith("12 GiB (8 GiB of it on the card) of NVIDIA H200");
  }

  @Test
  void cardsAreChosenAndAvoidedByTheirUuid(RealCluster cluster, Workspace workspace) {
    String node = cluster.quietNodes().getFirst();
    String avoided = uuid(cluster, node, 0);
    PodUnderTest elsewhere =
        workspace.pod("elsewhere", node, Ask.share("1Gi").config("placement: {uuids: {avoid: [" + avoided + "]}}"),
            "partita-probe info; exec sleep 600").awaitLine("uuid=");
    assertThat(elsewhere.log()).doesNotContain(avoided);
    String chosen = uuid(cluster, node, 2);
    PodUnderTest there =
        workspace.pod("there", node, Ask.share("1Gi").config("placement: {uuids: {choose: [" + chosen + "]}}"),
            "partita-probe info; exec sleep 600").awaitLine("uuid=");
    assertThat(there.log()).contains(chosen);
  }

  @Test
  void aModelThatIsChosenOrAvoidedIsNamedWhereNoneIsLeft(RealCluster cluster, Workspace workspace) {
    String node = cluster.quietNodes().getFirst();
    PodUnderTest chosen =
        workspace.pod("chosen", node, Ask.share("1Gi").config("placement: {models: {choose: [a100, h100]}}"), "true");
    assertThat(workspace.awaitEvent("ResourceClaim", chosen.claim().name(), "Unallocatable").message())
        .contains("model is h200, asked a100 or h100");
    PodUnderTest avoided =
        workspace.pod("avoided", node, Ask.share("1Gi").config("placement: {models: {avoid: [h200]}}"), "true");
    assertThat(workspace.awaitEvent("ResourceClaim", avoided.claim().name(), "Unallocatable").message())
        .contains("model is h200, which the claim avoids");
    PodUnderTest right = workspace.pod("right", node, Ask.share("1Gi").config("placement: {models: {choose: [h200]}}"),
        "partita-probe info");
    assertThat(right.awaitLog()).contains("NVIDIA H200");
  }

  private static String uuid(RealCluster cluster, String node, int index) {
    List<Object> gpus = Objects.requireNonNull(cluster.gpuNode(node).get().get("status", "gpus"));
    return String.valueOf(((Map<?, ?>) gpus.get(index)).get("uuid"));
  }
}
