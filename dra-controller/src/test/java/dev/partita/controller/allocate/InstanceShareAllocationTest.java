package dev.partita.controller.allocate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.DeviceMode;
import dev.partita.api.MigSlot;
import dev.partita.api.gpu.Gpu;
import dev.partita.api.node.GpuNode;
import dev.partita.api.node.GpuNodeSpec.PublishedMode;
import dev.partita.api.node.GpuNodeSpec;
import dev.partita.controller.GpuNodes;
import dev.partita.controller.booking.Booking;
import dev.partita.controller.booking.Books;
import dev.partita.controller.inventory.CardKey;
import dev.partita.controller.inventory.Inventory;
import dev.partita.controller.place.ClaimPlacement;
import dev.partita.controller.request.DeviceRequest.Count;
import dev.partita.controller.request.DeviceRequest.Selector;
import dev.partita.controller.request.DeviceRequest;
import dev.partita.controller.request.PodNeeds;
import dev.partita.controller.selector.DeviceSelectors;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Shares of MIG instances that somebody else than Partita made. */
class InstanceShareAllocationTest {
  private static final long GIB = GpuNodes.GIB;
  private static final String LARGE = "gpu-0-mig-3g-71gb-0-shared";
  private static final String SMALL = "gpu-0-mig-1g-18gb-4-shared";
  private static final List<PublishedMode> WITH_SHARES =
      List.of(PublishedMode.Whole, PublishedMode.Shared, PublishedMode.MigShared);

  private final Books books = new Books();
  private final Allocator allocator = new Allocator(new DeviceSelectors());
  private Inventory inventory = Inventory.EMPTY.refreshed(List.of(node(WITH_SHARES)));

  private static GpuNode node(List<PublishedMode> publish) {
    Gpu cut = GpuNodes.cutShareably(GpuNodes.migCards("node-0", 1).getFirst(), "3g.71gb:0", "1g.18gb:4");
    return GpuNodes.ready("node-0", new GpuNodeSpec(GpuNodeSpec.Allocator.Controller, publish, null), List.of(cut));
  }

  /** Names of the devices, or why there are none. */
  private List<String> take(String claim, DeviceRequest request) {
    FreeCards cards = new FreeCards(books);
    cards.refresh(inventory);
    return switch (allocator.allocate(PodNeeds.NONE, List.of(Requests.claim(claim, request)),
        host -> Optional.empty(), cards)) {
      case Outcome.Allocated allocated -> {
        ClaimPlacement placement = allocated.claims().getFirst();
        books.put(placement.claim().uid(), placement.bookings());
        yield placement.devices().stream().map(device -> device.device().name().toString()).toList();
      }
      case Outcome.Unallocatable none -> List.of(none.explanation().summary(2_000));
    };
  }

  private static DeviceRequest share(long bytes) {
    return shares(bytes, 1);
  }

  private static DeviceRequest shares(long bytes, int count) {
    return Requests.request("gpu", List.of(Requests.mode(DeviceMode.MIG_SHARED)), new Count.Exactly(count),
        OptionalLong.of(bytes), OptionalLong.empty());
  }

  private static DeviceRequest whole(String profile) {
    return Requests.request("gpu", List.of(Requests.mode(DeviceMode.MIG), profile(profile)), new Count.Exactly(1),
        OptionalLong.empty(), OptionalLong.empty());
  }

  private static Selector profile(String profile) {
    return new Selector("request",
        "\"profile\" in device.attributes[\"gpu.partita.dev\"] && device.attributes[\"gpu.partita.dev\"].profile == \""
            + profile + "\"");
  }

  @Test
  void anInstanceHasSharesUntilItsMemoryIsTakenAndThenTheNextOneHas() {
    assertThat(take("a", share(10 * GIB))).as("the one of which least is left").containsExactly(SMALL);
    assertThat(take("b", share(6 * GIB))).containsExactly(SMALL);
    assertThat(take("c", share(GIB))).containsExactly(LARGE);
    assertThat(take("d", share(68 * GIB))).containsExactly(LARGE);
    assertThat(take("e", share(GIB)).getFirst()).contains("0 of 1 card fits", "0 bytes free of 1 GiB asked");
    books.remove("uid-b");
    assertThat(take("e", share(GIB))).containsExactly(SMALL);
    assertThat(books.of(new CardKey("node-0", 0)).sharesOf(new MigSlot("1g-18gb", 4)).memory()).isEqualTo(11 * GIB);
  }

