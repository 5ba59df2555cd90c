package dev.partita.controller;

import static dev.partita.controller.Cluster.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

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
    assertThat(cluster.note("c", "Allocated")).isEqualTo("gpu-0-shared on node-0: 35 GiB of NVIDIA H200 GPU-node-0-0, no core limit");
  }

  @Test
  void percentOfMemoryWhereKubeSchedulerAllocatesIsSaidAndNotLeftToIt() {
    cluster.add(GpuNodes.leftToScheduler("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.start();
    cluster.claim("c", "gpu.partita.dev", Map.of(), Map.of("memoryPercent", 25));
    cluster.gatedPod("p", List.of("gpu.partita.dev/allocation"), "c");
    eventually().untilAsserted(() -> assertThat(cluster.note("c", "Unallocatable")).endsWith("kube-scheduler allocates there, and it knows no memoryPercent"));
    assertThat(cluster.gates("p")).as("else it would get all of the card's memory").containsExactly("gpu.partita.dev/allocation");
  }
}
