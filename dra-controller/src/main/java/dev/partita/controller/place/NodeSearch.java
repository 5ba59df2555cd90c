package dev.partita.controller.place;

import dev.partita.api.config.GpuShareConfig.Packing;
import dev.partita.controller.booking.Account;
import dev.partita.controller.booking.Accounts;
import dev.partita.controller.budget.DecisionBudget;
import dev.partita.controller.inventory.Card;
import dev.partita.controller.inventory.CardKey;
import dev.partita.controller.inventory.Device;
import dev.partita.controller.inventory.GpuHost;
import dev.partita.controller.match.Eligibility;
import dev.partita.controller.match.MatchResult.Match;
import dev.partita.controller.match.Taking;
import dev.partita.controller.place.ClaimPlacement.DevicePlacement;
import dev.partita.controller.request.ClaimRequest;
import dev.partita.controller.request.Constraint;
import dev.partita.controller.request.DeviceRequest.Modes;
import dev.partita.controller.request.DeviceRequest;
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
 * Places the requests of a pod on one node, by a search that goes depth first. The requests with the fewest cards to
 * choose from come first, and for each the best card is tried first, so that the first placement found is a good one.
 * The search is bounded, for claims can be made so that a full one never ends; and a decision's time may end before it
 * does, for how long a step takes depends on how many devices and constraints the claims have.
 */
public final class NodeSearch {
  /** Most cards that are tried before the node is given up. */
  static final int MAX_STEPS = 20_000;

  private final GpuHost host;
  private final Accounts accounts;
  private final List<Slot> slots;
  private final DecisionBudget budget;
  private final Map<Integer, Account> taken = new HashMap<>();
  private int steps;

  /**
   * A device that is to be placed.
   *
   * @param claim position of its claim
   * @param request what it must be
   * @param matches what could serve it if the cards were empty: one device a card, or MIG instances
   * @param sibling the slot before it belongs to the same request; their cards are interchangeable
   */
  private record Slot(int claim, ClaimRequest owner, DeviceRequest request, List<Match> matches, boolean sibling) {}

  /** Sorting is stable, so a request's slots stay together. */
  private static final Comparator<Slot> ORDER =
      Comparator.comparingInt((Slot slot) -> slot.matches().size())
          .thenComparing(slot -> slot.matches().stream().anyMatch(NodeSearch::leavesRoomForShares))
          .thenComparing(slot -> -slot.matches().stream().mapToLong(Match::memory).max().orElse(0))
          .thenComparingInt(Slot::claim)
          .thenComparing(slot -> slot.request().name());

  private NodeSearch(GpuHost host, Accounts accounts, List<Slot> slots, DecisionBudget budget) {
    this.host = host;
    this.accounts = accounts;
    this.slots = slots;
    this.budget = budget;
  }

  /** The alternative that was chosen for every request of every claim. */
  public record Choice(List<ClaimRequest> claims, List<List<DeviceRequest>> requests, int rank) {}

  /**
   * A placement of all requests.
   *
   * @param claims in the order of the requests
   */
  public record Found(List<ClaimPlacement> claims, PlacementScore score) {}

  /**
   * @param matches for every request, the devices that could serve it if their cards were empty: at most one a card, or
   *        MIG instances
   * @param budget of the decision; what ends it is thrown
   * @return empty if the node cannot serve all requests together
   */
  public static Optional<Found> search(
      GpuHost host,
      Accounts accounts,
      Choice choice,
      Function<DeviceRequest, List<Match>> matches,
      DecisionBudget budget) {
    List<Slot> slots = new ArrayList<>();
    int requests = 0;
    for (int claim = 0; claim < choice.claims().size(); claim++) {
      int before = slots.size();
      for (DeviceRequest request : choice.requests().get(claim)) {
        List<Match> possible = meant(request, matches.apply(request), accounts);
        int wanted = wanted(request, possible);
        requests++;
        for (int i = 0; i < wanted; i++) {
          slots.add(new Slot(claim, choice.claims().get(claim), request, possible, i > 0));
        }
      }
      if (slots.size() - before > ClaimRequest.MOST_RESULTS || slots.size() > ClaimRequest.MOST_OF_POD) {
        return Optional.empty();
      }
    }
    if (requests > 1) {
      slots.sort(ORDER);
    }
    NodeSearch search = new NodeSearch(host, accounts, slots, budget);
    List<Match> chosen = new ArrayList<>();
    return search.place(chosen) ? Optional.of(search.found(choice, chosen)) : Optional.empty();
  }

