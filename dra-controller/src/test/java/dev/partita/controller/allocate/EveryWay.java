package dev.partita.controller.allocate;

import dev.partita.api.DeviceMode;
import dev.partita.api.config.GpuShareConfig.Affinity;
import dev.partita.api.config.GpuShareConfig.Packing;
import dev.partita.api.config.GpuShareConfig.Placement;
import dev.partita.controller.inventory.CardKey;
import dev.partita.controller.request.ClaimRequest;
import dev.partita.controller.request.ClaimRequest.RequestAsk;
import dev.partita.controller.request.Constraint;
import dev.partita.controller.request.DeviceAsk;
import dev.partita.controller.request.DeviceAsk.Access;
import dev.partita.controller.request.DeviceAsk.Count;
import dev.partita.controller.request.DeviceAsk.Reading;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Tries every way to serve claims on one node: what a search that is clever has to agree with. Gives up where there are
 * too many.
 */
final class EveryWay {
  private static final int MOST_STEPS = 30_000;

  private final Map<CardKey, List<ReportedDevice>> cards = new LinkedHashMap<>();
  private final Map<CardKey, TakenOfCard> taken;
  private int steps;

  /**
   * @param devices all of the node
   * @param taken of the cards of which anything is
   */
  EveryWay(List<ReportedDevice> devices, Map<CardKey, TakenOfCard> taken) {
    devices.forEach(device -> cards.computeIfAbsent(device.card(), card -> new ArrayList<>()).add(device));
    this.taken = new HashMap<>(taken);
  }

  /** One device that is to be found. */
  private record Unit(ClaimRequest claim, DeviceAsk ask, List<ReportedDevice> possible) {
    boolean isOfClaim(ClaimRequest other) {
      return claim.claim().equals(other.claim());
    }

    /**
     * Whether it is for the same request as the other, in the same way: then which of them has which device is no
     * choice.
     */
    boolean isSibling(Unit other) {
      return isOfClaim(other.claim) && ask.name().equals(other.ask.name());
    }
  }

  /**
   * Whether the node can serve them, whatever alternatives that takes, and however they are read; empty if that was not
   * settled.
   */
  Optional<Boolean> canServe(List<ClaimRequest> claims) {
    return canServe(claims, Integer.MAX_VALUE, Reading.AS_WRITTEN);
  }

  /** The same with alternatives that are better, added up over all requests, than that rank. */
  Optional<Boolean> canServe(List<ClaimRequest> claims, int below, Reading reading) {
    boolean settled = true;
    for (List<DeviceAsk> choice : choices(claims, below)) {
      Optional<Boolean> can = canServeThese(claims, choice, reading);
      if (can.orElse(false)) {
        return can;
      }
      settled &= can.isPresent();
    }
    return settled ? Optional.of(false) : Optional.empty();
  }

  /** Whether it can serve an ask by itself. */
  Optional<Boolean> canServe(ClaimRequest claim, DeviceAsk ask) {
    ClaimRequest alone = new ClaimRequest(claim.claim(), List.of(new RequestAsk(ask.name(), List.of(ask))), List.of());
    return canServeThese(List.of(alone), List.of(ask), Reading.AS_WRITTEN);
  }

  /** Cards that could serve it, as far as each by itself can say. */
  long cardsFor(DeviceAsk ask) {
    return cards.keySet().stream().filter(card -> !open(card, ask, reading(ask, Reading.AS_WRITTEN)).isEmpty()).count();
  }

  private static List<List<DeviceAsk>> choices(List<ClaimRequest> claims, int below) {
    record Ranked(int rank, List<DeviceAsk> asks) {}
    List<Ranked> choices = List.of(new Ranked(0, List.of()));
    for (ClaimRequest claim : claims) {
      for (RequestAsk request : claim.requests()) {
        List<Ranked> longer = new ArrayList<>();
        for (Ranked choice : choices) {
          for (int rank = 0; rank < request.alternatives().size(); rank++) {
            List<DeviceAsk> asks = new ArrayList<>(choice.asks());
            asks.add(request.alternatives().get(rank));
            longer.add(new Ranked(choice.rank() + rank, asks));
          }
        }
        choices = longer;
      }
    }
    return choices.stream().filter(choice -> choice.rank() < below).map(Ranked::asks).toList();
  }

  /** Who says how cards are to be chosen is read in one way only, and so is who wants all there are. */
  private static Reading reading(DeviceAsk ask, Reading asked) {
    Placement placement = ask.placement();
    boolean choosesCards = placement.exclusive() || placement.gpus() != Packing.AUTO
        || placement.numa() != Affinity.AUTO || placement.nvlink() != Affinity.AUTO;
    return choosesCards || ask.count() instanceof Count.All ? Reading.AS_MEANT : asked;
  }

