package dev.partita.controller;

import static dev.partita.controller.Cluster.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.node.GpuNode;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClassBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceRequestAllocationResult;
import java.time.Clock;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ControllerTest {
  private final Cluster cluster = Cluster.empty();

  @AfterEach
  void close() {
    cluster.close();
  }

  @Test
  void aPodsClaimIsAllocatedAndSaysSo() {
    cluster.add(GpuNodes.ready("node-0", 2, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.start();
    cluster.claim("quarter", "h200.gpu.partita.dev", Map.of("memory", "8Gi", "cores", "25"));
    cluster.pod("pod", "quarter");
    DeviceRequestAllocationResult result = cluster.result("quarter");
    assertThat(result.getDriver()).isEqualTo("gpu.partita.dev");
    assertThat(result.getPool()).isEqualTo("node-0/gpu");
    assertThat(result.getDevice()).isEqualTo("gpu-0-shared");
    assertThat(result.getShareID()).hasSize(36);
    assertThat(result.getConsumedCapacity()).containsEntry("memory", new Quantity("8Gi")).containsEntry("cores",
        new Quantity("25"));
    assertThat(cluster.read("quarter").getMetadata().getFinalizers())
        .contains("resource.kubernetes.io/delete-protection");
    var allocation = cluster.read("quarter").getStatus().getAllocation();
    assertThat(allocation.getAllocationTimestamp()).isNotBlank();
    var field = allocation.getNodeSelector().getNodeSelectorTerms().getFirst().getMatchFields().getFirst();
    assertThat(field.getKey() + " " + field.getOperator() + " " + field.getValues())
        .isEqualTo("metadata.name In [node-0]");
    assertThat(cluster.note("quarter", "Allocated"))
        .isEqualTo("gpu-0-shared on node-0: 8 GiB of NVIDIA H200 GPU-node-0-0, 25 % cores");
  }

  @Test
  void aClaimThatFitsNowhereIsExplainedAndHoldsUpNobody() {
    cluster.add(GpuNodes.ready("node-0", 2, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.start();
    cluster.awaitOffered("node-0");
    cluster.claim("huge", "gpu.partita.dev", Map.of("memory", "200Gi"));
    cluster.pod("huge", "huge");
    cluster.claim("small", "gpu.partita.dev", Map.of("memory", "8Gi"));
    cluster.pod("small", "small");
    cluster.result("small");
    assertThat(cluster.note("huge", "Unallocatable"))
        .isEqualTo(
            "asks 200 GiB; the largest h200 has 140 GiB; 0 of 2 cards fit: 2 cards on node-0: has 140 GiB, asked 200 GiB");
    assertThat(cluster.isAllocated("huge")).isFalse();
  }

  @Test
  void twoSharesGoToOneCardAndAWholeCardToAnother() {
    cluster.add(GpuNodes.ready("node-0", 2, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.start();
    for (String name : new String[]{"a", "b"}) {
      cluster.claim(name, "gpu.partita.dev", Map.of("memory", "8Gi"));
      cluster.pod(name, name);
    }
    assertThat(cluster.result("a").getDevice()).isEqualTo(cluster.result("b").getDevice());
    cluster.claim("whole", "whole.gpu.partita.dev", Map.of());
    cluster.pod("whole", "whole");
    DeviceRequestAllocationResult whole = cluster.result("whole");
    assertThat(whole.getDevice()).isEqualTo("gpu-1");
    assertThat(whole.getShareID()).isNull();
    assertThat(cluster.note("whole", "Allocated")).isEqualTo("gpu-1 on node-0: all of NVIDIA H200 GPU-node-0-1");
  }

  @Test
  void aWaitingPodGetsItsTurnWhenAClaimIsReleased() {
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.start();
    cluster.holdWholeCard("first");
    cluster.claim("second", "gpu.partita.dev", Map.of("memory", "8Gi"));
    cluster.pod("second", "second");
    assertThat(cluster.note("second", "Unallocatable"))
        .isEqualTo("0 of 1 card fits: 1 card on node-0: taken as a whole");
    cluster.release("first");
    assertThat(cluster.result("second").getDevice()).isEqualTo("gpu-0-shared");
  }

  @Test
  void podsGetTheirTurnWhenTheirClassIsMadeOrIsChangedToOneOfOurDevices() {
    cluster.add(GpuNodes.ready("node-0", 3, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.start();
    deviceClass("mistaken", "gpu.exampel.com");
    for (String name : List.of("mistaken", "missing")) {
      cluster.claim(name, name, Map.of("memory", "8Gi"));
      cluster.pod(name, name);
    }
    cluster.claim("next", "gpu.partita.dev", Map.of("memory", "8Gi"));
    cluster.pod("next", "next");
    cluster.result("next"); // by then the others have been decided about
    deviceClass("mistaken", "gpu.partita.dev");
    deviceClass("missing", "gpu.partita.dev");
    cluster.result("mistaken");
    cluster.result("missing");
  }

  private void deviceClass(String name, String driver) {
    cluster.client.resource(new DeviceClassBuilder().withNewMetadata().withName(name).endMetadata().withNewSpec()
        .addNewSelector().withNewCel("device.driver == '" + driver + "'").endSelector().endSpec().build())
        .createOr(existing -> existing.update());
  }

  @Test
  void aPodThatDiesBeforeItStartsLeavesNoAllocation() {
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.start();
    cluster.claim("left", "whole.gpu.partita.dev", Map.of());
    cluster.pod("left", "left");
    cluster.result("left");
    cluster.client.pods().inNamespace("default").withName("left").delete();
    eventually()
        .until(() -> !cluster.isAllocated("left") && cluster.read("left").getMetadata().getFinalizers().isEmpty());
  }

  @Test
  void anAllocationWhosePodDiedWhileItsNodeWasAwayIsTakenBackWhenTheNodeIsBack() {
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.start();
    cluster.claim("left", "whole.gpu.partita.dev", Map.of());
    cluster.pod("left", "left");
    cluster.result("left");
    cluster.client.resources(GpuNode.class).withName("node-0").delete();
    cluster.client.nodes().withName("node-0").delete();
    eventually().until(() -> cluster.slices().isEmpty());
    cluster.client.pods().inNamespace("default").withName("left").delete();
    cluster.claim("next", "whole.gpu.partita.dev", Map.of());
    cluster.pod("next", "next");
    cluster.note("next", "Unallocatable"); // by then the controller has seen what went before
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    assertThat(cluster.result("next").getDevice()).isEqualTo("gpu-0");
  }

  @Test
  void aClaimThatAPodWhichIsOverStillNamesIsReservedForTheNextOneAtOnce() {
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.start();
    cluster.claim("again", "gpu.partita.dev", Map.of("memory", "8Gi"));
    cluster.pod("first", "again");
    cluster.result("again");
    assertThat(cluster.reservedFor("again")).as("left to kube-scheduler").isEmpty();
    cluster.reserve("again", "first");
    cluster.bindAndFinish("first", "node-0");
    cluster.deallocate("again");
    Pod second = cluster.pod("second", "again");
    eventually().until(() -> cluster.isAllocated("again"));
    assertThat(cluster.reservedFor("again")).containsExactly(second.getMetadata().getUid());
  }

  @Test
  void aPodThatComesWhileTheOnlyNodeIsVetoedForItsClaimIsServedWhenTheVetoIsOver() {
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.start();
    cluster.claim("again", "gpu.partita.dev", Map.of("memory", "8Gi"));
    cluster.pod("first", "again");
    cluster.result("again");
    cluster.client.pods().inNamespace("default").withName("first")
        .edit(pod -> new PodBuilder(pod).editOrNewStatus().withPhase("Failed").endStatus().build());
    cluster.deallocate("again");
    cluster.pod("second", "again");
    eventually().until(() -> cluster.isAllocated("again"));
  }

  @Test
  void aVetoEndsThoughTheTimeOfDayIsSetBack() {
    HeldClock timeOfDay = new HeldClock(Clock.systemUTC().instant());
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.start(timeOfDay);
    cluster.awaitOffered("node-0");
    cluster.claim("c", "gpu.partita.dev", Map.of("memory", "8Gi"));
    cluster.pod("p", "c");
    cluster.result("c");
    cluster.deallocate("c");
    assertThat(cluster.note("c", "Unallocatable")).contains("kube-scheduler found no room for the pod there");
    timeOfDay.advance(Duration.ofHours(-1));
    eventually().until(() -> cluster.isAllocated("c"));
  }

  @Test
  void aRestartedControllerKnowsWhatIsTaken() {
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.start();
    cluster.claim("first", "gpu.partita.dev", Map.of("memory", "100Gi"));
    cluster.pod("first", "first");
    cluster.result("first");
    cluster.stopControllers();
    cluster.claim("second", "gpu.partita.dev", Map.of("memory", "100Gi"));
    cluster.pod("second", "second");
    cluster.start();
    assertThat(cluster.note("second", "Unallocatable"))
        .isEqualTo("0 of 1 card fits: 1 card on node-0: 40 GiB free of 100 GiB asked");
  }

  @Test
  void allClaimsOfAPodAreAllocatedOnOneNodeOrNone() {
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.add(GpuNodes.ready("node-1", 2, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.start();
    cluster.awaitOffered("node-0", "node-1");
    cluster.claim("share", "gpu.partita.dev", Map.of("memory", "8Gi"));
    cluster.claim("whole", "whole.gpu.partita.dev", Map.of());
    cluster.pod("both", "share", "whole");
    assertThat(cluster.result("share").getPool()).isEqualTo("node-1/gpu");
    assertThat(cluster.result("whole").getPool()).isEqualTo("node-1/gpu");
    cluster.claim("fits", "gpu.partita.dev", Map.of("memory", "8Gi"));
    cluster.claim("never", "gpu.partita.dev", Map.of("memory", "800Gi"));
    cluster.pod("half", "fits", "never");
    assertThat(cluster.note("fits", "Unallocatable")).startsWith("waits for claim never of the same pod: asks 800 GiB");
    assertThat(cluster.isAllocated("fits")).isFalse();
  }

  @Test
  void aClaimBesideWhichNoneOfItsPodsFindsAPlaceGoesElsewhere() {
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.start();
    cluster.awaitOffered("node-0");
    cluster.claim("shared", "gpu.partita.dev", Map.of("memory", "20Gi"));
    cluster.claim("small", "gpu.partita.dev", Map.of("memory", "20Gi"));
    cluster.pod("first", "shared", "small");
    cluster.result("small");
    for (String name : List.of("second", "third")) {
      cluster.claim(name, "gpu.partita.dev", Map.of("memory", "130Gi"));
      cluster.pod(name, "shared", name);
      cluster.note(name, "Unallocatable");
    }
    cluster.client.pods().inNamespace("default").withName("first").delete();
    eventually().until(() -> !cluster.isAllocated("small"));
    cluster.add(GpuNodes.ready("node-1", 2, "NVIDIA H200", 140 * GpuNodes.GIB));
    eventually().until(() -> cluster.isAllocated("second") || cluster.isAllocated("third"));
    assertThat(cluster.result("shared").getPool()).isEqualTo("node-1/gpu");
  }

  @Test
  void aNodeThatTheSchedulerTookBackIsNotProposedAgainAtOnce() {
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.add(GpuNodes.ready("node-1", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.start();
    cluster.awaitOffered("node-0", "node-1");
    cluster.claim("c", "gpu.partita.dev", Map.of("memory", "8Gi"));
    cluster.pod("p", "c");
    assertThat(cluster.result("c").getPool()).isEqualTo("node-0/gpu");
    cluster.deallocate("c");
    eventually().until(() -> cluster.isAllocated("c") && cluster.result("c").getPool().equals("node-1/gpu"));
  }

  @Test
  void theSchedulersNodesAreLeftToIt() {
    cluster.add(GpuNodes.leftToScheduler("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.start();
    cluster.awaitOffered("node-0");
    cluster.claim("c", "gpu.partita.dev", Map.of("memory", "8Gi"));
    cluster.pod("p", "c");
    eventually().until(() -> cluster.slices().size() == 2);
    cluster.add(GpuNodes.ready("node-1", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    assertThat(cluster.result("c").getPool()).as("a node of the controller's came").isEqualTo("node-1/gpu");
    assertThat(cluster.events("c", "Unallocatable")).isEmpty();
  }

  @Test
  void aHundredPodsAtOnceNeverOvercommit() {
    for (int i = 0; i < 4; i++) {
      cluster.add(GpuNodes.ready("node-" + i, 4, "NVIDIA H200", 100 * GpuNodes.GIB));
    }
    cluster.start();
    for (int i = 0; i < 100; i++) {
      cluster.claim("c" + i, i % 7 == 0 ? "whole.gpu.partita.dev" : "gpu.partita.dev",
          i % 7 == 0 ? Map.of() : Map.of("memory", "15Gi"));
      cluster.pod("p" + i, "c" + i);
    }
    // 15 whole cards are asked for and 16 are there; shares hold at least some of them, so not everything fits.
    eventually()
        .until(
            () -> {
              Set<String> decided = cluster.told("Unallocatable"); // in few requests: there are many pods
              decided.addAll(cluster.allocated());
              return decided.size() == 100;
            });
    Map<String, Integer> shares = new HashMap<>();
    Map<String, Integer> wholes = new HashMap<>();
    for (int i = 0; i < 100; i++) {
      if (cluster.isAllocated("c" + i)) {
        DeviceRequestAllocationResult result = cluster.result("c" + i);
        String card = result.getPool() + "/" + result.getDevice().replace("-shared", "");
        (Cluster.isShared(result) ? shares : wholes).merge(card, 1, Integer::sum);
      }
    }
    assertThat(shares.values()).allSatisfy(count -> assertThat(count).isLessThanOrEqualTo(6));
    assertThat(wholes.values()).allSatisfy(count -> assertThat(count).isEqualTo(1));
    assertThat(shares.keySet()).doesNotContainAnyElementsOf(wholes.keySet());
    assertThat(shares.values().stream().mapToInt(Integer::intValue).sum() + wholes.size()).isGreaterThan(30);
  }
}
