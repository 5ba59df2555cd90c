package dev.partita.controller.allocate;

import dev.partita.controller.inventory.Card;
import dev.partita.controller.inventory.CardKey;
import dev.partita.controller.inventory.Device;
import dev.partita.controller.inventory.GpuHost;
import dev.partita.controller.inventory.Inventory;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The cards of all hosts in the order in which an ask would take them, so that the best one is looked up and not searched for. It
 * follows an inventory and the books: what a decision changes, only the hosts concerned are put in order anew. For one thread.
 */
public final class FreeCards {
  private final Books books;
  private final SortedMap<String, Standing> standings = new TreeMap<>();
  private final Map<CardKind, Shelf> shelves = new HashMap<>();
  private final Map<HostShape, Rack> racks = new HashMap<>();
  private Inventory inventory = Inventory.EMPTY;

  public FreeCards(Books books) {
    this.books = books;
  }

  /** Follows the books, and the inventory if it is another one than last time. */
  public void refresh(Inventory now) {
    if (now != inventory) {
      follow(now);
      inventory = now;
    }
    for (String node : books.takeChangedNodes()) {
      @Nullable Standing before = standings.get(node);
      if (before != null) {
        remove(before);
        add(before.now(books));
      }
    }
  }

  Accounts accounts() {
    return books;
  }

  /** All hosts by name. */
  SortedMap<String, Standing> standings() {
    return Collections.unmodifiableSortedMap(standings);
  }

  /** One for each kind of card that there is. */
  Collection<Shelf> shelves() {
    return Collections.unmodifiableCollection(shelves.values());
  }

  /** One for each shape of hosts that there is. */
  Collection<Rack> racks() {
    return Collections.unmodifiableCollection(racks.values());
  }

  private void follow(Inventory now) {
    boolean gone = false;
    for (Standing standing : List.copyOf(standings.values())) {
      if (!standing.host().equals(now.host(standing.host().name()))) {
        remove(standing);
        standings.remove(standing.host().name());
        gone = true;
      }
    }
    for (GpuHost host : now.hosts().values()) {
      if (!standings.containsKey(host.name())) {
        add(standing(host));
      }
    }
    if (gone) {
      Set<Shelf> used = new HashSet<>();
      standings.values().forEach(standing -> used.addAll(standing.shelves()));
      shelves.values().retainAll(used);
      racks.values().removeIf(rack -> rack.byUntouched().isEmpty());
    }
  }

  private Standing standing(GpuHost host) {
    Map<CardKey, List<Device>> devices = new HashMap<>();
    host.devices().forEach(device -> devices.computeIfAbsent(device.card().key(), key -> new ArrayList<>()).add(device));
    List<CardKind> kinds = new ArrayList<>();
    List<Shelf> ofCards = new ArrayList<>();
    for (Card card : host.cards()) {
      List<Device> offered = devices.getOrDefault(card.key(), List.of());
      CardKind kind = new CardKind(card.sellableMemory(), offered.stream().map(CardKind.DeviceKind::of).toList());
      kinds.add(kind);
      ofCards.add(shelves.computeIfAbsent(kind, k -> new Shelf(offered)));
    }
    Rack rack = racks.computeIfAbsent(HostShape.of(kinds, host.devices()), shape -> new Rack());
    return Standing.of(host, List.copyOf(ofCards), rack, books);
  }

  private void add(Standing standing) {
    standings.put(standing.host().name(), standing);
    standing.rack().add(standing.untouched(), Place.of(0, standing));
    for (Standing.Room room : standing.rooms()) {
      room.shelf().add(room.untouched(), room.cores(), Place.of(room.memory(), standing));
    }
  }

  private void remove(Standing standing) {
    standing.rack().remove(standing.untouched(), Place.of(0, standing));
    for (Standing.Room room : standing.rooms()) {
      room.shelf().remove(room.untouched(), room.cores(), Place.of(room.memory(), standing));
    }
  }
}
