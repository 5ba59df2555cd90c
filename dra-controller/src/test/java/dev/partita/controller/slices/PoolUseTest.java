package dev.partita.controller.slices;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.Driver;
import dev.partita.api.gpu.Gpu;
import dev.partita.api.node.GpuNodeSpec.Allocator;
import dev.partita.api.node.GpuNodeSpec;
import dev.partita.api.resize.GrantedSizes;
import dev.partita.api.resize.ShareSize;
import dev.partita.controller.GpuNodes;
import dev.partita.controller.booking.Booking;
import dev.partita.controller.inventory.CardKey;
import dev.partita.controller.inventory.Inventory;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimBuilder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class PoolUseTest {
  private static final List<PublishedCard> LARGE_AND_SMALL = cards(140, 140, 80, 80);

  @Test
  void smallCardsComeFirstAsLongAsNoneIsBegun() {
    assertThat(order()).containsExactly(2, 3, 0, 1);
  }

  @Test
  void begunCardsComeBeforeUntouchedOnesTheFullestFirstAndFullOnesLast() {
    assertThat(order(share("gpu-1-shared", "8Gi"), share("gpu-0-shared", "70Gi"), share("gpu-0-shared", "6Gi")))
        .containsExactly(0, 1, 2, 3);
    assertThat(order(share("gpu-3-shared", "80Gi"), share("gpu-1-shared", "1Gi"))).containsExactly(1, 2, 0, 3);
    assertThat(order(share("gpu-2", null))).as("a whole card").containsExactly(3, 0, 1, 2);
  }

  @Test
  void ofACardInTurnNothingIsLeftThoughNoMemoryIsBooked() {
    Booking turn = Booking.turn(new CardKey("node-0", 2));
    PoolUse use = new PoolUse(Set.of("gpu-2-shared"), Map.of(2, List.of(turn)), Set.of());
    assertThat(use.isClosedByShares(2)).isTrue();
    assertThat(use.isClosedByShares(1)).isFalse();
    assertThat(LARGE_AND_SMALL.stream().sorted(use.bestFitFirst()).map(PublishedCard::index))
        .containsExactly(3, 0, 1, 2);
  }

  @Test
  void aCardOfWhoseMigInstanceThereAreSharesIsClosedToKubeSchedulerWhichWouldAllocateTheInstanceBesideThem() {
    PoolUse use = PoolUse.of("node-0", List.of(share("gpu-2-mig-1g-18gb-0-shared", "8Gi")));
    assertThat(use.isClosedByShares(2)).isTrue();
    assertThat(PoolUse.of("node-0", List.of(share("gpu-2-mig-1g-18gb-0", null))).isClosedByShares(2)).isFalse();
  }

  @Test
  void aCardIsGrownAsLongAsAShareOfItCountsWithMoreThanItWasAllocated() {
    ResourceClaim asAllocated = share("gpu-0-shared", "8Gi");
    ResourceClaim larger = granted("gpu-1-shared", "memory=100Gi,cores=0");
    ResourceClaim more = granted("gpu-2-shared", "memory=8Gi,cores=40");
    ResourceClaim smaller = granted("gpu-3-shared", "memory=1Gi,cores=0");
    assertThat(PoolUse.of("node-0", List.of(asAllocated, larger, more, smaller)).grown()).containsExactly(1, 2);
    assertThat(PoolUse.of("node-1", List.of(larger)).grown()).as("of another node").isEmpty();
  }

  @Test
  void aShareThatDoesNotSayWhatItConsumesHasTheWholeCard() {
    assertThat(order(share("gpu-2-shared", "1Gi"), share("gpu-2-shared", null))).containsExactly(3, 0, 1, 2);
  }

  @Test
  void whoLooksOnlyAndWhatOthersHaveTakesNothing() {
    ResourceClaim looks = share("gpu-0", null);
    looks.getStatus().getAllocation().getDevices().getResults().getFirst().setAdminAccess(true);
    ResourceClaim elsewhere = share("gpu-0-shared", "8Gi");
    elsewhere.getStatus().getAllocation().getDevices().getResults().getFirst().setPool(Driver.poolOf("node-1"));
    ResourceClaim others = share("gpu-0-shared", "8Gi");
    others.getStatus().getAllocation().getDevices().getResults().getFirst().setDriver("nic.example.com");
    PoolUse use = PoolUse.of("node-0", List.of(looks, elsewhere, others));
    assertThat(use.devices()).isEmpty();
    assertThat(use.byCard()).isEmpty();
  }

  private static List<Integer> order(ResourceClaim... claims) {
    return LARGE_AND_SMALL.stream().sorted(PoolUse.of("node-0", Arrays.asList(claims)).bestFitFirst())
        .map(PublishedCard::index).toList();
  }

  private static List<PublishedCard> cards(int... gib) {
    List<Gpu> gpus = new ArrayList<>();
    for (int each : gib) {
      gpus.add(GpuNodes.cards("node-0", gpus.size() + 1, "NVIDIA H200", each * GpuNodes.GIB).getLast());
    }
    var node = GpuNodes.ready("node-0", new GpuNodeSpec(Allocator.Scheduler, List.of(), null), gpus);
    return SlicePlan.cards(Objects.requireNonNull(Inventory.EMPTY.refreshed(List.of(node)).host("node-0")));
  }

  private static ResourceClaim granted(String device, String size) {
    return new GrantedSizes(Map.of("a-share", ShareSize.parse(size).orElseThrow()))
        .on(share(device, "8Gi"));
  }

  private static ResourceClaim share(String device, @Nullable String memory) {
    return new ResourceClaimBuilder()
        .withNewMetadata()
        .endMetadata()
        .withNewStatus()
        .withNewAllocation()
        .withNewDevices()
        .addNewResult()
        .withRequest("gpu")
        .withDriver(Driver.NAME)
        .withPool(Driver.poolOf("node-0"))
        .withDevice(device)
        .withShareID(memory == null ? null : "a-share")
        .withConsumedCapacity(memory == null ? null : Map.of("memory", new Quantity(memory)))
        .endResult()
        .endDevices()
        .endAllocation()
        .endStatus()
        .build();
  }
}
