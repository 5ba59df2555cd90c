package dev.partita.controller.allocate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.node.GpuNode;
import dev.partita.controller.booking.Account;
import dev.partita.controller.booking.Books;
import dev.partita.controller.booking.HostCapacities;
import dev.partita.controller.forecast.DemandHistory;
import dev.partita.controller.inventory.Card;
import dev.partita.controller.inventory.CardKey;
import dev.partita.controller.inventory.Inventory;
import dev.partita.controller.match.Candidates;
import dev.partita.controller.place.ClaimPlacement.DevicePlacement;
import dev.partita.controller.place.ClaimPlacement;
import dev.partita.controller.request.PodNeeds;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/** A cluster as the allocator sees it, and beside it what follows from the nodes' reports and the results alone. */
final class KnownCluster {
  final HostCapacities capacities = new HostCapacities();
  final DemandHistory history = new DemandHistory();
  final SortedMap<String, ClaimPlacement> live = new TreeMap<>();
  private final List<GpuNode> nodes;
  private final Books books = new Books();
  private final FreeCards cards = new FreeCards(books, capacities, history);
  private Inventory inventory = Inventory.EMPTY;
  private final Map<String, List<ReportedDevice>> reported = new HashMap<>();
  private final Map<String, ReportedDevice> offered = new HashMap<>();
  private Map<CardKey, TakenOfCard> taken = Map.of();

  KnownCluster(List<GpuNode> nodes) {
    this.nodes = new ArrayList<>(nodes);
    follow();
  }

  List<GpuNode> nodes() {
    return nodes;
  }

  List<String> nodeNames() {
    return List.copyOf(inventory.hosts().keySet());
  }

  GpuNode node(String name) {
    return nodes.stream().filter(node -> node.getMetadata().getName().equals(name)).findFirst().orElseThrow();
  }

  Inventory inventory() {
    return inventory;
  }

  void change(int position, GpuNode node) {
    nodes.set(position, node);
    follow();
  }

  private void follow() {
    inventory = inventory.refreshed(nodes);
    offered.clear();
    for (GpuNode node : nodes) {
      List<ReportedDevice> devices = ReportedDevice.of(node);
      reported.put(node.getMetadata().getName(), devices);
      devices.forEach(device -> offered.put(device.node() + " " + device.name(), device));
    }
    count();
  }

  private void count() {
    taken = TakenOfCard.of(live.values(), offered);
  }

  /** Its cards in the order that has grown with it. */
  FreeCards refreshed() {
    cards.refresh(inventory);
    return cards;
  }

  /**
   * Its cards as one would find them who comes now; to be asked for only when {@link #refreshed} has been used since
   * the last change.
   */
  FreeCards readAnew() {
    FreeCards anew = new FreeCards(books, capacities, history);
    anew.refresh(Inventory.EMPTY.refreshed(nodes));
    return anew;
  }

  Candidates candidates(PodNeeds needs) {
    return host -> capacities.of(host.name()).holds(needs)
        ? Optional.empty()
        : Optional.of("too little is free on the node");
  }

  void take(Outcome.Allocated allocated, HostCapacities.Capacity room) {
    capacities.put(allocated.node(), room);
    for (ClaimPlacement placement : allocated.claims()) {
      books.put(placement.claim().uid(), placement.bookings());
      live.put(placement.claim().uid(), placement);
    }
    count();
  }

  void release(String claimUid) {
    books.remove(claimUid);
    live.remove(claimUid);
    count();
  }

  ReportedDevice device(DevicePlacement result) {
    return Objects.requireNonNull(offered.get(TakenOfCard.place(result)),
        () -> TakenOfCard.place(result) + " is not offered");
  }

  /** All that the card is offered as. */
  List<ReportedDevice> devices(CardKey card) {
    return devices(card.node()).stream().filter(device -> device.card().equals(card)).toList();
  }

  private List<ReportedDevice> devices(String node) {
    return Objects.requireNonNull(reported.get(node));
  }

  TakenOfCard taken(CardKey card) {
    return taken.getOrDefault(card, TakenOfCard.NOTHING);
  }

  EveryWay everyWay(String node) {
    return new EveryWay(devices(node), taken);
  }

  /** What the books say. */
  SortedMap<CardKey, Account> accounts() {
    SortedMap<CardKey, Account> accounts =
        new TreeMap<>(Comparator.comparing(CardKey::node).thenComparing(CardKey::index));
    inventory.hosts().values().stream().flatMap(host -> host.cards().stream()).map(Card::key)
        .forEach(card -> accounts.put(card, books.of(card)));
    return accounts;
  }

  /** No card is given out beyond what it has, and the books say what results say. */
  void checkCards() {
    accounts().forEach((card, account) -> {
      assertThat(account).as("%s", card).isEqualTo(taken(card).account());
      assertThat(taken(card).isTooMuch(devices(card).getFirst())).as("%s: %s", card, taken(card)).isFalse();
    });
  }
}
