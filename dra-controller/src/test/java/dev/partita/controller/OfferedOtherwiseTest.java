package dev.partita.controller;

import static dev.partita.controller.Cluster.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.Driver;
import dev.partita.api.gpu.Gpu;
import dev.partita.api.gpu.OtherServer;
import dev.partita.api.node.GpuNode;
import dev.partita.api.node.GpuNodeSpec;
import dev.partita.api.node.GpuNodeStatus;
import dev.partita.api.node.OtherDriverDevice;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceAttributeBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSlice;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSliceBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class OfferedOtherwiseTest {
  @Test
  void aCardThatKubeSchedulerHasGivenAwayIsOfferedInAnotherWayOnceItIsReleased() {
    try (Cluster cluster = Cluster.empty()) {
      cluster.add(GpuNodes.leftToScheduler("node-0", 2, "NVIDIA H200", 140 * GpuNodes.GIB));
      cluster.claim("c", "gpu.partita.dev", Map.of("memory", "8Gi"));
      allocate(cluster, "c", "gpu-0-shared");
      cluster.start();
      eventually().until(() -> devices(cluster).contains("gpu-1"));
      assertThat(devices(cluster)).containsExactly("gpu-0", "gpu-0-shared", "gpu-1", "gpu-1-shared");

      cluster.client.resources(GpuNode.class).withName("node-0").edit(
          node -> {
            node.setSpec(
                new GpuNodeSpec(GpuNodeSpec.Allocator.Scheduler, List.of(GpuNodeSpec.PublishedMode.Shared), null));
            return node;
          });
      eventually()
          .untilAsserted(() -> assertThat(devices(cluster)).containsExactly("gpu-0", "gpu-0-shared", "gpu-1-shared"));

      cluster.deallocate("c");
      eventually().untilAsserted(() -> assertThat(devices(cluster)).containsExactly("gpu-0-shared", "gpu-1-shared"));
    }
  }

  @Test
  void whatWasDecidedForANodeThatIsKubeSchedulersByNowIsNotWritten() {
    try (Cluster cluster = Cluster.empty()) {
      cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
      AtomicBoolean proposed = new AtomicBoolean();
      cluster.start(
          request -> {
            if ("PATCH".equals(request.method()) && request.uri().getPath().endsWith("/resourceclaims/c")
                && !proposed.getAndSet(true)) {
              leaveToScheduler(cluster, "node-0");
            }
          });
      cluster.awaitOffered("node-0");
      cluster.claim("c", "gpu.partita.dev", Map.of("memory", "8Gi"));
      cluster.gatedPod("p", List.of(Driver.ALLOCATION_GATE), "c");
      eventually().until(() -> cluster.gates("p").isEmpty());
      assertThat(proposed).isTrue();
      assertThat(cluster.isAllocated("c")).isFalse();
    }
  }

  @Test
  void nothingIsAllocatedWhereKubeSchedulerStillMay() {
    try (Cluster cluster = Cluster.empty()) {
      cluster.add(GpuNodes.leftToScheduler("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
      cluster.start();
      cluster.awaitOffered("node-0");
      eventually().until(() -> devices(cluster).contains("gpu-0-shared"));
      List<String> slices =
          cluster.slices().stream().map(slice -> "/resourceslices/" + slice.getMetadata().getName()).toList();
      slices.forEach(cluster.rules::forbid);
      cluster.client.resources(GpuNode.class).withName("node-0").edit(
          its -> {
            its.setSpec(new GpuNodeSpec(GpuNodeSpec.Allocator.Controller, List.of(), null));
            return its;
          });
      cluster.claim("c", "gpu.partita.dev", Map.of("memory", "8Gi"));
      cluster.pod("p", "c");
      assertThat(cluster.note("c", "Unallocatable")).contains("its slices still let kube-scheduler allocate there");
      slices.forEach(cluster.rules::permit);
      cluster.result("c");
    }
  }

  /** Returns when kube-scheduler may allocate there. */
  private static void leaveToScheduler(Cluster cluster, String node) {
    cluster.client.resources(GpuNode.class).withName(node).edit(
        its -> {
          its.setSpec(new GpuNodeSpec(GpuNodeSpec.Allocator.Scheduler, List.of(), null));
          return its;
        });
    eventually().until(() -> cluster.slices().stream().flatMap(slice -> slice.getSpec().getDevices().stream())
        .allMatch(device -> device.getTaints().isEmpty()));
  }

  @Test
  void aPoolThatSomebodyHasHalfWrittenIsWrittenAnewWithAllCountersThatItsDevicesTake() {
    try (Cluster cluster = Cluster.empty()) {
      GpuNodeSpec spec =
          new GpuNodeSpec(GpuNodeSpec.Allocator.Scheduler, List.of(GpuNodeSpec.PublishedMode.values()), null);
      cluster.add(GpuNodes.ready("node-0", spec, GpuNodes.migCards("node-0", 4)));
      cluster.claim("c", "mig.gpu.partita.dev", Map.of());
      allocate(cluster, "c", "gpu-0-mig-1g-18gb-0");
      cluster.start();
      eventually().until(() -> cluster.slices().size() == 3);
      long before = cluster.slices().getFirst().getSpec().getPool().getGeneration();

      cluster.client.resource(cluster.slices().getFirst()).edit(
          slice -> new ResourceSliceBuilder(slice).editSpec().editPool().withGeneration(before + 1).endPool().endSpec()
              .build());
      eventually().until(() -> cluster.slices().stream()
          .allMatch(slice -> slice.getSpec().getPool().getGeneration() == before + 2));
      Map<String, Set<String>> counters = cluster.slices().stream()
          .flatMap(slice -> slice.getSpec().getSharedCounters().stream())
          .collect(Collectors.toMap(set -> set.getName(), set -> set.getCounters().keySet()));
      assertThat(cluster.slices().stream().flatMap(slice -> slice.getSpec().getDevices().stream())).hasSize(4 * 27)
          .allSatisfy(device -> assertThat(device.getTaints()).isEmpty())
          .flatExtracting(device -> device.getConsumesCounters())
          .allSatisfy(taken -> assertThat(counters.get(taken.getCounterSet()))
              .containsAll(taken.getCounters().keySet()));
    }
  }

  @Test
  void aCardThatIsWithheldIsOfferedToNobodyAndKeepsWhatIsAllocatedOfIt() {
    try (Cluster cluster = Cluster.empty()) {
      cluster.add(GpuNodes.ready("node-0", 2, "NVIDIA H200", 140 * GpuNodes.GIB));
      cluster.start();
      cluster.claim("had", "gpu.partita.dev", Map.of("memory", "8Gi"));
      cluster.pod("had", "had");
      String had = cluster.result("had").getDevice();
      assertThat(had).isEqualTo("gpu-0-shared");

      withhold(cluster, List.of("GPU-node-0-0"));
      eventually().untilAsserted(() -> assertThat(devices(cluster)).containsExactly("gpu-1", "gpu-1-shared"));
      cluster.claim("next", "gpu.partita.dev", Map.of("memory", "8Gi"));
      cluster.pod("next", "next");
      assertThat(cluster.result("next").getDevice()).as("not packed beside the other one").isEqualTo("gpu-1-shared");
      assertThat(cluster.result("had").getDevice()).isEqualTo(had);
      cluster.claim("whole", "whole.gpu.partita.dev", Map.of());
      cluster.pod("whole", "whole");
      assertThat(cluster.note("whole", "Unallocatable"))
          .isEqualTo(
              "0 of 2 cards fit: 1 card on node-0: not offered at all (spec.withhold or spec.reservedMemory of the GpuNode); 1 card on node-0: the whole card is asked for, but it has 1 share");

      withhold(cluster, List.of());
      eventually().untilAsserted(() -> assertThat(devices(cluster)).hasSize(4));
      cluster.claim("large", "gpu.partita.dev", Map.of("memory", "136Gi"));
      cluster.pod("large", "large");
      assertThat(cluster.note("large", "Unallocatable")).as("what was allocated of it is still counted")
          .contains("132 GiB free of 136 GiB asked");
    }
  }

  @Test
  void aCardThatAnotherDevicePluginHandsOutIsOfferedToNobodyUntilThatOneIsGone() {
    try (Cluster cluster = Cluster.empty()) {
      cluster.add(GpuNodes.ready("node-0", 2, "NVIDIA H200", 140 * GpuNodes.GIB));
      serveElsewhere(cluster, List.of(new OtherServer("nvidia.com/gpu", true, 0)));
      cluster.start();
      eventually().untilAsserted(() -> assertThat(devices(cluster)).containsExactly("gpu-1", "gpu-1-shared"));
      cluster.claim("share", "gpu.partita.dev", Map.of("memory", "8Gi"));
      cluster.pod("share", "share");
      assertThat(cluster.result("share").getDevice()).isEqualTo("gpu-1-shared");
      cluster.claim("whole", "whole.gpu.partita.dev", Map.of());
      cluster.pod("whole", "whole");
      assertThat(cluster.note("whole", "Unallocatable"))
          .isEqualTo(
              "0 of 2 cards fit: 1 card on node-0: handed out as nvidia.com/gpu by another device plugin of its node (servedBy in the GpuNode's status); 1 card on node-0: the whole card is asked for, but it has 1 share");

      serveElsewhere(cluster, List.of(new OtherServer("nvidia.com/gpu", false, 1)));
      assertThat(devices(cluster)).as("its plugin has ended, and a pod has the card still")
          .containsExactly("gpu-1", "gpu-1-shared");
      serveElsewhere(cluster, List.of());
      assertThat(cluster.result("whole").getDevice()).isEqualTo("gpu-0");
    }
  }

  @Test
  void whereNothingOfANodeIsOfferedTheCardsSayWhy() {
    try (Cluster cluster = Cluster.empty()) {
      cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
      serveElsewhere(cluster, List.of(new OtherServer("nvidia.com/gpu", true, 0)));
      cluster.start();
      cluster.awaitOffered();
      cluster.claim("share", "gpu.partita.dev", Map.of("memory", "8Gi"));
      cluster.pod("share", "share");
      assertThat(cluster.note("share", "Unallocatable"))
          .isEqualTo(
              "0 of 1 card fits: 1 card on node-0: handed out as nvidia.com/gpu by another device plugin of its node (servedBy in the GpuNode's status)");
    }
  }

  @Test
  void aCardThatAClaimHasByAnotherDriverIsOfferedToNobodyUntilThatClaimHasEnded() {
    try (Cluster cluster = Cluster.empty()) {
      cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
      cluster.start();
      eventually().untilAsserted(() -> assertThat(devices(cluster)).containsExactly("gpu-0", "gpu-0-shared"));
      ResourceSlice theirs = cluster.client.resource(otherDriversSlice()).create();
      cluster.claim("theirs", "gpu.nvidia.com", Map.of());
      allocate(cluster, "theirs", "gpu.nvidia.com", "node-0", "gpu-3", null);
      eventually().untilAsserted(() -> assertThat(devices(cluster)).isEmpty());
      assertThat(otherDrivers(cluster))
          .containsExactly(new OtherDriverDevice("GPU-node-0-0", "gpu.nvidia.com", "node-0", "gpu-3", 1));
      cluster.claim("share", "gpu.partita.dev", Map.of("memory", "8Gi"));
      cluster.pod("share", "share");
      assertThat(cluster.note("share", "Unallocatable")).isEqualTo(
          "0 of 1 card fits: 1 card on node-0: other claims have it by the DRA driver gpu.nvidia.com (otherDrivers in the GpuNode's status)");

      cluster.client.resource(theirs).delete();
      cluster.claim("next", "gpu.partita.dev", Map.of("memory", "8Gi"));
      cluster.pod("next", "next");
      assertThat(cluster.note("next", "Unallocatable")).as("its driver is gone, and the claim has the card still")
          .contains("by the DRA driver gpu.nvidia.com");

      cluster.deallocate("theirs");
      assertThat(cluster.result("share").getDevice()).isEqualTo("gpu-0-shared");
      eventually().untilAsserted(() -> assertThat(otherDrivers(cluster)).isEmpty());
    }
  }

  @Test
  void aCardThatAnotherDriverPublishesAfterItsClaimWasAllocatedIsOfferedToNobodyEither() {
    try (Cluster cluster = Cluster.empty()) {
      cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
      cluster.claim("theirs", "gpu.nvidia.com", Map.of());
      allocate(cluster, "theirs", "gpu.nvidia.com", "node-0", "gpu-3", null);
      cluster.start();
      eventually().untilAsserted(() -> assertThat(devices(cluster)).containsExactly("gpu-0", "gpu-0-shared"));
      cluster.client.resource(otherDriversSlice()).create();
      eventually().untilAsserted(() -> assertThat(devices(cluster)).isEmpty());
      cluster.client.resource(cluster.read("theirs")).delete();
      eventually().untilAsserted(() -> assertThat(devices(cluster)).containsExactly("gpu-0", "gpu-0-shared"));
    }
  }

  private static List<OtherDriverDevice> otherDrivers(Cluster cluster) {
    return cluster.client.resources(GpuNode.class).withName("node-0").get().getStatus().otherDrivers();
  }

  private static ResourceSlice otherDriversSlice() {
    return new ResourceSliceBuilder().withNewMetadata().withName("node-0-gpu.nvidia.com").endMetadata()
        .withNewSpec().withDriver("gpu.nvidia.com").withNodeName("node-0").withNewPool(1L, "node-0", 1L)
        .addNewDevice().withName("gpu-3")
        .withAttributes(Map.of("uuid", new DeviceAttributeBuilder().withString("GPU-node-0-0").build())).endDevice()
        .endSpec().build();
  }

  private static void serveElsewhere(Cluster cluster, List<OtherServer> others) {
    GpuNode node = cluster.client.resources(GpuNode.class).withName("node-0").get();
    GpuNodeStatus had = node.getStatus();
    List<Gpu> gpus = new ArrayList<>(had.gpus());
    gpus.set(0, gpus.get(0).withServedBy(others));
    node.setStatus(new GpuNodeStatus(had.gpuCount(), had.models(), had.driverVersion(), had.cudaDriverVersion(),
        had.pluginVersion(), had.pluginPodUid(), gpus, had.conditions()));
    cluster.client.resource(node).updateStatus();
  }

  @Test
  void newClaimsAreKeptOffACordonedCardAndWhatRunsOnItGoesOn() {
    try (Cluster cluster = Cluster.empty()) {
      cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
      cluster.start();
      cluster.claim("had", "gpu.partita.dev", Map.of("memory", "8Gi"));
      cluster.pod("had", "had");
      assertThat(cluster.result("had").getDevice()).isEqualTo("gpu-0-shared");

      cordon(cluster, List.of("GPU-node-0-0"));
      eventually().untilAsserted(
          () -> assertThat(cluster.slices().getFirst().getSpec().getDevices()).allSatisfy(device -> assertThat(
              device.getTaints()).extracting(taint -> taint.getKey()).contains("gpu.partita.dev/cordoned")));
      cluster.claim("next", "gpu.partita.dev", Map.of("memory", "8Gi"));
      cluster.pod("next", "next");
      assertThat(cluster.note("next", "Unallocatable"))
          .isEqualTo("0 of 1 card fits: 1 card on node-0: cordoned (spec.cordoned of the GpuNode)");
      assertThat(cluster.result("had").getDevice()).as("what runs goes on").isEqualTo("gpu-0-shared");

      cordon(cluster, List.of());
      assertThat(cluster.result("next").getDevice()).isEqualTo("gpu-0-shared");
    }
  }

  private static void cordon(Cluster cluster, List<String> uuids) {
    cluster.client.resources(GpuNode.class).withName("node-0").edit(
        node -> {
          node.setSpec(
              new GpuNodeSpec(GpuNodeSpec.Allocator.Controller, List.of(), null, null, List.of(), uuids, List.of(),
                  null));
          return node;
        });
  }

  @Test
  void kubeSchedulerMeetsTheFullestCardThatHasSomethingLeftFirst() {
    try (Cluster cluster = Cluster.empty()) {
      cluster.add(GpuNodes.leftToScheduler("node-0", 3, "NVIDIA H200", 140 * GpuNodes.GIB));
      cluster.start();
      eventually().untilAsserted(
          () -> assertThat(inOrder(cluster)).containsExactly("gpu-0-shared", "gpu-1-shared", "gpu-2-shared"));
      cluster.claim("small", "gpu.partita.dev", Map.of("memory", "8Gi"));
      allocate(cluster, "small", "gpu-0-shared", "8Gi");
      cluster.claim("large", "gpu.partita.dev", Map.of("memory", "80Gi"));
      allocate(cluster, "large", "gpu-2-shared", "80Gi");
      eventually().untilAsserted(
          () -> assertThat(inOrder(cluster)).containsExactly("gpu-2-shared", "gpu-0-shared", "gpu-1-shared"));

      cluster.deallocate("large");
      eventually().untilAsserted(
          () -> assertThat(inOrder(cluster)).containsExactly("gpu-0-shared", "gpu-1-shared", "gpu-2-shared"));
    }
  }

  private static void withhold(Cluster cluster, List<String> uuids) {
    cluster.client.resources(GpuNode.class).withName("node-0").edit(
        node -> {
          node.setSpec(new GpuNodeSpec(GpuNodeSpec.Allocator.Controller, List.of(), null, null, uuids));
          return node;
        });
  }

  /** Shares as kube-scheduler meets them. */
  private static List<String> inOrder(Cluster cluster) {
    return cluster.slices().stream()
        .flatMap(slice -> slice.getSpec().getDevices().stream())
        .map(device -> device.getName())
        .filter(name -> name.endsWith("-shared"))
        .toList();
  }

  /** What kube-scheduler does. */
  private static void allocate(Cluster cluster, String claim, String device) {
    allocate(cluster, claim, device, null);
  }

  private static void allocate(Cluster cluster, String claim, String device, @Nullable String memory) {
    allocate(cluster, claim, Driver.NAME, Driver.poolOf("node-0"), device, memory);
  }

  private static void allocate(
      Cluster cluster,
      String claim,
      String driver,
      String pool,
      String device,
      @Nullable String memory) {
    cluster.client
        .resource(
            new ResourceClaimBuilder(cluster.read(claim))
                .editOrNewStatus()
                .editOrNewAllocation()
                .editOrNewDevices()
                .addNewResult()
                .withRequest("gpu")
                .withDriver(driver)
                .withPool(pool)
                .withDevice(device)
                .withShareID(memory == null ? null : "a-share")
                .withConsumedCapacity(memory == null ? null : Map.of("memory", new Quantity(memory)))
                .endResult()
                .endDevices()
                .endAllocation()
                .endStatus()
                .build())
        .updateStatus();
  }

  private static List<String> devices(Cluster cluster) {
    return cluster.slices().stream().filter(slice -> slice.getSpec().getDriver().equals(Driver.NAME))
        .flatMap(slice -> slice.getSpec().getDevices().stream()).map(device -> device.getName()).sorted().toList();
  }
}