  @Test
  void theWholeInstanceAndItsSharesExcludeEachOtherAndLeaveOtherInstancesAlone() {
    assertThat(take("a", share(GIB))).containsExactly(SMALL);
    assertThat(take("b", whole("1g.18gb")).getFirst())
        .contains("the whole MIG instance is asked for, but it has 1 share");
    assertThat(take("c", whole("3g.71gb"))).containsExactly("gpu-0-mig-3g-71gb-0");
    assertThat(take("d", share(20 * GIB)).getFirst()).contains("placement 0 of 3g.71gb overlaps gpu-0-mig-3g-71gb-0");
    books.remove("uid-a");
    assertThat(take("b", whole("1g.18gb"))).containsExactly("gpu-0-mig-1g-18gb-4");
  }

  @Test
  void whoAsksForSharesOfACardOrForInstancesIsNeverGivenAShareOfAnInstance() {
    assertThat(take("a", Requests.share("gpu", 1, GIB, 25)).getFirst()).contains("not offered as shared");
    assertThat(take("b", Requests.share("gpu", 1, GIB, 0)).getFirst()).contains("not offered as shared");
    DeviceRequest anyOfSlice = Requests.request("gpu", List.of(profile("1g.18gb")), new Count.Exactly(1),
        OptionalLong.of(GIB), OptionalLong.empty());
    assertThat(take("c", anyOfSlice)).as("the selectors match both").containsExactly("gpu-0-mig-1g-18gb-4");
    assertThat(take("d", anyOfSlice).getFirst()).contains("placement 4 of 1g.18gb overlaps gpu-0-mig-1g-18gb-4");
  }

  @Test
  void severalSharesOfOneRequestAreOfDifferentInstances() {
    assertThat(take("a", shares(GIB, 2))).containsExactlyInAnyOrder(SMALL, LARGE);
    assertThat(take("b", shares(GIB, 3)).getFirst()).contains("3 wanted on one node by request gpu, 2 fit there");
  }

  @Test
  void withoutBeingAskedForByTheNodeThereAreNone() {
    inventory = Inventory.EMPTY.refreshed(List.of(node(List.of(PublishedMode.values()))));
    assertThat(take("a", share(GIB))).containsExactly(SMALL);
    inventory = Inventory.EMPTY.refreshed(List.of(node(List.of(PublishedMode.Shared))));
    assertThat(take("b", share(GIB)).getFirst())
        .contains("not offered as mig-shared", "spec.publish of the GpuNode lacks MigShared");
  }

  @Test
  void whateverComesAndGoesNoInstanceIsAllocatedBeyondItsMemoryAndNothingIsRefusedThatFits() {
    Random random = new Random(71);
    Map<String, Long> free = new HashMap<>(Map.of(SMALL, 16 * GIB, LARGE, 69 * GIB));
    List<String> there = new ArrayList<>();
    for (int i = 0; i < 2_000; i++) {
      if (!there.isEmpty() && random.nextInt(5) < 2) {
        String gone = there.remove(random.nextInt(there.size()));
        for (Booking booking : books.bookings("uid-" + gone)) {
          free.merge(booking.device().toString(), booking.memory(), Long::sum);
        }
        books.remove("uid-" + gone);
        continue;
      }
      long bytes = GIB + random.nextLong(30 * GIB);
      String claim = "c" + i;
      String given = take(claim, share(bytes)).getFirst();
      if (free.containsKey(given)) {
        there.add(claim);
        assertThat(free.merge(given, -bytes, Long::sum)).as("%s of %s", bytes, given).isNotNegative();
      } else {
        assertThat(free.values()).as(given).allSatisfy(left -> assertThat(left).isLessThan(bytes));
      }
      assertThat(books.of(new CardKey("node-0", 0))
          .exceeds(Objects.requireNonNull(inventory.host("node-0")).cards().getFirst()))
          .isFalse();
    }
  }
}