  private static boolean leavesRoomForShares(Match match) {
    return match.takes() == Taking.SHARE || match.takes() == Taking.INSTANCE_SHARE
        || (match.takes() == Taking.NOTHING && match.device().allowsMultipleAllocations());
  }

  /** Of a request for all devices, leaves out those whose shares leave too little. */
  private static List<Match> meant(DeviceRequest request, List<Match> possible, Accounts accounts) {
    return switch (request.count()) {
      case DeviceRequest.Count.Exactly some -> possible;
      case DeviceRequest.Count.All all ->
          possible.stream().filter(match -> Eligibility.hasCapacity(match, accounts.of(match.device().card().key())))
              .toList();
    };
  }

  static int wanted(DeviceRequest request, List<Match> possible) {
    return switch (request.count()) {
      case DeviceRequest.Count.Exactly(int devices) -> devices;
      case DeviceRequest.Count.All all -> Math.max(1, possible.size());
    };
  }

  /** This is a loop and no recursion, for whoever makes a pod decides how many slots there are. */
  private boolean place(List<Match> chosen) {
    List<Level> levels = new ArrayList<>(slots.size());
    while (chosen.size() < slots.size()) {
      if (levels.size() == chosen.size()) {
        levels.add(level(chosen, levels));
      }
      Level level = levels.getLast();
      if (level.tried < level.open.size()) {
        if (++steps > MAX_STEPS) {
          return false;
        }
        budget.step();
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
   * The cards of a slot's request in order, which of them the slot could take when its turn came, how many of these
   * were tried, and what the last one changed.
   */
  private static final class Level {
    private final List<Match> inOrder;
    private final List<Match> open;
    private int tried;
    private @Nullable Account before;

    Level(List<Match> inOrder, List<Match> open) {
      this.inOrder = inOrder;
      this.open = open;
    }
  }

  private void take(Level level, List<Match> chosen) {
    Match match = level.open.get(level.tried++);
    int index = match.device().card().key().index();
    level.before = taken.get(index);
    taken.put(index, match.after(account(match.device().card())));
    chosen.add(match);
  }

  private void putBack(Level level, List<Match> chosen) {
    int index = chosen.removeLast().device().card().key().index();
    if (level.before == null) {
      taken.remove(index);
    } else {
      taken.put(index, level.before);
    }
  }

  /**
   * Cards that the next slot can take, the best first; none if they are too few for the slot and its siblings. A
   * sibling takes no card that comes before its predecessor's, for the devices of a request are interchangeable.
   */
  private Level level(List<Match> chosen, List<Level> before) {
    int position = chosen.size();
    Slot slot = slots.get(position);
    List<Match> inOrder = slot.sibling() ? before.getLast().inOrder : inOrder(slot, position, chosen);
    int first = slot.sibling() ? inOrder.indexOf(chosen.getLast()) + 1 : 0;
    List<Match> open = new ArrayList<>();
    for (int i = first; i < inOrder.size(); i++) {
      Match match = inOrder.get(i);
      if (Eligibility.now(match, account(match.device().card())) instanceof Match
          && allowed(slot, match.device(), chosen)) {
        open.add(match);
      }
    }
    return new Level(inOrder, open.size() < siblingsFrom(position) ? List.of() : open);
  }

  /** The request's cards as they are preferred before its first slot, the one at that position, is placed. */
  private List<Match> inOrder(Slot slot, int first, List<Match> chosen) {
    boolean severalOfCard = slot.request().modes() == Modes.ANY
        || (!slot.matches().isEmpty() && slot.matches().getFirst().device().mode().isOfInstances());
    if (severalOfCard) {
      return byCard(slot, match -> account(match.device().card()));
    }
    List<Ranked> ranked = new ArrayList<>(slot.matches().size());
    for (Match match : slot.matches()) {
      Account before = account(match.device().card());
      ranked.add(new Ranked(match, before, PlacementScore.ofCard(match, before, slot.request().placement().gpus())));
    }
    Comparator<Ranked> best = Comparator.comparingLong(Ranked::cost);
    if (slot.matches().size() > 1 && CardGroups.matter(slot.request())) {
      Set<Device> free = new HashSet<>();
      ranked.stream().filter(card -> Eligibility.now(card.match(), card.before()) instanceof Match)
          .forEach(card -> free.add(card.match().device()));
      List<Device> had = new ArrayList<>();
      for (int i = 0; i < first; i++) {
        if (slots.get(i).claim() == slot.claim()) {
          had.add(chosen.get(i).device());
        }
      }
      int wanted =
          (int) slots.subList(first, slots.size()).stream().filter(other -> other.claim() == slot.claim()).count();
      Comparator<Device> groups = CardGroups.order(slot.request(), slot.matches().stream().map(Match::device).toList(),
          free::contains, wanted, had);
      best = best.thenComparing(card -> card.match().device(), groups);
    }
    ranked.sort(best.thenComparing(card -> card.match().device().card().key()));
    List<Match> inOrder = new ArrayList<>(ranked.size());
    ranked.forEach(card -> inOrder.add(card.match()));
    return inOrder;
  }

  /** A device that a slot may take, with what was taken of its card before the slot's request. */
  private record Ranked(Match match, Account before, long cost) {}

  /**
   * Puts devices in order of which a card has several: all of a card together, so that a request begins no more cards
   * than it must.
   */
  private static List<Match> byCard(Slot slot, Function<Match, Account> before) {
    IdentityHashMap<Match, Long> costs = new IdentityHashMap<>();
    Map<CardKey, Long> least = new HashMap<>();
    for (Match match : slot.matches()) {
      boolean open = Eligibility.now(match, before.apply(match)) instanceof Match;
      long cost =
          open ? PlacementScore.ofCard(match, before.apply(match), slot.request().placement().gpus()) : Long.MAX_VALUE;
      costs.put(match, cost);
      least.merge(match.device().card().key(), cost, Math::min);
    }
    Comparator<Match> cards =
        Comparator.comparing(match -> least.getOrDefault(match.device().card().key(), Long.MAX_VALUE));
    return slot.matches().stream()
        .sorted(cards.thenComparing(match -> match.device().card().key())
            .thenComparing(match -> costs.getOrDefault(match, Long.MAX_VALUE)))
        .toList();
  }

  private boolean allowed(Slot slot, Device device, List<Match> chosen) {
    for (int i = 0; i < chosen.size(); i++) {
      Slot other = slots.get(i);
      boolean sameRequest = other.claim() == slot.claim() && other.request().name().equals(slot.request().name());
      boolean severalOfCard = device.mode().isOfInstances() || slot.request().modes() == Modes.ANY;
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

  private Found found(Choice choice, List<Match> chosen) {
    List<ClaimPlacement> claims = new ArrayList<>();
    for (int claim = 0; claim < choice.claims().size(); claim++) {
      List<DevicePlacement> devices = new ArrayList<>();
      for (DeviceRequest request : choice.requests().get(claim)) {
        for (int i = 0; i < slots.size(); i++) {
          if (slots.get(i).claim() == claim && slots.get(i).request().name().equals(request.name())) {
            devices.add(new DevicePlacement(request.withModes(Modes.INFERRED), chosen.get(i)));
          }
        }
      }
      claims.add(new ClaimPlacement(choice.claims().get(claim).claim(), devices));
    }
    Packing nodes = slots.isEmpty() ? Packing.BINPACK : slots.getFirst().request().placement().nodes();
    return new Found(claims, PlacementScore.ofNode(choice.rank(), host, accounts, this::account, nodes));
  }
}
