package dev.partita.controller;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.node.GpuNode;
import dev.partita.api.node.GpuNodeSpec.Allocator;
import dev.partita.api.node.GpuNodeSpec.PublishedMode;
import dev.partita.api.node.GpuNodeSpec;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceRequestAllocationResult;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class MigControllerTest {
  private static final String EIGHTH = "device.attributes[\"gpu.partita.dev\"].profile == \"1g.18gb\"";

  @Test
  void anInstanceIsAllocatedUntilAShareOfItsCardIsAskedWhichWaitsForIt() {
    try (Cluster cluster = Cluster.empty()) {
      cluster.add(GpuNodes.ready("node-0", new GpuNodeSpec(Allocator.Controller, List.of(PublishedMode.values()), null),
          GpuNodes.migCards("node-0", 1)));
      cluster.start();
      cluster.claim(new ClaimForm("eighth", "mig.gpu.partita.dev").selector(EIGHTH));
      cluster.pod("eighth", "eighth");
      DeviceRequestAllocationResult result = cluster.result("eighth");
      assertThat(result.getDevice()).isEqualTo("gpu-0-mig-1g-18gb-6");
      assertThat(result.getShareID()).isNull();
      assertThat(result.getConsumedCapacity()).isNullOrEmpty();
      assertThat(cluster.note("eighth", "Allocated"))
          .isEqualTo("gpu-0-mig-1g-18gb-6 on node-0: MIG instance 1g.18gb of NVIDIA H200 GPU-node-0-0");
      cluster.reserve("eighth", "eighth");
      cluster.claim("share", "gpu.partita.dev", Map.of("memory", "8Gi"));
      cluster.pod("share", "share");
      assertThat(cluster.note("share", "Unallocatable"))
          .isEqualTo("0 of 1 card fits: 1 card on node-0: has 1 MIG instance");
      cluster.client.pods().inNamespace("default").withName("eighth").delete();
      cluster.deallocate("eighth");
      assertThat(cluster.result("share").getDevice()).isEqualTo("gpu-0-shared");
    }
  }

  @Test
  void aShareOfAnInstanceIsAllocatedWithItsMemoryAloneAndCountsUntilItIsGivenBack() {
    try (Cluster cluster = Cluster.empty()) {
      cluster
          .add(GpuNodes.ready("node-0", new GpuNodeSpec(Allocator.Controller, List.of(PublishedMode.MigShared), null),
              List.of(GpuNodes.cutShareably(GpuNodes.migCards("node-0", 1).getFirst(), "1g.18gb:3"))));
      cluster.start();
      cluster.claim("half", "shared.mig.gpu.partita.dev", Map.of("memory", "10Gi"));
      cluster.pod("half", "half");
      DeviceRequestAllocationResult result = cluster.result("half");
      assertThat(result.getDevice()).isEqualTo("gpu-0-mig-1g-18gb-3-shared");
      assertThat(result.getShareID()).isNotNull();
      assertThat(result.getConsumedCapacity()).containsOnlyKeys("memory")
          .containsEntry("memory", new Quantity("10Gi"));
      assertThat(cluster.note("half", "Allocated")).isEqualTo(
          "gpu-0-mig-1g-18gb-3-shared on node-0: 10 GiB of MIG instance 1g.18gb of NVIDIA H200 GPU-node-0-0");
      cluster.reserve("half", "half");
      cluster.claim("other", "shared.mig.gpu.partita.dev", Map.of("memory", "8Gi"));
      cluster.pod("other", "other");
      assertThat(cluster.note("other", "Unallocatable"))
          .isEqualTo("0 of 1 card fits: 1 card on node-0: 6 GiB free of 8 GiB asked");
      cluster.client.pods().inNamespace("default").withName("half").delete();
      cluster.deallocate("half");
      assertThat(cluster.result("other").getDevice()).isEqualTo("gpu-0-mig-1g-18gb-3-shared");
    }
  }

  @Test
  void multiprocessorsThatAreAskedForAreTheLeastThatAnInstanceHas() {
    try (Cluster cluster = Cluster.empty()) {
      cluster.add(GpuNodes.ready("node-0", new GpuNodeSpec(Allocator.Controller, List.of(PublishedMode.values()), null),
          GpuNodes.migCards("node-0", 1)));
      cluster.start();
      cluster.claim("c", "mig.gpu.partita.dev", Map.of("multiprocessors", "61", "memory", "8Gi"));
      cluster.pod("p", "c");
      assertThat(cluster.result("c").getDevice()).startsWith("gpu-0-mig-4g-71gb-");
      cluster.claim("d", "gpu.partita.dev", Map.of("multiprocessors", "1"));
      cluster.pod("q", "d");
      assertThat(cluster.note("d", "Unallocatable"))
          .contains("not selected by request gpu: \"multiprocessors\" in device.capacity");
    }
  }

  @Test
  void countersAreWarnedOfWhenTheClusterGrowsSoFar() {
    try (Cluster cluster = Cluster.empty()) {
      cluster.add(GpuNodes.leftToScheduler("node-0", 1, "NVIDIA H200", GpuNodes.GIB));
      cluster.start();
      Cluster.eventually().until(() -> !cluster.slices().isEmpty());
      assertThat(conditions(cluster)).containsExactly("Ready=True");
      for (int i = 1; i < 100; i++) {
        cluster.client.resource(
            new NodeBuilder().withNewMetadata().withName("other-" + i).endMetadata().withNewSpec().endSpec().build())
            .create();
      }
      Cluster.eventually().untilAsserted(() -> assertThat(conditions(cluster)).contains("SlowScheduling=True"));
    }
  }

  @Test
  void countersInALargeClusterAreWarnedOfInTheNodesStatusAsLongAsTheyAreThere() {
    try (Cluster cluster = Cluster.empty()) {
      for (int i = 1; i < 100; i++) {
        cluster.client.resource(
            new NodeBuilder().withNewMetadata().withName("other-" + i).endMetadata().withNewSpec().endSpec().build())
            .create();
      }
      cluster.add(GpuNodes.leftToScheduler("node-0", 1, "NVIDIA H200", GpuNodes.GIB));
      cluster.start();
      Cluster.eventually()
          .untilAsserted(() -> assertThat(conditions(cluster)).contains("Ready=True", "SlowScheduling=True"));
      cluster.client.resources(GpuNode.class).withName("node-0").edit(
          node -> {
            node.setSpec(new GpuNodeSpec(Allocator.Controller, List.of(), null));
            return node;
          });
      Cluster.eventually().untilAsserted(() -> assertThat(conditions(cluster)).containsExactly("Ready=True"));
    }
  }

  private static List<String> conditions(Cluster cluster) {
    List<Condition> conditions =
        cluster.client.resources(GpuNode.class).withName("node-0").get().getStatus().conditions();
    return conditions.stream().map(condition -> condition.getType() + "=" + condition.getStatus()).toList();
  }
}