  private Optional<Boolean> canServeThese(List<ClaimRequest> claims, List<DeviceAsk> asks, Reading reading) {
    List<Unit> units = new ArrayList<>();
    int next = 0;
    for (ClaimRequest claim : claims) {
      for (int request = 0; request < claim.requests().size(); request++) {
        DeviceAsk ask = asks.get(next++);
        Optional<List<Unit>> its = units(claim, ask, reading(ask, reading));
        if (its.isEmpty()) {
          return Optional.of(false);
        }
        units.addAll(its.get());
      }
      if (units.stream().filter(unit -> unit.isOfClaim(claim)).count() > 32) {
        return Optional.of(false); // the API allows no more
      }
    }
    // Stable: the units of one ask stay together.
    units.sort(Comparator.comparingInt((Unit unit) -> unit.possible().size())
        .thenComparing(unit -> unit.claim().claim().uid()).thenComparing(unit -> unit.ask().name()));
    steps = 0;
    boolean can = place(units, new ArrayList<>());
    return can || steps <= MOST_STEPS ? Optional.of(can) : Optional.empty();
  }

  /** Empty if the node lacks what they need. */
  private Optional<List<Unit>> units(ClaimRequest claim, DeviceAsk ask, Reading reading) {
    List<Unit> units = new ArrayList<>();
    if (ask.count() instanceof Count.Exactly(int devices)) {
      List<ReportedDevice> possible =
          cards.keySet().stream().flatMap(card -> open(card, ask, reading).stream()).toList();
      for (int i = 0; i < devices; i++) {
        units.add(new Unit(claim, ask, possible));
      }
      return possible.size() < devices ? Optional.empty() : Optional.of(units);
    }
    for (List<ReportedDevice> devices : cards.values()) {
      for (ReportedDevice device : devices) {
        if (device.isSelectedBy(ask) && device.hasCapacity(ask) && !lacksRoom(device, ask)) {
          if (!device.isTolerated(ask) || isTooMuch(device, ask)) {
            return Optional.empty();
          }
          units.add(new Unit(claim, ask, List.of(device)));
        }
      }
    }
    return units.isEmpty() ? Optional.empty() : Optional.of(units);
  }

  /** Whether shares of its card leave too little for one more: a request for all does not mean such a card. */
  private boolean lacksRoom(ReportedDevice device, DeviceAsk ask) {
    TakenOfCard before = of(device);
    boolean taken = before.wholes() > 0 || !before.instances().isEmpty();
    return device.mode() == DeviceMode.SHARED && ask.access() == Access.OWN && !ask.placement().exclusive() && !taken
        && isTooMuch(device, ask);
  }

  private List<ReportedDevice> open(CardKey card, DeviceAsk ask, Reading reading) {
    List<ReportedDevice> ofCard = cards.getOrDefault(card, List.of());
    List<ReportedDevice> possible =
        reading == Reading.AS_MEANT ? ReportedDevice.meant(ofCard, ask) : ReportedDevice.written(ofCard, ask);
    return possible.stream().filter(device -> !isTooMuch(device, ask)).toList();
  }

  private boolean isTooMuch(ReportedDevice device, DeviceAsk ask) {
    return ask.access() == Access.OWN && of(device).plus(device, ask).isTooMuch(device);
  }

  private TakenOfCard of(ReportedDevice device) {
    return taken.getOrDefault(device.card(), TakenOfCard.NOTHING);
  }

  private boolean place(List<Unit> units, List<Integer> chosen) {
    int position = chosen.size();
    if (position == units.size()) {
      return true;
    }
    Unit unit = units.get(position);
    boolean sibling = position > 0 && unit.isSibling(units.get(position - 1)) && unit.possible().size() > 1;
    for (int i = sibling ? chosen.getLast() + 1 : 0; i < unit.possible().size(); i++) {
      if (++steps > MOST_STEPS) {
        return false;
      }
      ReportedDevice device = unit.possible().get(i);
      TakenOfCard before = of(device);
      if (isTooMuch(device, unit.ask()) || !keepsConstraints(units, chosen, device)) {
        continue;
      }
      taken.put(device.card(), before.plus(device, unit.ask()));
      chosen.add(i);
      boolean can = place(units, chosen);
      chosen.removeLast();
      taken.put(device.card(), before);
      if (can) {
        return true;
      }
    }
    return false;
  }

  private static boolean keepsConstraints(List<Unit> units, List<Integer> chosen, ReportedDevice device) {
    Unit unit = units.get(chosen.size());
    for (Constraint constraint : unit.claim().constraints()) {
      if (!means(constraint, unit.ask())) {
        continue;
      }
      Optional<String> value = device.attribute(constraint.attribute());
      if (value.isEmpty()) {
        return false;
      }
      for (int i = 0; i < chosen.size(); i++) {
        Unit other = units.get(i);
        if (other.isOfClaim(unit.claim()) && means(constraint, other.ask())) {
          boolean same = other.possible().get(chosen.get(i)).attribute(constraint.attribute()).equals(value);
          if (same != constraint instanceof Constraint.Match) {
            return false;
          }
        }
      }
    }
    return true;
  }

  /** Whether the constraint is about that request: by its name, or by that of its alternative. */
  static boolean means(Constraint constraint, DeviceAsk ask) {
    return constraint.requests().isEmpty() || constraint.requests().contains(ask.name())
        || constraint.requests().contains(ask.name().replaceAll("/.*", ""));
  }
}
