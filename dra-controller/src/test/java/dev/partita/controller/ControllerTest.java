package dev.partita.controller;

import static dev.partita.controller.Cluster.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClass;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceRequestAllocationResult;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ControllerTest {
  private final Cluster cluster = Cluster.empty();

  @AfterEach
  void close() {
    cluster.close();
  }

  @Test
  void aReadyNodeGetsSlicesAndClasses() {
    cluster.add(GpuNodes.ready("node-0", 2, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.start();
    eventually().until(() -> cluster.slices().size() == 1);
    assertThat(cluster.slices().getFirst().getSpec().getDevices())
        .extracting(d -> d.getName())
        .containsExactly("gpu-0", "gpu-0-shared", "gpu-1", "gpu-1-shared");
    eventually().until(() -> cluster.client.resources(DeviceClass.class).list().getItems().size() == 3);
    assertThat(cluster.client.resources(DeviceClass.class).list().getItems())
        .extracting(c -> c.getMetadata().getName())
        .containsExactlyInAnyOrder("gpu.partita.dev", "whole.gpu.partita.dev", "h200.gpu.partita.dev");
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
    assertThat(result.getConsumedCapacity()).containsEntry("memory", new Quantity("8Gi")).containsEntry("cores", new Quantity("25"));
    assertThat(cluster.read("quarter").getMetadata().getFinalizers()).contains("resource.kubernetes.io/delete-protection");
    var allocation = cluster.read("quarter").getStatus().getAllocation();
    assertThat(allocation.getAllocationTimestamp()).isNotBlank();
    var field = allocation.getNodeSelector().getNodeSelectorTerms().getFirst().getMatchFields().getFirst();
    assertThat(field.getKey() + " " + field.getOperator() + " " + field.getValues()).isEqualTo("metadata.name In [node-0]");
    assertThat(cluster.note("quarter", "Allocated"))
        .isEqualTo("gpu-0-shared on node-0: 8 GiB of NVIDIA H200 GPU-node-0-0, 25 % cores");
  }

  @Test
  void aClaimThatFitsNowhereIsExplainedAndHoldsUpNobody() {
    cluster.add(GpuNodes.ready("node-0", 2, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.start();
    cluster.claim("huge", "gpu.partita.dev", Map.of("memory", "200Gi"));
    cluster.pod("huge", "huge");
    cluster.claim("small", "gpu.partita.dev", Map.of("memory", "8Gi"));
    cluster.pod("small", "small");
    cluster.result("small");
    assertThat(cluster.note("huge", "Unallocatable"))
        .isEqualTo("asks 200 GiB; the largest h200 has 140 GiB; 0 of 2 cards fit: 2 cards on node-0: has 140 GiB, asked 200 GiB");
    assertThat(cluster.isAllocated("huge")).isFalse();
  }
}
