package dev.partita.controller;

import static dev.partita.controller.Cluster.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.Driver;
import dev.partita.controller.edge.ApiEdge;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodResourceClaim;
import io.fabric8.kubernetes.api.model.PodSchedulingGate;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClassBuilder;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class GangAllocationTest {
  private final Cluster cluster = Cluster.empty();

  @AfterEach
  void close() {
    cluster.close();
  }

  @Test
  void nothingIsAllocatedBeforeAllAreThereAndThenAllAre() {
    cluster.add(GpuNodes.ready("node-0", 2, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.start();
    for (int i = 0; i < 2; i++) {
      member("train", 3, "t" + i, "100Gi");
    }
    eventually().untilAsserted(
        () -> assertThat(cluster.note("t1", "Unallocatable")).isEqualTo("gang train: 2 of 3 pods are there"));
    assertThat(cluster.isAllocated("t0")).isFalse();
    member("train", 3, "t2", "40Gi");
    for (int i = 0; i < 3; i++) {
      mayRunWithItsCard("t" + i);
    }
  }

  @Test
  void ofTwoGangsThatDoNotFitTogetherOneIsAllocatedAndTheOtherHoldsNothing() {
    cluster.add(GpuNodes.ready("node-0", 3, "NVIDIA H200", 140 * GpuNodes.GIB));
    for (int i = 0; i < 2; i++) { // both have half their pods before the other half comes
      member("a", 2, "a" + i, "100Gi");
      member("b", 2, "b" + i, "100Gi");
    }
    cluster.start();
    eventually().until(() -> cluster.isAllocated("a1") || cluster.isAllocated("b1"));
    String first = cluster.isAllocated("a1") ? "a" : "b";
    String second = first.equals("a") ? "b" : "a";
    cluster.result(first + "0");
    eventually()
        .untilAsserted(
            () -> assertThat(cluster.note(second + "0", "Unallocatable"))
                .startsWith("gang " + second + ": waits for pod " + second + "1: 0 of 3 cards fit"));
    cluster.claim("small", "gpu.partita.dev", Map.of("memory", "140Gi"));
    cluster.pod("small", "small");
    cluster.result("small"); // on the card that only half of the second gang could have used
    assertThat(cluster.isAllocated(second + "0")).isFalse();
    assertThat(cluster.gates(second + "0")).containsExactly(Driver.ALLOCATION_GATE);
    cluster.client.pods().inNamespace("default").withName("small").delete();
    cluster.client.pods().inNamespace("default").withName(first + "0").delete();
    cluster.result(second + "0");
    cluster.result(second + "1");
  }

  @Test
  void aPodForWhichThereIsNothingToAllocateDoesNotWaitForItsGang() {
    nics();
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.start();
    cluster.claim("nic", "nic", Map.of());
    podOf("train", 2, "p", "nic");
    eventually().untilAsserted(() -> assertThat(cluster.gates("p")).isEmpty());
  }

  @Test
  void whenTheOddOneGoesTheOthersGetTheirPlace() {
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.start();
    member("train", 2, "a", "8Gi");
    eventually().untilAsserted(() -> assertThat(cluster.note("a", "Unallocatable")).contains("1 of 2 pods are there"));
    member("train", 3, "odd", "8Gi");
    eventually().untilAsserted(() -> assertThat(cluster.note("odd", "Unallocatable")).contains("disagree"));
    member("train", 2, "b", "8Gi");
    eventually().untilAsserted(() -> assertThat(cluster.note("b", "Unallocatable")).contains("disagree"));
    cluster.client.pods().inNamespace("default").withName("odd").delete();
    cluster.result("a");
    cluster.result("b");
  }

  @Test
  void whenTheOddOneLeavesTheGangTheOthersGetTheirPlace() {
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.start();
    member("train", 2, "a", "8Gi");
    member("train", 2, "b", "8Gi");
    member("train", 3, "odd", "800Gi");
    for (String name : List.of("a", "b", "odd")) { // as long as one is still to be told, that has the gang looked at
      eventually().until(() -> waitsFor(name).contains("disagree"));
    }
    eventually().ignoreExceptionsMatching(ApiEdge::isConflict)
        .until(() -> cluster.client.pods().inNamespace("default").withName("odd").edit(pod -> new PodBuilder(pod)
            .editMetadata().removeFromAnnotations(Driver.GANG_ANNOTATION).endMetadata().build()) != null);
    cluster.result("a");
    cluster.result("b");
  }

  /** Why the pod waits, as its condition says it. */
  private String waitsFor(String pod) {
    return Optional.ofNullable(cluster.client.pods().inNamespace("default").withName(pod).get().getStatus()).stream()
        .flatMap(status -> status.getConditions().stream())
        .filter(condition -> Driver.ALLOCATED_CONDITION.equals(condition.getType()))
        .map(PodCondition::getMessage).findFirst().orElse("");
  }

  @Test
  void theGateOfAPodForWhichOthersAllocateGoesOnceItsGangHasItsPlace() {
    nics();
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.start();
    member("train", 2, "worker", "8Gi");
    eventually()
        .untilAsserted(() -> assertThat(cluster.note("worker", "Unallocatable")).contains("1 of 2 pods are there"));
    cluster.claim("nic", "nic", Map.of());
    podOf("train", 2, "launcher", "nic");
    mayRunWithItsCard("worker");
    eventually().until(() -> cluster.gates("launcher").isEmpty());
  }

  @Test
  void aGangThatLacksPodsKeepsNothingThoughOthersAreStillToAllocateForIt() {
    nics();
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.start();
    for (String name : List.of("a", "b")) {
      cluster.claim(name, "gpu.partita.dev", Map.of("memory", "8Gi"));
      cluster.claim("nic-of-" + name, "nic", Map.of());
      podOf("train", 2, name, List.of(name, "nic-of-" + name), List.of(Driver.ALLOCATION_GATE));
    }
    mayRunWithItsCard("a");
    mayRunWithItsCard("b");
    cluster.client.pods().inNamespace("default").withName("b").delete();
    eventually().until(() -> !cluster.isAllocated("a"));
  }

  @Test
  void podsThatNameAPodGroupAreAGangOnceItIsThere() {
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.start();
    for (int i = 0; i < 2; i++) {
      inPodGroup("train", "p" + i, "60Gi");
    }
    eventually().untilAsserted(() -> assertThat(cluster.note("p1", "Unallocatable"))
        .isEqualTo("gang of PodGroup train: there is no PodGroup of that name"));
    cluster.client.resource(PodGroupsOfTests.gang("default", "train", 3)).create();
    eventually().untilAsserted(() -> assertThat(cluster.note("p1", "Unallocatable"))
        .isEqualTo("gang of PodGroup train: 2 of 3 pods are there"));
    assertThat(cluster.isAllocated("p0")).isFalse();
    cluster.client.resource(PodGroupsOfTests.gang("default", "train", 2)).update(); // as its author may
    for (int i = 0; i < 2; i++) {
      mayRunWithItsCard("p" + i);
    }
  }

  @Test
  void aGangWithMorePodsThanItNeedsDoesWithoutOneThatIsRefused() {
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.client.resource(PodGroupsOfTests.gang("default", "train", 2)).create();
    cluster.start();
    inPodGroup("train", "a", Map.of("tflops", "8"));
    inPodGroup("train", "b", "60Gi");
    inPodGroup("train", "c", "60Gi");
    mayRunWithItsCard("b");
    mayRunWithItsCard("c");
    eventually().untilAsserted(() -> assertThat(waitsFor("a")).startsWith("claim a: ").contains("tflops"));
  }

  @Test
  void aGangWithMorePodsThanItNeedsDoesWithoutOneThatFindsNoPlace() {
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.client.resource(PodGroupsOfTests.gang("default", "train", 2)).create();
    cluster.start();
    inPodGroup("train", "a", "200Gi");
    inPodGroup("train", "b", "60Gi");
    inPodGroup("train", "c", "60Gi");
    mayRunWithItsCard("b");
    mayRunWithItsCard("c");
    eventually().untilAsserted(() -> assertThat(waitsFor("a")).startsWith("asks 200 GiB"));
  }

  @Test
  void aPodWithGatesOfOthersIsNoneOfThoseThatAGangNeedsThoughItsClaimIsAllocatedAlready() {
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.start();
    cluster.awaitOffered("node-0");
    cluster.claim("a", "gpu.partita.dev", Map.of("memory", "8Gi"));
    cluster.claim("b", "gpu.partita.dev", Map.of("memory", "8Gi"));
    cluster.pod("before", "a");
    cluster.result("a");
    cluster.stopControllers();
    cluster.client.pods().inNamespace("default").withName("before").delete();
    podOf("train", 2, "a", List.of("a"), List.of("queue", Driver.ALLOCATION_GATE));
    podOf("train", 2, "b", "b");
    cluster.start();
    eventually().untilAsserted(() -> assertThat(waitsFor("b"))
        .isEqualTo("gang train: waits for pod a, which has scheduling gates of others: queue"));
    assertThat(cluster.gates("b")).as("it could be bound without the other").contains(Driver.ALLOCATION_GATE);
    eventually().until(() -> !cluster.isAllocated("a"));
    cluster.setGates("a", Driver.ALLOCATION_GATE);
    mayRunWithItsCard("a");
    mayRunWithItsCard("b");
  }

  @Test
  void podsOfAPodGroupThatSaysNothingOfAGangAreDecidedOneByOne() {
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.client.resource(PodGroupsOfTests.basic("default", "loose")).create();
    cluster.start();
    inPodGroup("loose", "fits", "60Gi");
    cluster.result("fits");
    inPodGroup("loose", "large", "100Gi");
    eventually().untilAsserted(() -> assertThat(cluster.note("large", "Unallocatable")).startsWith("0 of 1"));
  }

  @Test
  void whatAGangHasStaysWhileTheWatchDoesNotShowTheRestYet() {
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.start();
    cluster.awaitOffered();
    cluster.rules.delay(
        claim -> claim.getMetadata().getName().equals("t1") && claim.get("status", "allocation") != null);
    for (int i = 0; i < 2; i++) {
      cluster.claim("t" + i, "gpu.partita.dev", Map.of("memory", "8Gi"));
      podOf("train", 2, "t" + i, List.of("t" + i), List.of()); // without a gate, which would be taken off after the write
    }
    String share = cluster.result("t0").getShareID();
    cluster.result("t1");
    cluster.claim("later", "gpu.partita.dev", Map.of("memory", "8Gi"));
    cluster.pod("later", "later");
    cluster.result("later"); // what became of the gang was heard of before
    eventually().during(Duration.ofMillis(300))
        .untilAsserted(() -> assertThat(cluster.isAllocated("t0")).as("nothing is taken back").isTrue());
    cluster.rules.tellAll();
    assertThat(cluster.result("t0").getShareID()).isEqualTo(share);
  }

  @Test
  void podsOfAGangMayShareAClaim() {
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.start();
    cluster.claim("shared", "gpu.partita.dev", Map.of("memory", "8Gi"));
    for (int i = 0; i < 2; i++) {
      podOf("train", 2, "p" + i, "shared");
    }
    cluster.result("shared");
    for (int i = 0; i < 2; i++) {
      String pod = "p" + i;
      eventually().until(() -> cluster.gates(pod).isEmpty());
    }
  }

  @Test
  void autoscalersSeeAllPodsOfAGangThatHasNoPlaceUnlessKubeSchedulerCouldTearItApart() {
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.startAutoscaled();
    for (int i = 0; i < 2; i++) {
      member("train", 2, "t" + i, "100Gi");
    }
    eventually().until(() -> cluster.gates("t0").isEmpty() && cluster.gates("t1").isEmpty());
    assertThat(cluster.isAllocated("t0") || cluster.isAllocated("t1")).as("one would fit").isFalse();
    cluster.add(GpuNodes.leftToScheduler("node-1", 1, "NVIDIA A100", 80 * GpuNodes.GIB));
    for (int i = 0; i < 2; i++) {
      member("second", 2, "s" + i, "100Gi");
    }
    eventually().untilAsserted(() -> assertThat(cluster.note("s0", "Unallocatable")).startsWith("gang second: waits"));
    assertThat(cluster.gates("s0")).isNotEmpty();
    for (String pod : List.of("s0", "s1")) { // which could have the place just as well
      cluster.client.pods().inNamespace("default").withName(pod).delete();
    }
    cluster.add(GpuNodes.ready("node-2", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.result("t0");
    cluster.result("t1");
  }

  /** Waits until the claim of the pod's name is allocated, and the pod's gate is gone. */
  private void mayRunWithItsCard(String pod) {
    cluster.result(pod);
    eventually().until(() -> cluster.gates(pod).isEmpty());
  }

  private void member(String gang, int size, String name, String memory) {
    cluster.claim(name, "gpu.partita.dev", Map.of("memory", memory));
    podOf(gang, size, name, name);
  }

  private void inPodGroup(String group, String name, String memory) {
    inPodGroup(group, name, Map.of("memory", memory));
  }

  private void inPodGroup(String group, String name, Map<String, String> capacity) {
    cluster.claim(name, "gpu.partita.dev", capacity);
    cluster.client
        .resource(
            new PodBuilder()
                .withNewMetadata()
                .withName(name)
                .withNamespace("default")
                .endMetadata()
                .withNewSpec()
                .withNewSchedulingGroup(group)
                .addNewSchedulingGate(Driver.ALLOCATION_GATE)
                .addNewResourceClaim()
                .withName("gpu")
                .withResourceClaimName(name)
                .endResourceClaim()
                .endSpec()
                .build())
        .create();
  }

  /** Another driver's class. */
  private void nics() {
    cluster.client
        .resource(
            new DeviceClassBuilder().withNewMetadata().withName("nic").endMetadata().withNewSpec().endSpec().build())
        .create();
  }

  private void podOf(String gang, int size, String name, String claim) {
    podOf(gang, size, name, List.of(claim), List.of(Driver.ALLOCATION_GATE));
  }

  private void podOf(String gang, int size, String name, List<String> claims, List<String> gates) {
    cluster.client
        .resource(
            new PodBuilder()
                .withNewMetadata()
                .withName(name)
                .withNamespace("default")
                .addToAnnotations("gpu.partita.dev/gang", gang)
                .addToAnnotations("gpu.partita.dev/gang-size", Integer.toString(size))
                .endMetadata()
                .withNewSpec()
                .withSchedulingGates(gates.stream().map(PodSchedulingGate::new).toList())
                .withResourceClaims(claims.stream().map(claim -> new PodResourceClaim(claim, claim, null)).toList())
                .endSpec()
                .build())
        .create();
  }
}
