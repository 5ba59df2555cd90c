package dev.partita.controller.allocate;

import dev.partita.controller.inventory.CardKey;
import dev.partita.controller.inventory.Device;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/** What speaks against cards for one ask: said once for all cards that are alike and equally full. */
final class CardReasons {
  private final Eligibility eligibility;
  private final AskFits ask;
  private final boolean oneByOne;
  private final Map<State, Optional<CardRefusal>> known = new HashMap<>();
  private final Map<Alike, List<Fit>> inPrinciple = new HashMap<>();

  /** @param oneByOne whether to judge every card by itself all the same */
  CardReasons(Eligibility eligibility, AskFits ask, boolean oneByOne) {
    this.eligibility = eligibility;
    this.ask = ask;
    this.oneByOne = oneByOne || !ask.ofSpots();
  }

  private record State(Alike cards, Account account) {}

  /**
   * What is said of a host's cards.
   *
   * @param fitting how many could serve the ask
   * @param refusals why the others that are offered cannot, by index
   */
  record OnHost(int fitting, SortedMap<Integer, CardRefusal> refusals) {}

  /** Whether it says the same of hosts whose cards are at the same spots and equally full. */
  boolean ofSpots() {
    return !oneByOne;
  }

  OnHost on(Standing standing) {
    int fitting = 0;
    SortedMap<Integer, CardRefusal> refusals = new TreeMap<>();
    Map<CardKey, List<Device>> devices = new HashMap<>();
    for (int i = 0; i < standing.spots().size(); i++) {
      Spot spot = standing.spots().get(i);
      CardKey card = standing.host().cards().get(i).key();
      if (spot.example().isEmpty()) {
        continue;
      }
      Optional<CardRefusal> refusal;
      if (!oneByOne && !spot.hasInstances()) {
        refusal = known.computeIfAbsent(new State(ask.cards(standing, i), standing.accounts().get(i)), this::together);
      } else {
        if (devices.isEmpty()) {
          standing.host().devices().forEach(device -> devices.computeIfAbsent(device.card().key(), key -> new ArrayList<>()).add(device));
        }
        refusal = together(devices.getOrDefault(card, List.of()).stream().map(this::inPrinciple).toList(), standing.accounts().get(i));
      }
      if (refusal.isPresent()) {
        refusals.put(card.index(), refusal.get());
      } else {
        fitting++;
      }
    }
    return new OnHost(fitting, refusals);
  }

  private Fit inPrinciple(Device device) {
    return eligibility.inPrinciple(device, ask.ask());
  }

  private Optional<CardRefusal> together(State state) {
    return together(inPrinciple.computeIfAbsent(state.cards(), cards -> cards.example().stream().map(this::inPrinciple).toList()), state.account());
  }

  private static Optional<CardRefusal> together(Collection<Fit> devices, Account account) {
    Optional<CardRefusal> refusal = Optional.empty();
    for (Fit device : devices) {
      switch (Eligibility.now(device, account)) {
        case Fit.Fits _ -> {
          return Optional.empty();
        }
        case Fit.Refused(CardRefusal why) -> refusal = Optional.of(refusal.map(before -> CardRefusal.together(before, why)).orElse(why));
      }
    }
    return refusal;
  }
}
