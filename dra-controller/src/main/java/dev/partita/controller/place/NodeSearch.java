package dev.partita.controller.place;

import dev.partita.api.DeviceMode;
import dev.partita.api.config.GpuShareConfig.Packing;
import dev.partita.controller.booking.Account;
import dev.partita.controller.booking.Accounts;
import dev.partita.controller.inventory.Card;
import dev.partita.controller.inventory.CardKey;
import dev.partita.controller.inventory.Device;
import dev.partita.controller.inventory.GpuHost;
import dev.partita.controller.match.Eligibility;
import dev.partita.controller.match.Fit;
import dev.partita.controller.match.Taking;
import dev.partita.controller.place.ClaimPlacement.DevicePlacement;
import dev.partita.controller.request.ClaimRequest;
import dev.partita.controller.request.Constraint;
import dev.partita.controller.request.DeviceRequest;
import dev.partita.controller.request.DeviceRequest.Reading;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Places requests on one node: depth first, the requests with the fewest cards to choose from first, and for each the
 * best card first, so that the first placement found is a good one. Bounded, for claims can be made so that a full
 * search takes for ever.
 */
public final class NodeSearch {
  /** Most cards that are tried before the node is given up. */
  static final int MAX_STEPS = 20_000;

  private final GpuHost host;
  private final Accounts accounts;
  private final List<Slot> slots;
  private final Map<Integer, Account> taken = new HashMap<>();
  private int steps;

  /**
   * One device to be placed.
   *
   * @param claim position of its claim
   * @param request what it must be
   * @param fits what could serve it if the cards were empty: one device a card, or MIG instances
   * @param sibling the slot before it belongs to the same request; their cards are interchangeable
   */
  private record Slot(int claim, ClaimRequest owner, DeviceRequest request, List<Fit.Fits> fits, boolean sibling) {}

  private NodeSearch(GpuHost host, Accounts accounts, List<Slot> slots) {
    this.host = host;
    this.accounts = accounts;
    this.slots = slots;
  }

  /** One of the alternatives that a claim leaves open, for every request of every claim. */
  public record Choice(List<ClaimRequest> claims, List<List<DeviceRequest>> requests, int rank) {}

  /**
   * A placement of all requests.
   *
   * @param claims in the order of the requests
   */
  public record Found(List<ClaimPlacement> claims, PlacementScore score) {}

  /**
   * @param fits for every request, the devices that could serve it if their cards were empty: at most one a card, or
   *        MIG instances
   * @return empty if the node cannot serve all requests together
   */
  public static Optional<Found> search(
      GpuHost host,
      Accounts accounts,
      Choice choice,
      Function<DeviceRequest, List<Fit.Fits>> fits) {
    List<Slot> slots = new ArrayList<>();
    for (int claim = 0; claim < choice.claims().size(); claim++) {
      int before = slots.size();
      for (DeviceRequest request : choice.requests().get(claim)) {
        List<Fit.Fits> possible = meant(request, fits.apply(request), accounts);
        int wanted = wanted(request, possible);
        for (int i = 0; i < wanted; i++) {
          slots.add(new Slot(claim, choice.claims().get(claim), request, possible, i > 0));
        }
      }
      if (slots.size() - before > ClaimRequest.MOST_RESULTS || slots.size() > ClaimRequest.MOST_OF_POD) {
        return Optional.empty();
      }
    }
    // Sorting is stable, so a request's slots stay together.
    slots.sort(
        Comparator.comparingInt((Slot slot) -> slot.fits().size())
            .thenComparing(slot -> slot.fits().stream().anyMatch(NodeSearch::leavesRoomForShares))
            .thenComparing(slot -> -slot.fits().stream().mapToLong(Fit.Fits::memory).max().orElse(0))
            .thenComparingInt(Slot::claim)
            .thenComparing(slot -> slot.request().name()));
    NodeSearch search = new NodeSearch(host, accounts, slots);
    List<Fit.Fits> chosen = new ArrayList<>();
    return search.place(chosen) ? Optional.of(search.found(choice, chosen)) : Optional.empty();
  }

  private static boolean leavesRoomForShares(Fit.Fits fits) {
    return fits.device().allowsMultipleAllocations() && fits.takes() != Taking.CARD;
  }

  /** A request for all devices does not mean those whose shares leave too little. */
  private static List<Fit.Fits> meant(DeviceRequest request, List<Fit.Fits> possible, Accounts accounts) {
    return switch (request.count()) {
      case DeviceRequest.Count.Exactly some -> possible;
      case DeviceRequest.Count.All all ->
          possible.stream().filter(fits -> Eligibility.hasCapacity(fits, accounts.of(fits.device().card().key())))
              .toList();
    };
  }

