package dev.partita.controller.slices;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.DeviceMode;
import dev.partita.api.gpu.Gpu;
import dev.partita.api.gpu.GpuHealth;
import dev.partita.api.gpu.StaticMigInstance;
import dev.partita.api.node.GpuNode;
import dev.partita.api.node.GpuNodeSpec.Allocator;
import dev.partita.api.node.GpuNodeSpec.PublishedMode;
import dev.partita.api.node.GpuNodeSpec;
import dev.partita.controller.GpuNodes;
import dev.partita.controller.booking.Booking;
import dev.partita.controller.inventory.CardKey;
import dev.partita.controller.inventory.GpuHost;
import dev.partita.controller.inventory.Inventory;
import io.fabric8.kubernetes.api.model.resource.v1.Device;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceTaint;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSlice;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSliceBuilder;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class HeldCardsTest {
  private static final List<PublishedMode> WHOLE_AND_SHARED = List.of(PublishedMode.Whole, PublishedMode.Shared);
  private static final GpuHost BOTH = host(Allocator.Scheduler, WHOLE_AND_SHARED);
  private static final GpuHost SHARES_ONLY = host(Allocator.Scheduler, List.of(PublishedMode.Shared));

  @Test
  void aCardOfWhichSomethingIsAllocatedStaysAsItIsAndTakesNothingNewAndTheOthersChange() {
    HeldCards cards = offered(SHARES_ONLY, published(BOTH), Set.of("gpu-0-shared"));
    assertThat(cards.held()).containsExactly(0);
    PublishedCard before = SlicePlan.cards(BOTH).getFirst();
    assertThat(cards.cards().getFirst().counters()).isPresent().isEqualTo(before.counters());
    assertThat(cards.cards().getFirst().devices()).extracting(Device::getName).containsExactly("gpu-0", "gpu-0-shared");
    assertThat(cards.cards().getFirst().devices()).extracting(Device::getConsumesCounters)
        .isEqualTo(before.devices().stream().map(Device::getConsumesCounters).toList());
    assertThat(cards.cards().getFirst().devices())
        .allSatisfy(device -> assertThat(taints(device)).containsExactly("gpu.partita.dev/changing"));
    assertThat(cards.cards().getLast()).isEqualTo(SlicePlan.cards(SHARES_ONLY).getLast());
  }

  @Test
  void whatWaitsIsNotChangedAgainUntilItIsReleased() {
    Map<Integer, PublishedCard> now = PublishedCard
        .in(slices(SlicePlan.of("node-0", offered(SHARES_ONLY, published(BOTH), Set.of("gpu-0")).cards())));
    assertThat(offered(SHARES_ONLY, now, Set.of("gpu-0")).cards()).isEqualTo(List.copyOf(now.values()));
    assertThat(offered(SHARES_ONLY, now, Set.of()).cards()).isEqualTo(SlicePlan.cards(SHARES_ONLY));
  }

  @Test
  void aCardWhoseSliceIsNewerThanThatOfItsCountersIsAsBothSay() {
    List<ResourceSlice> halfWritten = slices(SlicePlan.of(BOTH));
    halfWritten.getFirst().getSpec().getPool().setGeneration(2L);
    halfWritten.getLast().getSpec().getPool().setGeneration(1L);
    Map<Integer, PublishedCard> now = PublishedCard.in(halfWritten);
    assertThat(List.copyOf(now.values())).isEqualTo(SlicePlan.cards(BOTH));
    assertThat(offered(BOTH, now, Set.of("gpu-0-shared")).held()).isEmpty();
  }

  @Test
  void aCardThatIsInUseIsNeverWithoutTheCountersOfItsDevicesThoughTheyHaveBeenWrittenOver() {
    List<ResourceSlice> halfWritten = slices(SlicePlan.of(BOTH).subList(0, 1));
    Map<Integer, PublishedCard> now = PublishedCard.in(halfWritten);
    assertThat(List.copyOf(now.values())).isEqualTo(SlicePlan.cards(BOTH));
    assertThat(offered(SHARES_ONLY, now, Set.of("gpu-0")).cards().getFirst().counters())
        .isEqualTo(SlicePlan.cards(BOTH).getFirst().counters());
  }

  @Test
  void aCardThatGoesFromTheOneAllocatorToTheOtherWaitsToo() {
    GpuHost byController = host(Allocator.Controller, WHOLE_AND_SHARED);
    HeldCards toScheduler = offered(BOTH, published(byController), Set.of("gpu-1"));
    assertThat(toScheduler.held()).containsExactly(1);
    assertThat(toScheduler.cards().getLast().counters()).isEmpty();
    HeldCards back = offered(byController, published(BOTH), Set.of("gpu-1"));
    assertThat(back.held()).containsExactly(1);
    assertThat(back.cards().getLast().counters()).isPresent();
    assertThat(taints(back.cards().getLast().devices().getFirst())).containsExactly("gpu.partita.dev/allocator",
        "gpu.partita.dev/changing");
  }

  @Test
  void whereTheControllerAllocatesNothingWaitsForItKnowsWhatItHasGiven() {
    GpuHost sharesOnly = host(Allocator.Controller, List.of(PublishedMode.Shared));
    assertThat(offered(sharesOnly, published(host(Allocator.Controller, WHOLE_AND_SHARED)), Set.of("gpu-0")).held())
        .isEmpty();
  }

  @Test
  void whatChangesNoCountersDoesNotWait() {
    GpuHost ill = host(new GpuNodeSpec(Allocator.Scheduler, WHOLE_AND_SHARED, null),
        GpuHealth.unhealthy("GpuIsLost", "it fell off the bus"));
    HeldCards cards = offered(ill, published(BOTH), Set.of("gpu-0", "gpu-1-shared"));
    assertThat(cards.held()).isEmpty();
    assertThat(cards.cards()).isEqualTo(SlicePlan.cards(ill));
  }

  @Test
  void healthIsSaidOfACardThatWaits() {
    GpuHost ill = host(new GpuNodeSpec(Allocator.Scheduler, List.of(PublishedMode.Shared), null),
        GpuHealth.unhealthy("GpuIsLost", "it fell off the bus"));
    HeldCards cards = offered(ill, published(BOTH), Set.of("gpu-0"));
    assertThat(taints(cards.cards().getFirst().devices().getFirst())).containsExactly("gpu.partita.dev/unhealthy",
        "gpu.partita.dev/changing");
  }

  @Test
  void whatAShareHasToItselfTakesNothingNewWhenKubeSchedulerBeginsToAllocate() {
    PoolUse use = new PoolUse(Set.of("gpu-1-shared"),
        Map.of(1, List.of(new Booking(new CardKey("node-0", 1), DeviceMode.WHOLE, 0, 0))), Set.of());
    HeldCards cards = offered(SHARES_ONLY, published(host(Allocator.Controller, List.of(PublishedMode.Shared))), use);
    assertThat(cards.held()).containsExactly(1);
    assertThat(taints(cards.cards().getFirst().devices().getFirst())).isEmpty();
    assertThat(taints(cards.cards().getLast().devices().getFirst())).containsExactly("gpu.partita.dev/changing");
    assertThat(offered(SHARES_ONLY, published(SHARES_ONLY), Set.of()).cards()).as("released")
        .isEqualTo(SlicePlan.cards(SHARES_ONLY));
    GpuHost byController = host(Allocator.Controller, List.of(PublishedMode.Shared));
    assertThat(offered(byController, published(byController), use).held()).as("the controller knows").isEmpty();
  }

  @Test
  void aCardWhoseShareHasMoreThanItWasAllocatedTakesNothingNewWhereKubeSchedulerAllocates() {
    PoolUse use = new PoolUse(Set.of("gpu-1-shared"), Map.of(), Set.of(1));
    HeldCards cards = offered(SHARES_ONLY, published(SHARES_ONLY), use);
    assertThat(cards.held()).containsExactly(1);
    assertThat(taints(cards.cards().getFirst().devices().getFirst())).isEmpty();
    assertThat(taints(cards.cards().getLast().devices().getFirst())).containsExactly("gpu.partita.dev/changing");
    GpuHost byController = host(Allocator.Controller, List.of(PublishedMode.Shared));
    assertThat(offered(byController, published(byController), use).held()).as("the controller counts it").isEmpty();
  }

  @Test
  void aCardOfWhichADeviceIsAllocatedThatIsNotOfferedAnyMoreTakesNothingNew() {
    for (Map<Integer, PublishedCard> published : List.of(published(SHARES_ONLY), Map.<Integer, PublishedCard>of())) {
      HeldCards cards = offered(SHARES_ONLY, published, Set.of("gpu-0", "gpu-1-shared"));
      assertThat(cards.held()).containsExactly(0);
      assertThat(cards.cards().getFirst().devices()).singleElement()
          .satisfies(device -> assertThat(taints(device)).containsExactly("gpu.partita.dev/changing"));
      assertThat(cards.cards().getLast()).isEqualTo(SlicePlan.cards(SHARES_ONLY).getLast());
    }
  }

  @Test
  void whatTheNodeHoldsForAClaimThatIsGoneTakesNothingNewWhereKubeSchedulerAllocates() {
    PoolUse none = new PoolUse(Set.of(), Map.of(), Set.of());
    HeldCards cards = HeldCards.of(SlicePlan.cards(BOTH), published(BOTH), none, Set.of(1), true);
    assertThat(cards.held()).containsExactly(1);
    assertThat(cards.cards().getLast().devices())
        .allSatisfy(device -> assertThat(taints(device)).containsExactly("gpu.partita.dev/changing"));
    GpuHost byController = host(Allocator.Controller, WHOLE_AND_SHARED);
    assertThat(HeldCards.of(SlicePlan.cards(byController), published(byController), none, Set.of(1), false).held())
        .as("the controller counts it")
        .isEmpty();
  }

  @Test
  void whatIsWrongWithOneInstanceIsNotSaidOfTheOthersOfACardThatWaits() {
    Gpu cut = GpuNodes.cut(GpuNodes.migCards("node-0", 1).getFirst(), "1g.18gb:0", "1g.18gb:1");
    StaticMigInstance gone = cut.staticMigInstances().getFirst();
    Gpu card = cut.withStaticMigInstances(List.of(
        new StaticMigInstance(gone.uuid(), gone.profile(), gone.placement(), GpuHealth.unhealthy("Gone", "it is gone")),
        cut.staticMigInstances().getLast()));
    GpuNode node = GpuNodes.ready("node-0", new GpuNodeSpec(Allocator.Scheduler, List.of(), null), List.of(card));
    GpuHost host = Objects.requireNonNull(Inventory.EMPTY.refreshed(List.of(node)).host("node-0"));
    HeldCards cards =
        HeldCards.of(SlicePlan.cards(host), Map.of(), new PoolUse(Set.of(), Map.of(), Set.of()), Set.of(0), true);
    assertThat(cards.cards().getFirst().devices().stream().collect(Collectors.toMap(Device::getName,
        HeldCardsTest::taints)))
        .isEqualTo(Map.of(
            "gpu-0-mig-1g-18gb-0", List.of("gpu.partita.dev/unhealthy", "gpu.partita.dev/changing"),
            "gpu-0-mig-1g-18gb-1", List.of("gpu.partita.dev/changing")));
  }

  private static HeldCards offered(GpuHost wanted, Map<Integer, PublishedCard> published, Set<String> allocated) {
    return offered(wanted, published, new PoolUse(allocated, Map.of(), Set.of()));
  }

  private static HeldCards offered(GpuHost wanted, Map<Integer, PublishedCard> published, PoolUse use) {
    return HeldCards.of(SlicePlan.cards(wanted), published, use, Set.of(), wanted.allocator() == Allocator.Scheduler);
  }

  private static Map<Integer, PublishedCard> published(GpuHost host) {
    return PublishedCard.in(slices(SlicePlan.of(host)));
  }

  private static List<ResourceSlice> slices(List<io.fabric8.kubernetes.api.model.resource.v1.ResourceSliceSpec> specs) {
    return IntStream.range(0, specs.size())
        .mapToObj(i -> new ResourceSliceBuilder().withNewMetadata().withName("s" + i).endMetadata()
            .withSpec(specs.get(i)).build())
        .toList();
  }

  private static List<String> taints(Device device) {
    return device.getTaints().stream().map(DeviceTaint::getKey).toList();
  }

  private static GpuHost host(Allocator allocator, List<PublishedMode> modes) {
    return host(new GpuNodeSpec(allocator, modes, null), GpuHealth.HEALTHY);
  }

  private static GpuHost host(GpuNodeSpec spec, GpuHealth health) {
    List<Gpu> cards = IntStream.range(0, 2)
        .mapToObj(i -> GpuNodes.card("node-0", i, "NVIDIA H200", 140 * GpuNodes.GIB, health)).toList();
    GpuNode node = GpuNodes.ready("node-0", spec, cards);
    return Objects.requireNonNull(Inventory.EMPTY.refreshed(List.of(node)).host("node-0"));
  }
}
