package dev.partita.controller.whatif;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.partita.api.Driver;
import dev.partita.controller.PodGroupsOfTests;
import dev.partita.controller.GpuNodes;
import dev.partita.controller.TaintRuleBuilder;
import dev.partita.controller.inventory.DeviceTaintRule;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.Taint;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class WhatIfTest {
  private static final long GIB = GpuNodes.GIB;

  private static List<String> words(List<PodOutcome> outcomes) {
    return outcomes.stream().map(outcome -> outcome.pod().getMetadata().getName() + switch (outcome) {
      case PodOutcome.Runs runs -> " on " + runs.node();
      case PodOutcome.Waits _ -> " waits";
    }).toList();
  }

  @Test
  void podsAreDecidedAboutByPriorityAndWhatTheyGetCounts() {
    ClusterSnapshot snapshot =
        new PaperSnapshot().node("a", 1).runs("x", "a", 0, "60Gi").waits("low", 0, "60Gi").waits("high", 5, "60Gi")
            .done();
    List<PodOutcome> outcomes = new WhatIf(snapshot).placeWaiting();
    assertThat(words(outcomes)).containsExactly("high on a", "low waits");
    assertThat(((PodOutcome.Waits) outcomes.getLast()).why()).contains("20 GiB free of 60 GiB asked");
  }

  @Test
  void cardsThatADeviceTaintRuleTaintsAreLeftAloneAndItIsNamed() {
    DeviceTaintRule rule =
        new TaintRuleBuilder("maintenance").driver("gpu.partita.dev").pool("a/gpu").taint("example.com/rack", "7");
    ClusterSnapshot snapshot = new PaperSnapshot().node("a", 1).waits("p", 0, "60Gi").taintRule(rule).done();
    List<PodOutcome> outcomes = new WhatIf(snapshot).placeWaiting();
    assertThat(((PodOutcome.Waits) outcomes.getFirst()).why())
        .contains("taint example.com/rack=7 of the DeviceTaintRule maintenance");
    ClusterSnapshot other = new PaperSnapshot().node("a", 1).node("b", 1).waits("p", 0, "60Gi").taintRule(rule).done();
    assertThat(words(new WhatIf(other).placeWaiting())).containsExactly("p on b");
  }

  @Test
  void addedNodesTakeWhatWaits() {
    ClusterSnapshot snapshot =
        new PaperSnapshot().node("a", 1).runs("x", "a", 0, "whole").waits("one", 0, "whole").waits("two", 0, "100Gi")
            .waits("three", 0, "100Gi").done();
    AddedNodes two = new AddedNodes(2, "NVIDIA H200", 1, OptionalLong.empty());
    assertThat(words(new WhatIf(two.to(snapshot, Optional.empty())).placeWaiting()))
        .filteredOn(word -> !word.endsWith("waits"))
        .hasSize(2).allMatch(word -> word.contains(" on added-h200-"));
    assertThat(words(new WhatIf(snapshot).placeWaiting())).as("nothing is kept").allMatch(
        word -> word.endsWith("waits"));
  }

  @Test
  void addedNodesAreLikeThoseThatHaveSuchCards() {
    ClusterSnapshot snapshot =
        new PaperSnapshot().node(
            new NodeBuilder().withNewMetadata().withName("a").addToLabels("pool", "gpu").endMetadata()
                .withNewStatus().withAllocatable(Map.of("cpu", new Quantity("2"))).endStatus().build(),
            1).waits("small", 0, "10Gi").done();
    ClusterSnapshot larger = new AddedNodes(1, "h200", 4, OptionalLong.empty()).to(snapshot, Optional.empty());
    assertThat(larger.cluster().nodes().getLast().getMetadata().getLabels())
        .containsAllEntriesOf(Map.of("pool", "gpu", "kubernetes.io/hostname", "added-h200-1"));
    assertThat(larger.cluster().nodes().getLast().getStatus().getAllocatable()).containsKey("cpu");
    assertThat(larger.cluster().gpuNodes().getLast().getStatus().gpus()).hasSize(4)
        .allMatch(gpu -> gpu.memoryBytes() == 140 * GIB);
    assertThat(new AddedNodes(1, "h200", 1, OptionalLong.empty()).to(larger, Optional.empty()).cluster().nodes()
        .getLast().getMetadata()
        .getName()).as("another name").isEqualTo("added-h200-2");
  }

  @Test
  void addedNodesAreLikeOneOnWhichTheControllerAllocatesWhereThereIsOne() {
    ClusterSnapshot snapshot = new PaperSnapshot().nodeOfScheduler("a", 1).node("b", 1).waits("eight", 0, "whole")
        .waits("more", 0, "whole").done();
    assertThat(words(
        new WhatIf(new AddedNodes(1, "h200", 1, OptionalLong.empty()).to(snapshot, Optional.empty())).placeWaiting()))
        .anyMatch(word -> word.endsWith(" on added-h200-1"));
  }

  @Test
  void addedNodesAreLikeOneThatIsOpenWhereThereIsOne() {
    Node open = new NodeBuilder().withNewMetadata().withName("c").addToLabels("pool", "gpu").endMetadata()
        .withNewStatus().withAllocatable(Map.of("cpu", new Quantity("2"))).endStatus().build();
    Node away = new NodeBuilder(open).editMetadata().withName("b").withLabels(Map.of("pool", "old")).endMetadata()
        .withNewSpec().addNewTaint("NoExecute", "node.kubernetes.io/unreachable", null, null).endSpec().build();
    ClusterSnapshot snapshot = new PaperSnapshot().gpuNodeWithoutNode("a", 1).node(away, 1).node(open, 1).done();
    ClusterSnapshot larger = new AddedNodes(1, "h200", 1, OptionalLong.empty()).to(snapshot, Optional.empty());
    assertThat(larger.cluster().nodes().getLast().getMetadata().getLabels()).containsEntry("pool", "gpu");
  }

  @Test
  void addedNodesAreLikeTheOneThatIsNamedWhereNodesDiffer() {
    Node reserved = new NodeBuilder().withNewMetadata().withName("a").addToLabels("pool", "reserved").endMetadata()
        .withNewSpec().addNewTaint("NoSchedule", "reserved", null, null).endSpec().withNewStatus()
        .withAllocatable(Map.of("cpu", new Quantity("2"))).endStatus().build();
    Node other = new NodeBuilder(reserved).withNewMetadata().withName("b").addToLabels("pool", "gpu").endMetadata()
        .withNewSpec().endSpec().build();
    Node withoutCards = new NodeBuilder(other).withNewMetadata().withName("c").addToLabels("pool", "web").endMetadata()
        .build();
    ClusterSnapshot snapshot = new PaperSnapshot().node(reserved, 1).node(other, 1).node(withoutCards, 0).done();
    AddedNodes one = new AddedNodes(1, "h200", 1, OptionalLong.empty());
    assertThat(poolOfLast(one.to(snapshot, Optional.empty()))).isEqualTo("reserved");
    assertThat(poolOfLast(one.to(snapshot, Optional.of("b")))).isEqualTo("gpu");
    ClusterSnapshot likeWeb = one.to(snapshot, Optional.of("c"));
    assertThat(poolOfLast(likeWeb)).isEqualTo("web");
    assertThat(likeWeb.cluster().gpuNodes().getLast().getStatus().gpus()).as("cards as others have them")
        .hasSize(1).allMatch(gpu -> gpu.memoryBytes() == 140 * GIB);
  }

  private static @Nullable String poolOfLast(ClusterSnapshot snapshot) {
    return snapshot.cluster().nodes().getLast().getMetadata().getLabels().get("pool");
  }

  @Test
  void addedNodesAreOpenAlsoIfTheOneTheyAreLikeIsClosedNow() {
    Node closed =
        new NodeBuilder().withNewMetadata().withName("a").endMetadata().withNewSpec().withUnschedulable(true)
            .addNewTaint("NoSchedule", "node.kubernetes.io/unschedulable", null, null)
            .addNewTaint("NoExecute", "node.kubernetes.io/unreachable", null, null)
            .addNewTaint("NoSchedule", "nvidia.com/gpu", null, "present").endSpec().build();
    ClusterSnapshot larger = new AddedNodes(1, "h200", 1, OptionalLong.empty())
        .to(new PaperSnapshot().node(closed, 1).waits("p", 0, "whole")
            .lastPod(pod -> new PodBuilder(pod).editSpec().addNewToleration().withKey("nvidia.com/gpu")
                .withOperator("Exists").endToleration().endSpec().build())
            .done(), Optional.empty());
    assertThat(words(new WhatIf(larger).placeWaiting())).containsExactly("p on added-h200-1");
    assertThat(larger.cluster().nodes().getLast().getSpec().getTaints()).extracting(Taint::getKey)
        .containsExactly("nvidia.com/gpu");
  }

  @Test
  void ofAnUnknownModelTheMemoryMustBeSaid() {
    ClusterSnapshot snapshot = new PaperSnapshot().node("a", 1).done();
    assertThatThrownBy(() -> new AddedNodes(1, "L40S", 8, OptionalLong.empty()).to(snapshot, Optional.empty()))
        .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("no card of model l40s");
    WhatIf larger = new WhatIf(new AddedNodes(2, "L40S", 8, OptionalLong.of(45 * GIB)).to(snapshot, Optional.empty()));
    assertThat(larger.fits(RequestedCards.share("default", "l40s", 20 * GIB), 1000).byNode())
        .isEqualTo(Map.of("added-l40s-1", 16, "added-l40s-2", 16));
  }

  @Test
  void asManyFitAsThereIsRoomForAndNothingIsTaken() {
    WhatIf cluster =
        new WhatIf(new PaperSnapshot().node("a", 2).node("b", 1).runs("x", "a", 0, "100Gi").done());
    RequestedCards asked =
        new RequestedCards("default", 1, OptionalLong.of(40 * GIB), OptionalLong.of(30), Optional.empty());
    WhatIf.Fits fits = cluster.fits(asked, 1000);
    assertThat(fits.byNode()).isEqualTo(Map.of("a", 4, "b", 3));
    assertThat(fits.whyNoMore()).contains("20 GiB free of 40 GiB asked");
    assertThat(cluster.fits(asked, 1000)).isEqualTo(fits);
    assertThat(cluster.fits(asked, 2).all()).isEqualTo(2);
    assertThat(cluster.fits(RequestedCards.whole("default", "h200"), 9).byNode()).isEqualTo(Map.of("a", 1, "b", 1));
    assertThat(cluster.wouldRun(RequestedCards.share("default", "h200", 141 * GIB))).isEmpty();
    assertThat(cluster.wouldRun(RequestedCards.share("default", "h200", 139 * GIB))).isPresent();
  }

  @Test
  void quotasCount() {
    WhatIf cluster = new WhatIf(new PaperSnapshot().node("a", 2).quota("team", "50Gi").done());
    WhatIf.Fits fits = cluster.fits(RequestedCards.share("team", "h200", 20 * GIB), 100);
    assertThat(fits.all()).isEqualTo(2);
    assertThat(fits.whyNoMore()).contains("quota");
    assertThat(cluster.fits(RequestedCards.share("default", "h200", 20 * GIB), 100).all()).isEqualTo(14);
  }

  @Test
  void podsOnPaperTolerateTaintsOfOwnersAndNotCordons() {
    PaperSnapshot snapshot =
        new PaperSnapshot()
            .node(new NodeBuilder().withNewMetadata().withName("a").endMetadata().withNewSpec()
                .addNewTaint("NoSchedule", "nvidia.com/gpu", null, "present").endSpec().build(), 1)
            .node(new NodeBuilder().withNewMetadata().withName("b").endMetadata().withNewSpec()
                .withUnschedulable(true).endSpec().build(), 1);
    assertThat(new WhatIf(snapshot.done()).fits(RequestedCards.whole("default", "h200"), 9).byNode())
        .isEqualTo(Map.of("a", 1));
  }

  @Test
  void aGangGetsAllOrNothing() {
    PaperSnapshot snapshot = new PaperSnapshot().node("a", 2);
    for (String name : List.of("one", "two", "three")) {
      snapshot.waits(name, 0, "whole").lastPod(pod -> new PodBuilder(pod).editMetadata()
          .addToAnnotations(Driver.GANG_ANNOTATION, "train").addToAnnotations(Driver.GANG_SIZE_ANNOTATION, "3")
          .endMetadata().build());
    }
    assertThat(words(new WhatIf(snapshot.done()).placeWaiting())).hasSize(3).allMatch(word -> word.endsWith("waits"));
    assertThat(
        words(new WhatIf(new AddedNodes(1, "h200", 1, OptionalLong.empty()).to(snapshot.done(), Optional.empty()))
            .placeWaiting()))
        .hasSize(3).noneMatch(word -> word.endsWith("waits"));
  }

  @Test
  void podsOfAPodGroupGetAllOrNothing() {
    PaperSnapshot snapshot = new PaperSnapshot().node("a", 2).podGroup(PodGroupsOfTests.gang("default", "train", 3));
    for (String name : List.of("one", "two", "three")) {
      snapshot.waits(name, 0, "whole").lastPod(
          pod -> new PodBuilder(pod).editSpec().withNewSchedulingGroup("train").endSpec().build());
    }
    assertThat(words(new WhatIf(snapshot.done()).placeWaiting())).hasSize(3).allMatch(word -> word.endsWith("waits"));
    assertThat(
        words(new WhatIf(new AddedNodes(1, "h200", 1, OptionalLong.empty()).to(snapshot.done(), Optional.empty()))
            .placeWaiting()))
        .hasSize(3).noneMatch(word -> word.endsWith("waits"));
  }
}
