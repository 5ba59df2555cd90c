package dev.partita.controller;

import static dev.partita.controller.Cluster.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What claims say in their opaque config. */
class OpaqueConfigTest {
  private final Cluster cluster = Cluster.empty();

  @AfterEach
  void close() {
    cluster.close();
  }

  @Test
  void aWrongConfigIsAnEventWithItsPathAndNoAllocation() {
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.start();
    cluster.claim("c", "gpu.partita.dev", Map.of("memory", "8Gi"), Map.of("coreLimt", "Hard"));
    cluster.pod("p", "c");
    assertThat(cluster.note("c", "Unallocatable")).startsWith("spec.devices.config[0].opaque.parameters.coreLimt: ");
    assertThat(cluster.isAllocated("c")).isFalse();
  }

  @Test
  void aRightConfigIsPassedDown() {
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.start();
    cluster.claim("c", "gpu.partita.dev", Map.of("memory", "8Gi"), Map.of("coreLimit", "Soft"));
    cluster.pod("p", "c");
    cluster.result("c");
    var config = cluster.read("c").getStatus().getAllocation().getDevices().getConfig().getFirst();
    assertThat(config.getSource()).isEqualTo("FromClaim");
    assertThat(Serialization.asJson(config.getOpaque().getParameters())).contains("\"coreLimit\":\"Soft\"");
  }

  @Test
  void percentOfMemoryIsWrittenAsTheBytesOfThatCard() {
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.start();
    cluster.claim("c", "gpu.partita.dev", Map.of(), Map.of("memoryPercent", 25));
    cluster.pod("p", "c");
    assertThat(cluster.result("c").getConsumedCapacity()).containsEntry("memory", new Quantity("35Gi"));
    assertThat(cluster.note("c", "Allocated"))
        .isEqualTo("gpu-0-shared on node-0: 35 GiB of NVIDIA H200 GPU-node-0-0, no core limit");
  }