  static int wanted(DeviceRequest request, List<Fit.Fits> possible) {
    return switch (request.count()) {
      case DeviceRequest.Count.Exactly(int devices) -> devices;
      case DeviceRequest.Count.All all -> Math.max(1, possible.size());
    };
  }

  /** A loop and no recursion: how many slots there are is for whoever makes a pod to say. */
  private boolean place(List<Fit.Fits> chosen) {
    List<Level> levels = new ArrayList<>(slots.size());
    while (chosen.size() < slots.size()) {
      if (levels.size() == chosen.size()) {
        levels.add(new Level(open(chosen)));
      }
      Level level = levels.getLast();
      if (level.tried < level.open.size()) {
        if (++steps > MAX_STEPS) {
          return false;
        }
        take(level, chosen);
      } else {
        levels.removeLast();
        if (levels.isEmpty()) {
          return false;
        }
        putBack(levels.getLast(), chosen);
      }
    }
    return true;
  }

  /**
   * What the slot at one position could take when its turn came, how many of these were tried, and what the last one
   * changed.
   */
  private static final class Level {
    private final List<Fit.Fits> open;
    private int tried;
    private @Nullable Account before;

    Level(List<Fit.Fits> open) {
      this.open = open;
    }
  }

  private void take(Level level, List<Fit.Fits> chosen) {
    Fit.Fits fits = level.open.get(level.tried++);
    int index = fits.device().card().key().index();
    level.before = taken.get(index);
    taken.put(index, fits.after(account(fits.device().card())));
    chosen.add(fits);
  }

  private void putBack(Level level, List<Fit.Fits> chosen) {
    int index = chosen.removeLast().device().card().key().index();
    if (level.before == null) {
      taken.remove(index);
    } else {
      taken.put(index, level.before);
    }
  }

  /** Cards that the next slot can take, the best first; none if they are too few for it and its siblings. */
  private List<Fit.Fits> open(List<Fit.Fits> chosen) {
    int position = chosen.size();
    List<Fit.Fits> open = open(slots.get(position), position, chosen);
    return open.size() < siblingsFrom(position) ? List.of() : open;
  }

  /**
   * Cards that the slot can take now, the best first. A sibling takes none that comes before its elder's: order is no
   * choice.
   */
  private List<Fit.Fits> open(Slot slot, int position, List<Fit.Fits> chosen) {
    List<Fit.Fits> open = new ArrayList<>();
    int after = -1;
    List<Fit.Fits> inOrder = inOrder(slot, position, chosen);
    if (slot.sibling()) {
      after = inOrder.indexOf(chosen.getLast());
    }
    for (int i = after + 1; i < inOrder.size(); i++) {
      Fit.Fits fits = inOrder.get(i);
      if (Eligibility.now(fits, account(fits.device().card())) instanceof Fit.Fits
          && allowed(slot, fits.device(), chosen)) {
        open.add(fits);
      }
    }
    return open;
  }

  /** The request's cards as they were preferred before its first slot was placed. */
  private List<Fit.Fits> inOrder(Slot slot, int position, List<Fit.Fits> chosen) {
    int first = position;
    while (slots.get(first).sibling()) {
      first--;
    }
    Map<Integer, Account> own = first == position ? Map.of() : new HashMap<>();
    for (int i = first; i < position; i++) {
      Fit.Fits fits = chosen.get(i);
      int index = fits.device().card().key().index();
      own.put(index, fits.before(own.getOrDefault(index, account(fits.device().card()))));
    }
    boolean severalOfCard = slot.request().reading() == Reading.AS_WRITTEN
        || (!slot.fits().isEmpty() && slot.fits().getFirst().device().mode() == DeviceMode.MIG);
    if (severalOfCard) {
      return byCard(slot, fits -> own.getOrDefault(fits.device().card().key().index(), account(fits.device().card())));
    }
    List<Ranked> ranked = new ArrayList<>(slot.fits().size());
    for (Fit.Fits fits : slot.fits()) {
      @Nullable Account mine = own.isEmpty() ? null : own.get(fits.device().card().key().index());
      Account before = mine == null ? account(fits.device().card()) : mine;
      ranked.add(new Ranked(fits, before, PlacementScore.ofCard(fits, before, slot.request().placement().gpus())));
    }
    Comparator<Ranked> best = Comparator.comparingLong(Ranked::cost);
    if (slot.fits().size() > 1 && CardGroups.matter(slot.request())) {
      Set<Device> free = new HashSet<>();
      ranked.stream().filter(card -> Eligibility.now(card.fits(), card.before()) instanceof Fit.Fits)
          .forEach(card -> free.add(card.fits().device()));
      List<Device> had = new ArrayList<>();
      for (int i = 0; i < first; i++) {
        if (slots.get(i).claim() == slot.claim()) {
          had.add(chosen.get(i).device());
        }
      }
      int wanted =
          (int) slots.subList(first, slots.size()).stream().filter(other -> other.claim() == slot.claim()).count();
      Comparator<Device> groups = CardGroups.order(slot.request(), slot.fits().stream().map(Fit.Fits::device).toList(),
          free::contains, wanted, had);
      best = best.thenComparing(card -> card.fits().device(), groups);
    }
    ranked.sort(best.thenComparing(card -> card.fits().device().card().key()));
    List<Fit.Fits> inOrder = new ArrayList<>(ranked.size());
    ranked.forEach(card -> inOrder.add(card.fits()));
    return inOrder;
  }

