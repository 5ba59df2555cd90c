package dev.partita.controller.allocate;

import dev.partita.api.DeviceMode;
import dev.partita.api.config.GpuShareConfig.Affinity;
import dev.partita.api.config.GpuShareConfig.Packing;
import dev.partita.api.config.GpuShareConfig.Placement;
import dev.partita.controller.inventory.CardKey;
import dev.partita.controller.request.ClaimRequest.NamedRequest;
import dev.partita.controller.request.ClaimRequest;
import dev.partita.controller.request.Constraint;
import dev.partita.controller.request.DeviceRequest.Access;
import dev.partita.controller.request.DeviceRequest.Count;
import dev.partita.controller.request.DeviceRequest.Modes;
import dev.partita.controller.request.DeviceRequest;
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
  private record Unit(ClaimRequest claim, DeviceRequest request, List<ReportedDevice> possible) {
    boolean isOfClaim(ClaimRequest other) {
      return claim.claim().equals(other.claim());
    }

    /**
     * Whether it is for the same request as the other, in the same way: then which of them has which device is no
     * choice.
     */
    boolean isSibling(Unit other) {
      return isOfClaim(other.claim) && request.name().equals(other.request.name());
    }
  }

  /**
   * Whether the node can serve them, whatever alternatives that takes, and however they are read; empty if that was not
   * settled.
   */
  Optional<Boolean> canServe(List<ClaimRequest> claims) {
    return canServe(claims, Integer.MAX_VALUE, Modes.ANY);
  }

  /** The same with alternatives that are better, added up over all requests, than that rank. */
  Optional<Boolean> canServe(List<ClaimRequest> claims, int below, Modes modes) {
    boolean settled = true;
    for (List<DeviceRequest> choice : choices(claims, below)) {
      Optional<Boolean> can = canServeThese(claims, choice, modes);
      if (can.orElse(false)) {
        return can;
      }
      settled &= can.isPresent();
    }
    return settled ? Optional.of(false) : Optional.empty();
  }

  /** Whether it can serve a request by itself. */
  Optional<Boolean> canServe(ClaimRequest claim, DeviceRequest request) {
    ClaimRequest alone =
        new ClaimRequest(claim.claim(), List.of(new NamedRequest(request.name(), List.of(request))), List.of());
    return canServeThese(List.of(alone), List.of(request), Modes.ANY);
  }

  /** Cards that could serve it, as far as each by itself can say. */
  long cardsFor(DeviceRequest request) {
    return cards.keySet().stream().filter(card -> !open(card, request, modes(request, Modes.ANY)).isEmpty())
        .count();
  }

  private static List<List<DeviceRequest>> choices(List<ClaimRequest> claims, int below) {
    record Ranked(int rank, List<DeviceRequest> requests) {}
    List<Ranked> choices = List.of(new Ranked(0, List.of()));
    for (ClaimRequest claim : claims) {
      for (NamedRequest request : claim.requests()) {
        List<Ranked> longer = new ArrayList<>();
        for (Ranked choice : choices) {
          for (int rank = 0; rank < request.alternatives().size(); rank++) {
            List<DeviceRequest> requests = new ArrayList<>(choice.requests());
            requests.add(request.alternatives().get(rank));
            longer.add(new Ranked(choice.rank() + rank, requests));
          }
        }
        choices = longer;
      }
    }
    return choices.stream().filter(choice -> choice.rank() < below).map(Ranked::requests).toList();
  }

  /** Who says how cards are to be chosen is read in one way only, and so is who wants all there are. */
  private static Modes modes(DeviceRequest request, Modes asked) {
    Placement placement = request.placement();
    boolean choosesCards = placement.exclusive() || placement.gpus() != Packing.AUTO
        || placement.numa() != Affinity.AUTO || placement.nvlink() != Affinity.AUTO;
    return choosesCards || Requests.isInTurn(request) || Requests.isByMps(request)
        || request.count() instanceof Count.All ? Modes.INFERRED : asked;
  }

  private Optional<Boolean> canServeThese(List<ClaimRequest> claims, List<DeviceRequest> requests, Modes modes) {
    List<Unit> units = new ArrayList<>();
    int next = 0;
    for (ClaimRequest claim : claims) {
      for (int i = 0; i < claim.requests().size(); i++) {
        DeviceRequest request = requests.get(next++);
        Optional<List<Unit>> its = units(claim, request, modes(request, modes));
        if (its.isEmpty()) {
          return Optional.of(false);
        }
        units.addAll(its.get());
      }
      if (units.stream().filter(unit -> unit.isOfClaim(claim)).count() > 32) {
        return Optional.of(false); // the API allows no more
      }
    }
    // Stable: the units of one request stay together.
    units.sort(Comparator.comparingInt((Unit unit) -> unit.possible().size())
        .thenComparing(unit -> unit.claim().claim().uid()).thenComparing(unit -> unit.request().name()));
    steps = 0;
    boolean can = place(units, new ArrayList<>());
    return can || steps <= MOST_STEPS ? Optional.of(can) : Optional.empty();
  }

  /** Empty if the node lacks what they need. */
  private Optional<List<Unit>> units(ClaimRequest claim, DeviceRequest request, Modes modes) {
    List<Unit> units = new ArrayList<>();
    if (request.count() instanceof Count.Exactly(int devices)) {
      List<ReportedDevice> possible =
          cards.keySet().stream().flatMap(card -> open(card, request, modes).stream()).toList();
      for (int i = 0; i < devices; i++) {
        units.add(new Unit(claim, request, possible));
      }
      return possible.size() < devices ? Optional.empty() : Optional.of(units);
    }
    for (List<ReportedDevice> devices : cards.values()) {
      for (ReportedDevice device : devices) {
        if (device.isSelectedBy(request) && device.hasCapacity(request) && !lacksRoom(device, request)) {
          if (!device.isTolerated(request) || isTooMuch(device, request)) {
            return Optional.empty();
          }
          units.add(new Unit(claim, request, List.of(device)));
        }
      }
    }
    return units.isEmpty() ? Optional.empty() : Optional.of(units);
  }

  /** Whether shares of its card leave too little for one more: a request for all does not mean such a card. */
  private boolean lacksRoom(ReportedDevice device, DeviceRequest request) {
    TakenOfCard before = of(device);
    boolean taken = before.wholes() > 0 || !before.instances().isEmpty() || before.turns() > 0
        || (Requests.isByMps(request) ? before.shares() > 0 : before.mps() > 0);
    return device.mode() == DeviceMode.SHARED && request.access() == Access.OWN && !request.placement().exclusive()
        && !Requests.isInTurn(request) && !taken
        && isTooMuch(device, request);
  }

  private List<ReportedDevice> open(CardKey card, DeviceRequest request, Modes modes) {
    List<ReportedDevice> ofCard = cards.getOrDefault(card, List.of());
    List<ReportedDevice> possible =
        modes == Modes.INFERRED
            ? ReportedDevice.inInferredMode(ofCard, request)
            : ReportedDevice.inAnyMode(ofCard, request);
    return possible.stream().filter(device -> !isTooMuch(device, request)).toList();
  }

  private boolean isTooMuch(ReportedDevice device, DeviceRequest request) {
    return request.access() == Access.OWN && of(device).plus(device, request).isTooMuch(device);
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
      if (isTooMuch(device, unit.request()) || !keepsConstraints(units, chosen, device)) {
        continue;
      }
      taken.put(device.card(), before.plus(device, unit.request()));
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
      if (!means(constraint, unit.request())) {
        continue;
      }
      Optional<String> value = device.attribute(constraint.attribute());
      if (value.isEmpty()) {
        return false;
      }
      for (int i = 0; i < chosen.size(); i++) {
        Unit other = units.get(i);
        if (other.isOfClaim(unit.claim()) && means(constraint, other.request())) {
          boolean same = other.possible().get(chosen.get(i)).attribute(constraint.attribute()).equals(value);
          if (same != constraint instanceof Constraint.Equal) {
            return false;
          }
        }
      }
    }
    return true;
  }

  /** Whether the constraint is about that request: by its name, or by that of its alternative. */
  static boolean means(Constraint constraint, DeviceRequest request) {
    return constraint.requests().isEmpty() || constraint.requests().contains(request.name())
        || constraint.requests().contains(request.name().replaceAll("/.*", ""));
  }
}
