package dev.partita.controller.slices;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.partita.api.Bytes;
import dev.partita.api.DeviceName;
import dev.partita.api.Driver;
import dev.partita.api.gpu.Gpu;
import dev.partita.api.gpu.GpuHealth;
import dev.partita.api.gpu.GpuProduct;
import dev.partita.api.gpu.GpuTopology;
import dev.partita.api.gpu.MigProfile;
import dev.partita.api.gpu.StaticMigInstance;
import dev.partita.api.node.GpuNode;
import dev.partita.api.node.GpuNodeSpec.Allocator;
import dev.partita.api.node.GpuNodeSpec.PublishedMode;
import dev.partita.api.node.GpuNodeSpec;
import dev.partita.controller.GpuNodes;
import dev.partita.controller.TaintRuleBuilder;
import dev.partita.controller.inventory.GpuHost;
import dev.partita.controller.inventory.Inventory;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSliceSpec;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class SlicePlanTest {
  @Test
  void oneCardWhereTheControllerAllocates() {
    var node =
        GpuNodes.ready("node-0", GpuNodeSpec.DEFAULT, GpuNodes.cards("node-0", 1, "NVIDIA H200", 143_771L << 20));
    assertThat(Serialization.asYaml(plan(node).getFirst()))
        .isEqualTo(
            """
                ---
                devices:
                - attributes:
                    architecture:
                      string: "Hopper"
                    brand:
                      string: "Nvidia"
                    cudaComputeCapability:
                      version: "9.0.0"
                    cudaDriverVersion:
                      version: "13.0.0"
                    driverVersion:
                      version: "580.95.5"
                    index:
                      int: 0
                    minor:
                      int: 0
                    mode:
                      string: "whole"
                    model:
                      string: "h200"
                    nvlinkDomain:
                      string: "nvl-0"
                    pciBusID:
                      string: "0000:00:00.0"
                    productName:
                      string: "NVIDIA H200"
                    resource.kubernetes.io/numaNode:
                      int: 0
                    resource.kubernetes.io/pcieRoot:
                      string: "pci0000:00"
                    type:
                      string: "gpu"
                    uuid:
                      string: "GPU-node-0-0"
                  capacity:
                    memory:
                      value: "143771Mi"
                  name: "gpu-0"
                  taints:
                  - effect: "NoSchedule"
                    key: "gpu.partita.dev/allocator"
                    value: "controller"
                - allowMultipleAllocations: true
                  attributes:
                    architecture:
                      string: "Hopper"
                    brand:
                      string: "Nvidia"
                    cudaComputeCapability:
                      version: "9.0.0"
                    cudaDriverVersion:
                      version: "13.0.0"
                    driverVersion:
                      version: "580.95.5"
                    index:
                      int: 0
                    minor:
                      int: 0
                    mode:
                      string: "shared"
                    model:
                      string: "h200"
                    nvlinkDomain:
                      string: "nvl-0"
                    pciBusID:
                      string: "0000:00:00.0"
                    productName:
                      string: "NVIDIA H200"
                    resource.kubernetes.io/numaNode:
                      int: 0
                    resource.kubernetes.io/pcieRoot:
                      string: "pci0000:00"
                    type:
                      string: "gpu"
                    uuid:
                      string: "GPU-node-0-0"
                  capacity:
                    cores:
                      requestPolicy:
                        default: "0"
                        validRange:
                          max: "100"
                          min: "0"
                          step: "1"
                      value: "100"
                    memory:
                      requestPolicy:
                        default: "143771Mi"
                        validRange:
                          max: "143771Mi"
                          min: "1Mi"
                      value: "143771Mi"
                  name: "gpu-0-shared"
                  taints:
                  - effect: "NoSchedule"
                    key: "gpu.partita.dev/allocator"
                    value: "controller"
                driver: "gpu.partita.dev"
                nodeName: "node-0"
                pool:
                  name: "node-0/gpu"
                  resourceSliceCount: 1
                """);
  }

  @Test
  void whereTheSchedulerAllocatesACounterACardMakesTheModesExclusive() {
    List<ResourceSliceSpec> plan = plan(node(Allocator.Scheduler, 2, List.of()));
    assertThat(plan).hasSize(2).allSatisfy(s -> assertThat(s.getPool().getResourceSliceCount()).isEqualTo(2));
    assertThat(plan.get(0).getSharedCounters()).isEmpty();
    assertThat(plan.get(0).getDevices())
        .allSatisfy(
            device -> {
              assertThat(device.getTaints()).isEmpty();
              assertThat(device.getConsumesCounters())
                  .singleElement()
                  .satisfies(c -> assertThat(device.getName()).startsWith(c.getCounterSet()));
            });
    assertThat(plan.get(1).getDevices()).isEmpty();
    assertThat(plan.get(1).getSharedCounters())
        .extracting(set -> set.getName() + " " + Objects.requireNonNull(set.getCounters().get("card")).getValue())
        .containsExactly("gpu-0 1", "gpu-1 1");
  }

  @Test
  void oneModeNeedsNoCounters() {
    List<ResourceSliceSpec> plan = plan(node(Allocator.Scheduler, 2, List.of(PublishedMode.Shared)));
    assertThat(plan).hasSize(1);
    assertThat(plan.getFirst().getDevices())
        .allSatisfy(device -> assertThat(device.getConsumesCounters()).isEmpty())
        .extracting(device -> device.getName())
        .containsExactly("gpu-0-shared", "gpu-1-shared");
  }

  @Test
  void theApisLimitsHold() {
    for (Allocator allocator : List.of(Allocator.Controller, Allocator.Scheduler)) {
      for (int cards : new int[]{1, 8, 16, 33, 100}) {
        List<ResourceSliceSpec> plan = plan(node(allocator, cards, List.of()));
        assertThat(plan)
            .allSatisfy(
                slice -> {
                  assertThat(slice.getPool().getResourceSliceCount()).isEqualTo(plan.size());
                  assertThat(slice.getDevices()).hasSizeLessThanOrEqualTo(64);
                  assertThat(slice.getSharedCounters()).hasSizeLessThanOrEqualTo(8);
                  assertThat(slice.getDevices().isEmpty()).isNotEqualTo(slice.getSharedCounters().isEmpty());
                  assertThat(slice.getDevices())
                      .allSatisfy(
                          d -> assertThat(d.getAttributes().size() + d.getCapacity().size()).isLessThanOrEqualTo(32));
                });
        assertThat(plan.stream().mapToInt(s -> s.getDevices().size()).sum()).isEqualTo(2 * cards);
        Stream<String> names = plan.stream().flatMap(s -> s.getDevices().stream()).map(d -> d.getName());
        assertThat(names).doesNotHaveDuplicates();
      }
    }
  }

  @Test
  void everyProfileAndPlacementIsADeviceAndNoCardIsSpreadOverSlices() {
    List<ResourceSliceSpec> plan = plan(migNode(Allocator.Controller, 16));
    assertThat(plan).hasSize(8).allSatisfy(slice -> assertThat(slice.getDevices()).hasSize(54));
    assertThat(plan.get(0).getDevices()).extracting(device -> device.getName())
        .contains("gpu-0-mig-1g-18gb-6", "gpu-1-mig-7g-141gb-0").noneMatch(name -> name.startsWith("gpu-2"));
    assertThat(plan).allSatisfy(slice -> assertThat(slice.getDevices())
        .allSatisfy(device -> assertThat(device.getConsumesCounters()).isEmpty()));
    var instance = plan.getFirst().getDevices().stream().filter(d -> d.getName().equals("gpu-0-mig-1g-18gb-6"))
        .findFirst().orElseThrow();
    assertThat(Objects.requireNonNull(instance.getAttributes().get("type")).getString()).isEqualTo("mig");
    assertThat(Objects.requireNonNull(instance.getAttributes().get("profile")).getString()).isEqualTo("1g.18gb");
    assertThat(Objects.requireNonNull(instance.getCapacity().get("memory")).getValue()).hasToString("16Gi");
    assertThat(instance.getAllowMultipleAllocations()).isNull();
  }

  @Test
  void aChangeOfOneCardIsAChangeOfOneSliceOnly() {
    List<ResourceSliceSpec> before = plan(migNode(Allocator.Controller, 16));
    List<Gpu> cards = new ArrayList<>(GpuNodes.migCards("node-0", 16));
    cards.set(5, cards.get(5).withHealth(GpuHealth.unhealthy("XID 79", "?")));
    List<ResourceSliceSpec> after = plan(
        GpuNodes.ready("node-0", new GpuNodeSpec(Allocator.Controller, List.of(PublishedMode.values()), null), cards));
    assertThat(java.util.stream.IntStream.range(0, 8).filter(i -> !before.get(i).equals(after.get(i))))
        .containsExactly(2);
  }

  @Test
  void whereTheSchedulerAllocatesMemorySlicesAreCountersSoThatWhatOverlapsExcludesItself() {
    List<ResourceSliceSpec> plan = plan(migNode(Allocator.Scheduler, 16));
    assertThat(plan).hasSize(10);
    List<io.fabric8.kubernetes.api.model.resource.v1.CounterSet> sets =
        plan.stream().flatMap(slice -> slice.getSharedCounters().stream()).toList();
    assertThat(sets).hasSize(16).allSatisfy(set -> assertThat(set.getCounters()).hasSize(9));
    var devices = plan.getFirst().getDevices();
    assertThat(counters(devices, "gpu-0")).isEqualTo(counters(devices, "gpu-0-shared")).hasSize(9);
    assertThat(counters(devices, "gpu-1-mig-3g-71gb-4")).containsExactly("gpu-1", "memory-slice-4", "memory-slice-5",
        "memory-slice-6", "memory-slice-7");
    assertThat(counters(devices, "gpu-0-mig-1g-18gb-me-6")).containsExactly("gpu-0", "memory-slice-6",
        "profile-1g-18gb-me");
  }

  @Test
  void instancesExcludeEachOtherWhereNothingElseIsOffered() {
    List<ResourceSliceSpec> plan = plan(GpuNodes.ready("node-0",
        new GpuNodeSpec(Allocator.Scheduler, List.of(PublishedMode.Mig), null), GpuNodes.migCards("node-0", 1)));
    var devices = plan.getFirst().getDevices();
    assertThat(counters(devices, "gpu-0-mig-7g-141gb-0")).containsAll(counters(devices, "gpu-0-mig-3g-71gb-4"))
        .contains("memory-slice-4");
    assertThat(plan.getLast().getSharedCounters()).hasSize(1);
  }

  @Test
  void whereTheSchedulerAllocatesPodsAreBoundOnceTheInstanceThatIsStillToBeMadeIsThere() {
    for (var device : onceMade(migNode(Allocator.Scheduler, 16))) {
      boolean toBeMade = device.getName().contains("-mig-");
      assertThat(device.getBindingConditions()).as(device.getName())
          .isEqualTo(toBeMade ? List.of("InstanceMade") : List.of());
      assertThat(device.getBindingFailureConditions()).isEqualTo(toBeMade ? List.of("InstanceFailed") : List.of());
      assertThat(Boolean.TRUE.equals(device.getBindsToNode())).isEqualTo(toBeMade);
    }
    assertThat(onceMade(migNode(Allocator.Controller, 16))).as("it would only be bound later")
        .allSatisfy(device -> assertThat(device.getBindingConditions()).isEmpty());
  }

  @Test
  void podsWithAnInstanceThatIsThereAreBoundAtOnce() {
    Gpu cut = GpuNodes.cut(GpuNodes.migCards("node-0", 1).getFirst(), "3g.71gb:4", "1g.18gb:0");
    assertThat(onceMade(GpuNodes.ready("node-0", new GpuNodeSpec(Allocator.Scheduler, List.of(), null), List.of(cut))))
        .hasSize(2).allSatisfy(device -> assertThat(device.getBindingConditions()).isEmpty());
  }

  @Test
  void devicesOfOneCardAreOfTheGroupOfTheirModeWhereTheyTakeCounters() {
    assertThat(cards(migNode(Allocator.Scheduler, 16), SliceFeature.COMPATIBILITY_GROUPS))
        .allSatisfy(device -> assertThat(device.getConsumesCounters()).singleElement()
            .satisfies(taken -> assertThat(taken.getAdditionalProperties())
                .isEqualTo(Map.of("compatibilityGroups", List.of(text(device, "mode"))))));
    assertThat(cards(migNode(Allocator.Controller, 16), SliceFeature.COMPATIBILITY_GROUPS))
        .allSatisfy(device -> assertThat(device.getConsumesCounters()).isEmpty());
  }

  @Test
  void whereTheSchedulerAllocatesDevicesThatExcludeEachOtherAreCountedOneByOne() {
    GpuNodeSpec asked = new GpuNodeSpec(Allocator.Scheduler, List.of(PublishedMode.Whole, PublishedMode.Shared), null);
    GpuNode cards = GpuNodes.ready("node-0", asked, GpuNodes.cards("node-0", 8, "NVIDIA H200", 143_771L << 20));
    assertThat(counted(cards)).extracting(ResourceSliceSpec::getAdditionalProperties).containsExactly(
        Map.of("partitionTypeAttribute", "gpu.partita.dev/partitionType"), Map.of());
    assertThat(counted(cards).getFirst().getDevices()).hasSize(16)
        .allSatisfy(device -> assertThat(text(device, "partitionType")).isEqualTo(device.getName()));
    assertThat(counted(migNode(Allocator.Scheduler, 1)).getFirst().getAdditionalProperties()).isNotEmpty();
    assertThat(counted(migNode(Allocator.Scheduler, 2))).as("more types than Kubernetes counts")
        .allSatisfy(slice -> assertThat(slice.getAdditionalProperties()).isEmpty());
    assertThat(counted(migNode(Allocator.Controller, 1))).as("nothing consumes counters")
        .allSatisfy(slice -> assertThat(slice.getAdditionalProperties()).isEmpty());
  }

  @Test
  void aSliceNamesNoTypesWhereADeviceThatConsumesCountersHasNone() {
    Set<SliceFeature> types = Set.of(SliceFeature.PARTITION_TYPES);
    GpuHost host = host(migNode(Allocator.Scheduler, 1));
    List<PublishedCard> before = SlicePlan.cards(host).stream()
        .map(card -> new PublishedCard(card.index(), card.devices().stream().map(
            device -> new DeviceBuilder(device).removeFromAttributes("partitionType").build()).toList(),
            card.counters()))
        .toList();
    assertThat(SlicePlan.of("node-0", before, (_, _) -> 0, types).getFirst().getAdditionalProperties()).isEmpty();
    ResourceSliceSpec dropped = SlicePlan.of("node-0", SlicePlan.cards(host), (_, _) -> 0, Set.of()).getFirst();
    assertThat(dropped.getAdditionalProperties()).as("the API server drops it").isEmpty();
    assertThat(dropped.getDevices()).as("so that nothing changes when it is tried again")
        .isEqualTo(counted(migNode(Allocator.Scheduler, 1)).getFirst().getDevices());
  }

  private static List<ResourceSliceSpec> counted(GpuNode node) {
    Set<SliceFeature> types = Set.of(SliceFeature.PARTITION_TYPES);
    return SlicePlan.of("node-0", SlicePlan.cards(host(node), types, 0), (_, _) -> 0, types);
  }

  private static GpuHost host(GpuNode node) {
    return Objects.requireNonNull(Inventory.EMPTY.refreshed(List.of(node)).host("node-0"));
  }

  @Test
  void devicesSayWhatTheirContainersTakeOfTheNodesMemory() {
    for (Allocator allocator : Allocator.values()) {
      assertThat(cards(migNode(allocator, 1), SliceFeature.NODE_RESOURCES))
          .allSatisfy(device -> assertThat(device.getAdditionalProperties()).isEqualTo(
              Map.of("nodeAllocatableResources",
                  Map.of("memory", Map.of("overhead", Map.of("perContainer", "300Mi"))))));
    }
    assertThat(cards(migNode(Allocator.Scheduler, 1), SliceFeature.PARTITION_TYPES)).as("the API server drops it")
        .allSatisfy(device -> assertThat(device.getAdditionalProperties()).isEmpty());
    assertThat(SlicePlan.cards(host(migNode(Allocator.Scheduler, 1)), Set.of(SliceFeature.NODE_RESOURCES), 0))
        .as("nobody said how much").flatExtracting(PublishedCard::devices)
        .allSatisfy(device -> assertThat(device.getAdditionalProperties()).isEmpty());
  }

  private static List<io.fabric8.kubernetes.api.model.resource.v1.Device> onceMade(GpuNode node) {
    return cards(node, SliceFeature.BINDING_CONDITIONS);
  }

  private static List<io.fabric8.kubernetes.api.model.resource.v1.Device> cards(GpuNode node, SliceFeature feature) {
    return SlicePlan
        .cards(host(node), Set.of(feature), 300L << 20)
        .stream().flatMap(card -> card.devices().stream()).toList();
  }

  @Test
  void aCardThatSomebodyElseHasCutIsOfferedAsItsInstancesWhateverTheSpecSays() {
    List<Gpu> cards = new ArrayList<>(GpuNodes.migCards("node-0", 2));
    cards.set(0, GpuNodes.cut(cards.get(0), "3g.71gb:4", "1g.18gb:0"));
    var devices = plan(GpuNodes.ready("node-0", GpuNodeSpec.DEFAULT, cards)).getFirst().getDevices();
    assertThat(devices).extracting(device -> device.getName())
        .containsExactly("gpu-0-mig-1g-18gb-0", "gpu-0-mig-3g-71gb-4", "gpu-1", "gpu-1-shared");
    assertThat(text(devices.get(1), "instanceUUID")).isEqualTo("MIG-3g.71gb:4");
    assertThat(text(devices.get(1), "profile")).isEqualTo("3g.71gb");
    assertThat(text(devices.get(1), "model")).isEqualTo("h200");
    assertThat(Objects.requireNonNull(devices.get(1).getCapacity().get("memory")).getValue()).hasToString("69Gi");
    assertThat(devices.get(1).getAllowMultipleAllocations()).isNull();
    assertThat(plan(migNode(Allocator.Controller, 2)).getFirst().getDevices().getFirst().getAttributes())
        .doesNotContainKey("instanceUUID");
  }

  @Test
  void sharesOfAnInstanceAreADeviceOfTheirOwnBesideItWhereTheNodeAsksForThem() {
    Gpu cut = GpuNodes.cutShareably(GpuNodes.migCards("node-0", 1).getFirst(), "3g.71gb:4", "1g.18gb:0");
    GpuNodeSpec asked = new GpuNodeSpec(Allocator.Controller, List.of(PublishedMode.Shared, PublishedMode.MigShared),
        new Quantity("14Gi"));
    var devices = plan(GpuNodes.ready("node-0", asked, List.of(cut))).getFirst().getDevices();
    assertThat(devices).extracting(device -> device.getName()).containsExactly("gpu-0-mig-1g-18gb-0",
        "gpu-0-mig-3g-71gb-4", "gpu-0-mig-3g-71gb-4-shared", "gpu-0-mig-1g-18gb-0-shared");
    var shared = devices.get(2);
    assertThat(shared.getAllowMultipleAllocations()).isTrue();
    assertThat(text(shared, "mode")).isEqualTo("mig-shared");
    assertThat(text(shared, "instanceUUID")).isEqualTo(cut.staticMigInstances().getFirst().uuid());
    assertThat(shared.getCapacity()).containsOnlyKeys("memory");
    assertThat(Bytes.of(Objects.requireNonNull(shared.getCapacity().get("memory")).getValue()))
        .as("without a tenth, as of the card").isEqualTo(69 * GpuNodes.GIB - 69 * GpuNodes.GIB / 10);
    assertThat(shared.getConsumesCounters()).isNullOrEmpty();

    Gpu ofOldDriver = GpuNodes.cut(cut, "3g.71gb:4");
    assertThat(plan(GpuNodes.ready("node-0", asked, List.of(ofOldDriver))).getFirst().getDevices())
        .extracting(device -> device.getName()).as("an instance without a UUID of its own")
        .containsExactly("gpu-0-mig-3g-71gb-4");
    GpuNodeSpec left = new GpuNodeSpec(Allocator.Scheduler, asked.publish(), null);
    assertThat(plan(GpuNodes.ready("node-0", left, List.of(cut))).getFirst().getDevices())
        .extracting(device -> device.getName()).as("where kube-scheduler allocates")
        .containsExactlyInAnyOrder("gpu-0-mig-1g-18gb-0", "gpu-0-mig-3g-71gb-4");
  }

  private static @Nullable String text(
      io.fabric8.kubernetes.api.model.resource.v1.Device device,
      String attribute) {
    return Objects.requireNonNull(device.getAttributes().get(attribute)).getString();
  }

  @Test
  void aStaticInstanceThatIsGoneHasATaintOfItsOwn() {
    Gpu cut = GpuNodes.cut(GpuNodes.migCards("node-0", 1).getFirst(), "3g.71gb:4", "1g.18gb:0");
    Gpu one = cut.withStaticMigInstances(List.of(cut.staticMigInstances().get(1),
        new StaticMigInstance("", "3g.71gb", new MigProfile.Placement(4, 4),
            GpuHealth.unhealthy("MigInstanceIsGone", "?"))));
    var devices = plan(GpuNodes.ready("node-0", GpuNodeSpec.DEFAULT, List.of(one))).getFirst().getDevices();
    assertThat(devices.get(0).getTaints()).extracting(taint -> taint.getKey())
        .containsExactly("gpu.partita.dev/allocator");
    assertThat(devices.get(1).getTaints()).extracting(taint -> taint.getKey(), taint -> taint.getValue())
        .contains(tuple("gpu.partita.dev/unhealthy", "MigInstanceIsGone"));
    var ofCard = plan(GpuNodes.ready("node-0", GpuNodeSpec.DEFAULT,
        List.of(one.withHealth(GpuHealth.unhealthy("XID 79", "?"))))).getFirst().getDevices();
    assertThat(ofCard.get(1).getTaints()).extracting(taint -> taint.getValue()).contains("XID-79")
        .doesNotContain("MigInstanceIsGone");
  }

  private static List<String> counters(List<io.fabric8.kubernetes.api.model.resource.v1.Device> devices, String name) {
    var consumed = devices.stream().filter(device -> device.getName().equals(name)).findFirst().orElseThrow()
        .getConsumesCounters();
    assertThat(consumed).hasSize(1);
    List<String> names = new ArrayList<>();
    if (name.contains("mig")) {
      names.add(consumed.getFirst().getCounterSet());
    }
    consumed.getFirst().getCounters().keySet().stream().sorted().forEach(names::add);
    return names;
  }

  private static GpuNode migNode(Allocator allocator, int cards) {
    return GpuNodes.ready("node-0", new GpuNodeSpec(allocator, List.of(PublishedMode.values()), null),
        GpuNodes.migCards("node-0", cards));
  }

  @Test
  void whicheverOrderKubeSchedulerIsToMeetCardsInNoneGoesToAnotherSlice() {
    List<PublishedCard> cards = SlicePlan.cards(
        Objects.requireNonNull(Inventory.EMPTY.refreshed(List.of(migNode(Allocator.Scheduler, 5))).host("node-0")));
    Comparator<PublishedCard> lastFirst = Comparator.comparingInt(card -> -card.index());
    List<List<Integer>> turned =
        SlicePlan.of("node-0", cards, lastFirst, SliceFeature.NONE).stream().map(SlicePlanTest::cardsOf)
            .filter(slice -> !slice.isEmpty()).toList();
    List<List<Integer>> plain =
        SlicePlan.of("node-0", cards).stream().map(SlicePlanTest::cardsOf).filter(slice -> !slice.isEmpty()).toList();
    assertThat(plain).hasSizeGreaterThan(1);
    assertThat(turned).isEqualTo(plain.stream().map(List::reversed).toList());
  }

  private static List<Integer> cardsOf(ResourceSliceSpec slice) {
    return slice.getDevices().stream().map(device -> DeviceName.parse(device.getName()).orElseThrow().index())
        .distinct().toList();
  }

  @Test
  void anUnhealthyCardStaysWithATaint() {
    List<Gpu> cards = new ArrayList<>(GpuNodes.cards("node-0", 1, "NVIDIA H200", GpuNodes.GIB));
    cards.add(GpuNodes.card("node-0", 1, "NVIDIA H200", GpuNodes.GIB,
        GpuHealth.unhealthy("GpuIsLost", "it fell off the bus")));
    var plan = plan(GpuNodes.ready("node-0", GpuNodeSpec.DEFAULT, cards));
    assertThat(plan.getFirst().getDevices().get(1).getTaints()).hasSize(1);
    assertThat(plan.getFirst().getDevices().get(2).getTaints())
        .extracting(taint -> taint.getKey() + "=" + taint.getValue() + ":" + taint.getEffect())
        .containsExactly("gpu.partita.dev/allocator=controller:NoSchedule",
            "gpu.partita.dev/unhealthy=GpuIsLost:NoSchedule");
  }

  @Test
  void aCordonedCardStaysWithATaintInEveryWayInWhichItIsOffered() {
    GpuNodeSpec spec =
        new GpuNodeSpec(Allocator.Scheduler, List.of(), null, null, List.of(), List.of("GPU-node-0-1"), List.of(),
            null);
    var plan = plan(GpuNodes.ready("node-0", spec, GpuNodes.cards("node-0", 2, "NVIDIA H200", GpuNodes.GIB)));
    assertThat(plan.getFirst().getDevices())
        .extracting(device -> device.getName() + " " + device.getTaints().stream()
            .map(taint -> taint.getKey() + ":" + taint.getEffect()).toList())
        .containsExactlyInAnyOrder("gpu-0 []", "gpu-0-shared []", "gpu-1 [gpu.partita.dev/cordoned:NoSchedule]",
            "gpu-1-shared [gpu.partita.dev/cordoned:NoSchedule]");
  }

  @Test
  void valuesThatTheApiWouldRefuseAreMadeToFit() {
    Gpu odd =
        new Gpu(0, 0, "GPU-1", new GpuProduct("N".repeat(80), "n", "", "Hopper", "unknown"), GpuNodes.GIB,
            GpuTopology.UNKNOWN, GpuHealth.unhealthy("-not a label! " + "x".repeat(80), "?"));
    var device = plan(GpuNodes.ready("node-0", GpuNodeSpec.DEFAULT, List.of(odd))).getFirst().getDevices().getFirst();
    assertThat(Objects.requireNonNull(device.getAttributes().get("productName")).getString()).hasSize(64);
    assertThat(device.getAttributes()).doesNotContainKeys("brand", "cudaComputeCapability", "pciBusID");
    assertThat(device.getTaints().get(1).getValue()).matches("[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?");
  }

  @Test
  void whatDeviceTaintRulesSayIsNotPublished() {
    Inventory inventory =
        Inventory.EMPTY.refreshed(List.of(node(Allocator.Controller, 1, List.of(PublishedMode.Whole))),
            List.of(new TaintRuleBuilder("rule").taint("example.com/away", null)));
    assertThat(SlicePlan.of(Objects.requireNonNull(inventory.host("node-0"))).getFirst().getDevices().getFirst()
        .getTaints()).extracting("key").containsExactly(Driver.ALLOCATOR_TAINT);
  }

  @Test
  void anUnreadyNodePublishesNothing() {
    assertThat(plan(GpuNodes.unready("node-0", "no driver"))).isEmpty();
  }

  private static GpuNode node(Allocator allocator, int cards, List<PublishedMode> modes) {
    return GpuNodes.ready(
        "node-0", new GpuNodeSpec(allocator, modes, null),
        GpuNodes.cards("node-0", cards, "NVIDIA H200", 140 * GpuNodes.GIB));
  }

  private static List<ResourceSliceSpec> plan(GpuNode node) {
    return SlicePlan.of(Objects.requireNonNull(Inventory.EMPTY.refreshed(List.of(node)).host("node-0")));
  }
}
