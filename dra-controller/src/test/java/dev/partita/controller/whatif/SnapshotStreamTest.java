package dev.partita.controller.whatif;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.controller.GpuNodes;
import dev.partita.controller.request.PodNeeds;
import dev.partita.controller.stream.ClusterStream.Among;
import dev.partita.controller.stream.ClusterStream.Cards;
import dev.partita.controller.stream.ClusterStream.StreamNode;
import dev.partita.controller.stream.ClusterStream.StreamPod;
import dev.partita.controller.stream.StreamEvents;
import dev.partita.controller.stream.StreamPolicy;
import dev.partita.controller.stream.StreamReport;
import dev.partita.controller.stream.StreamRun;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceRequestBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimBuilder;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

class SnapshotStreamTest {
  private static final long GIB = GpuNodes.GIB;

  private static UnaryOperator<Pod> made(String time) {
    return pod -> new PodBuilder(pod).editMetadata().withCreationTimestamp(time).endMetadata().build();
  }

  private static UnaryOperator<Pod> requests(String cpu) {
    return pod -> new PodBuilder(pod).editSpec().addNewContainer().withName("main").withNewResources()
        .addToRequests("cpu", new Quantity(cpu)).endResources().endContainer().endSpec().build();
  }

  private static Node nodeOfCpus(String name, String cpus) {
    return new NodeBuilder().withNewMetadata().withName(name).endMetadata().withNewStatus()
        .addToAllocatable("cpu", new Quantity(cpus)).addToAllocatable("memory", new Quantity("64Gi"))
        .addToAllocatable("pods", new Quantity("110")).endStatus().build();
  }

  @Test
  void podsThatRunAndPodsThatWaitComeInTheOrderInWhichTheyWereMade() {
    SnapshotStream stream =
        SnapshotStream.of(
            new PaperSnapshot().node("a", 2)
                .waits("team/late", 9, "whole").lastPod(made("2026-05-01T10:01:30Z"))
                .runs("team/early", "a", 0, "60Gi").lastPod(made("2026-05-01T10:00:00Z"))
                .done());
    assertThat(stream.leftOut()).isZero();
    assertThat(stream.stream().pods()).containsExactly(
        new StreamPod("team/early", new Cards.Share(1, 60 * GIB, 0, Among.ALL), new PodNeeds(0, 0), 0),
        new StreamPod("team/late", new Cards.Whole(1, Among.ALL), new PodNeeds(0, 0), 90));
  }

  @Test
  void nodesAreEmptyButForPodsWithoutOurDevices() {
    SnapshotStream stream =
        SnapshotStream.of(
            new PaperSnapshot().node(nodeOfCpus("a", "8"), 2)
                .runs("team/ours", "a", 0, "60Gi").lastPod(requests("2"))
                .runsWithoutClaim("team/other", "a").lastPod(requests("3"))
                .done());
    assertThat(stream.stream().nodes()).singleElement()
        .isEqualTo(new StreamNode("a", "h200", 2, 140 * GIB, 2, new PodNeeds(5_000, 64 * GIB)));
    assertThat(stream.stream().pods()).singleElement()
        .satisfies(pod -> assertThat(pod.needs()).isEqualTo(new PodNeeds(2_000, 0)));
  }

  @Test
  void itPlaysUnderAnyPolicy() {
    SnapshotStream stream =
        SnapshotStream.of(
            new PaperSnapshot().node("a", 1).runs("team/x", "a", 0, "60Gi").waits("team/y", 0, "60Gi")
                .waits("team/z", 0, "whole").done());
    StreamReport report =
        StreamRun.play(stream.stream(), StreamPolicy.parse("binpack"), StreamRun.Others.ALLOCATOR,
            new StreamEvents() {
              @Override
              public void arrived(int pod, StreamRun.Answer answer) {}

              @Override
              public void startedLater(int pod, StreamRun.Answer answer, double waited) {}

              @Override
              public void left(int pod) {}
            });
    assertThat(report.demand().failed()).as("the whole card").isEqualTo(1);
  }

  @Test
  void podsWhoseFirstChoiceIsMoreCardsThanAClaimCanHoldAreLeftOut() {
    PaperSnapshot snapshot = new PaperSnapshot().node("a", 2);
    for (String name : List.of("team/x", "team/y")) {
      snapshot.waits(name, 0, "whole").lastClaim(SnapshotStreamTest::asManyAsCanBeWrittenOrElseOne);
    }
    SnapshotStream stream = SnapshotStream.of(snapshot.done());
    assertThat(stream.stream().pods()).isEmpty();
    assertThat(stream.leftOut()).isEqualTo(2);
  }

  private static ResourceClaim asManyAsCanBeWrittenOrElseOne(ResourceClaim claim) {
    String of = claim.getSpec().getDevices().getRequests().getFirst().getExactly().getDeviceClassName();
    return new ResourceClaimBuilder(claim).editSpec().editDevices()
        .withRequests(
            new DeviceRequestBuilder().withName("one").addNewFirstAvailable().withName("all").withDeviceClassName(of)
                .withCount((long) Integer.MAX_VALUE).endFirstAvailable().addNewFirstAvailable().withName("few")
                .withDeviceClassName(of).endFirstAvailable().build(),
            new DeviceRequestBuilder().withName("two").addNewFirstAvailable().withName("all").withDeviceClassName(of)
                .withCount((long) Integer.MAX_VALUE).endFirstAvailable().addNewFirstAvailable().withName("few")
                .withDeviceClassName(of).endFirstAvailable().build())
        .endDevices().endSpec().build();
  }
}