  @Test
  void aCardThatAShareHasForItselfIsTakenForEveryController() {
    cluster.add(GpuNodes.ready("node-0", 2, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.start();
    cluster.claim("alone", "gpu.partita.dev", Map.of("memory", "8Gi"), Map.of("placement", Map.of("exclusive", true)));
    cluster.pod("p", "alone");
    assertThat(cluster.result("alone").getConsumedCapacity()).as("what it is held to").containsEntry("memory",
        new Quantity("8Gi"));
    assertThat(cluster.note("alone", "Allocated"))
        .endsWith("8 GiB of NVIDIA H200 GPU-node-0-0, no core limit, nobody else on the card");
    cluster.stopControllers();
    cluster.start(); // it knows by the allocation alone
    cluster.claim("beside", "gpu.partita.dev", Map.of("memory", "8Gi"));
    cluster.pod("q", "beside");
    assertThat(cluster.result("beside").getDevice()).isEqualTo("gpu-1-shared");
    cluster.claim("late", "gpu.partita.dev", Map.of("memory", "8Gi"), Map.of("placement", Map.of("exclusive", true)));
    cluster.pod("r", "late");
    eventually()
        .untilAsserted(
            () -> assertThat(cluster.note("late", "Unallocatable")).contains("1 card on node-0: taken as a whole",
                "1 card on node-0: the whole card is asked for, but it has 1 share"));
  }

  @Test
  void modelsAndCardsAreChosenAndAvoided() {
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.add(GpuNodes.ready("node-1", 2, "NVIDIA A100", 80 * GpuNodes.GIB));
    cluster.start();
    cluster.claim("c", "gpu.partita.dev", Map.of("memory", "8Gi"),
        placement("models", Map.of("avoid", List.of("h200"))));
    cluster.pod("p", "c");
    assertThat(cluster.result("c").getPool()).isEqualTo("node-1/gpu");
    cluster.claim("d", "gpu.partita.dev", Map.of("memory", "8Gi"),
        placement("uuids", Map.of("choose", List.of("GPU-node-1-1"))));
    cluster.pod("q", "d");
    assertThat(cluster.result("d").getDevice()).isEqualTo("gpu-1-shared");
    cluster.claim("e", "gpu.partita.dev", Map.of("memory", "8Gi"),
        placement("models", Map.of("choose", List.of("t4"))));
    cluster.pod("r", "e");
    eventually().untilAsserted(() -> assertThat(cluster.note("e", "Unallocatable")).contains("model is a100, asked t4",
        "model is h200, asked t4"));
  }

  @Test
  void whatIsOversubscribedIsTakenAsItIsAskedFor() {
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.start();
    cluster.claim("c", "gpu.partita.dev", Map.of("memory", "8Gi"), Map.of("oversubscribe", 150));
    cluster.pod("p", "c");
    assertThat(cluster.result("c").getConsumedCapacity()).containsEntry("memory", new Quantity("8Gi"));
    assertThat(cluster.note("c", "Allocated"))
        .endsWith("8 GiB of NVIDIA H200 GPU-node-0-0, no core limit, oversubscribed to 150 % with host memory");
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aWholeCardThatIsToBeOversubscribedIsRefusedWhoeverAllocates(boolean kubeScheduler) {
    cluster.add(kubeScheduler
        ? GpuNodes.leftToScheduler("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB)
        : GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.start();
    cluster.claim("c", "whole.gpu.partita.dev", Map.of(), Map.of("oversubscribe", 150));
    cluster.gatedPod("p", List.of("gpu.partita.dev/allocation"), "c");
    eventually().untilAsserted(() -> assertThat(cluster.note("c", "Unallocatable")).startsWith(
        "spec.devices.requests[0].exactly.deviceClassName: whole.gpu.partita.dev gives whole cards, and oversubscribe"));
    assertThat(cluster.gates("p")).as("the node's plugin would refuse it")
        .containsExactly("gpu.partita.dev/allocation");
  }

  static List<Arguments> whatKubeSchedulerDoesNotKnow() {
    return List.of(
        Arguments.of("memoryPercent", Map.of(), Map.of("memoryPercent", 25)),
        Arguments.of("placement.exclusive", Map.of("memory", "8Gi"), Map.of("placement", Map.of("exclusive", true))),
        Arguments.of("placement.models", Map.of(), placement("models", Map.of("avoid", List.of("t4")))),
        Arguments.of("placement.uuids", Map.of(), placement("uuids", Map.of("choose", List.of("GPU-node-0-0")))));
  }

  @ParameterizedTest
  @MethodSource("whatKubeSchedulerDoesNotKnow")
  void whatKubeSchedulerWouldNotHoldToIsSaidAndNotLeftToIt(
      String field,
      Map<String, String> capacity,
      Map<String, Object> config) {
    cluster.add(GpuNodes.leftToScheduler("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.start();
    cluster.claim("c", "gpu.partita.dev", capacity, config);
    cluster.gatedPod("p", List.of("gpu.partita.dev/allocation"), "c");
    eventually().untilAsserted(() -> assertThat(cluster.note("c", "Unallocatable"))
        .endsWith("kube-scheduler allocates there, and it knows no " + field));
    assertThat(cluster.gates("p")).as("else it would get what it did not ask for")
        .containsExactly("gpu.partita.dev/allocation");
  }

  @Test
  void whatKubeSchedulerDoesAnywayIsLeftToIt() {
    cluster.add(GpuNodes.leftToScheduler("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.start();
    Map<String, Object> placement =
        Map.of("exclusive", true, "numa", "Required", "nvlink", "Required", "gpus", "Spread");
    // all of one card: alone, and near to itself
    cluster.claim("c", "gpu.partita.dev", Map.of(), Map.of("placement", placement));
    cluster.gatedPod("p", List.of("gpu.partita.dev/allocation"), "c");
    eventually().untilAsserted(() -> assertThat(cluster.gates("p")).isEmpty());
  }

  private static Map<String, Object> placement(String field, Map<String, List<String>> choice) {
    return Map.of("placement", Map.of(field, choice));
  }
}