  /** A card that a slot may take, as it stood before the slot's request. */
  private record Ranked(Fit.Fits fits, Account before, long cost) {}

  /**
   * Devices of which a card has several: all of a card together, so that several of a request begin no more cards than
   * they must.
   */
  private static List<Fit.Fits> byCard(Slot slot, Function<Fit.Fits, Account> before) {
    IdentityHashMap<Fit.Fits, Long> costs = new IdentityHashMap<>();
    Map<CardKey, Long> least = new HashMap<>();
    for (Fit.Fits fits : slot.fits()) {
      boolean open = Eligibility.now(fits, before.apply(fits)) instanceof Fit.Fits;
      long cost =
          open ? PlacementScore.ofCard(fits, before.apply(fits), slot.request().placement().gpus()) : Long.MAX_VALUE;
      costs.put(fits, cost);
      least.merge(fits.device().card().key(), cost, Math::min);
    }
    Comparator<Fit.Fits> cards =
        Comparator.comparing(fits -> least.getOrDefault(fits.device().card().key(), Long.MAX_VALUE));
    return slot.fits().stream()
        .sorted(cards.thenComparing(fits -> fits.device().card().key())
            .thenComparing(fits -> costs.getOrDefault(fits, Long.MAX_VALUE)))
        .toList();
  }

  private boolean allowed(Slot slot, Device device, List<Fit.Fits> chosen) {
    for (int i = 0; i < chosen.size(); i++) {
      Slot other = slots.get(i);
      boolean sameRequest = other.claim() == slot.claim() && other.request().name().equals(slot.request().name());
      boolean severalOfCard = device.mode() == DeviceMode.MIG || slot.request().reading() == Reading.AS_WRITTEN;
      if (sameRequest && !severalOfCard && chosen.get(i).device().card().equals(device.card())) {
        return false; // results of one request are on different cards
      }
    }
    for (Constraint constraint : slot.owner().constraints()) {
      if (!constraint.covers(slot.request().name())) {
        continue;
      }
      List<Device> others = new ArrayList<>();
      for (int i = 0; i < chosen.size(); i++) {
        if (slots.get(i).claim() == slot.claim() && constraint.covers(slots.get(i).request().name())) {
          others.add(chosen.get(i).device());
        }
      }
      if (!constraint.allows(device, others)) {
        return false;
      }
    }
    return true;
  }

  private int siblingsFrom(int position) {
    int count = 1;
    while (position + count < slots.size() && slots.get(position + count).sibling()) {
      count++;
    }
    return count;
  }

  private Account account(Card card) {
    @Nullable Account changed = taken.get(card.key().index());
    return changed == null ? accounts.of(card.key()) : changed;
  }

  private Found found(Choice choice, List<Fit.Fits> chosen) {
    List<ClaimPlacement> claims = new ArrayList<>();
    for (int claim = 0; claim < choice.claims().size(); claim++) {
      List<DevicePlacement> devices = new ArrayList<>();
      for (DeviceRequest request : choice.requests().get(claim)) {
        for (int i = 0; i < slots.size(); i++) {
          if (slots.get(i).claim() == claim && slots.get(i).request().name().equals(request.name())) {
            devices.add(new DevicePlacement(request.read(Reading.AS_MEANT), chosen.get(i)));
          }
        }
      }
      claims.add(new ClaimPlacement(choice.claims().get(claim).claim(), devices));
    }
    Packing nodes = slots.isEmpty() ? Packing.BINPACK : slots.getFirst().request().placement().nodes();
    return new Found(claims, PlacementScore.ofNode(choice.rank(), host, accounts, this::account, nodes));
  }
}
