package dev.partita.controller.allocate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.DeviceMode;
import dev.partita.api.node.GpuNode;
import dev.partita.controller.booking.Booking;
import dev.partita.controller.booking.Books;
import dev.partita.controller.booking.HostCapacities;
import dev.partita.controller.forecast.DemandHistory;
import dev.partita.controller.inventory.CardKey;
import dev.partita.controller.inventory.Inventory;
import dev.partita.controller.request.ClaimRequest;
import dev.partita.controller.request.PodNeeds;
import dev.partita.controller.selector.DeviceSelectors;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** A few nodes, what is taken of their cards, and an allocator. */
final class SmallCluster {
  final List<GpuNode> nodes = new ArrayList<>();
  final Books books = new Books();
  private final Allocator allocator = new Allocator(new DeviceSelectors());

  void takeWhole(String claim, String node, int card) {
    books.put(claim, List.of(new Booking(new CardKey(node, card), DeviceMode.WHOLE, 0, 0)));
  }

  void take(String claim, String node, int card, long memory, int cores) {
    books.put(claim, List.of(new Booking(new CardKey(node, card), DeviceMode.SHARED, memory, cores)));
  }

  Outcome allocate(ClaimRequest... claims) {
    Inventory inventory = Inventory.EMPTY.refreshed(nodes);
    FreeCards cards = new FreeCards(books);
    cards.refresh(inventory);
    return allocator.allocate(PodNeeds.NONE, List.of(claims), host -> Optional.empty(), cards);
  }

  /** Where a pod goes by the forecast, when many like it have come before. */
  List<String> expecting(PodNeeds needs, ClaimRequest claim) {
    DemandHistory history = new DemandHistory();
    for (int i = 0; i < 40; i++) {
      history.arrived(needs, List.of(claim));
    }
    FreeCards cards = new FreeCards(books, new HostCapacities(), history);
    cards.refresh(Inventory.EMPTY.refreshed(nodes));
    return devices(allocator.allocate(needs, List.of(claim), host -> Optional.empty(), cards));
  }

  List<String> placed(ClaimRequest... claims) {
    return devices(allocate(claims));
  }

  private static List<String> devices(Outcome outcome) {
    assertThat(outcome).isInstanceOf(Outcome.Allocated.class);
    return ((Outcome.Allocated) outcome).claims().stream().flatMap(c -> c.devices().stream())
        .map(d -> d.device().toString()).toList();
  }

  String refusal(ClaimRequest claim) {
    return refusal(claim, 0);
  }

  String refusal(ClaimRequest claim, int moreCardsTaken) {
    for (int i = 0; i < moreCardsTaken; i++) {
      books.put("more" + i, List.of(new Booking(new CardKey("node-0", 2 + i), DeviceMode.WHOLE, 0, 0)));
    }
    Outcome outcome = allocate(claim);
    assertThat(outcome).isInstanceOf(Outcome.Unallocatable.class);
    return ((Outcome.Unallocatable) outcome).explanation().summary(900);
  }
}
