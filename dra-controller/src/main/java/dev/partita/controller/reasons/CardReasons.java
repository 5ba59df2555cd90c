package dev.partita.controller.reasons;

import com.google.common.collect.ImmutableSortedMap;
import dev.partita.api.DeviceName;
import dev.partita.api.MigSlot;
import dev.partita.controller.booking.Account;
import dev.partita.controller.index.CardGroup;
import dev.partita.controller.index.CardPosition;
import dev.partita.controller.index.HostState;
import dev.partita.controller.index.RequestMatcher;
import dev.partita.controller.inventory.CardKey;
import dev.partita.controller.inventory.Device;
import dev.partita.controller.inventory.MigGeometry;
import dev.partita.controller.match.CardRefusal;
import dev.partita.controller.match.Eligibility;
import dev.partita.controller.match.MatchResult.Match;
import dev.partita.controller.match.MatchResult;
import dev.partita.controller.match.Taking;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Says what speaks against cards for one request, once for all cards that are alike and equally full. */
final class CardReasons {
  private final Eligibility eligibility;
  private final RequestMatcher matcher;
  private final boolean oneByOne;
  private final Map<State, OnCard> known = new HashMap<>();
  private final Map<Instances, Integer> instances = new HashMap<>();
  private final Map<CardGroup, List<MatchResult>> inPrinciple = new HashMap<>();

  /** @param oneByOne whether to judge every card by itself all the same */
  CardReasons(Eligibility eligibility, RequestMatcher matcher, boolean oneByOne) {
    this.eligibility = eligibility;
    this.matcher = matcher;
    this.oneByOne = oneByOne || !matcher.ofPositions();
  }

  private record State(CardGroup cards, Account account) {}

  /**
   * What is said of a card.
   *
   * @param devices how many it could give the request at once
   * @param refusal why it can give none
   */
  private record OnCard(int devices, Optional<CardRefusal> refusal) {}

  /** MIG instances of a card, of which as many are wanted as there is room for. */
  private record Instances(MigGeometry geometry, List<MigSlot> open, List<MigSlot> others) {}

  /**
   * What is said of a host's cards.
   *
   * @param fitting how many could serve the request
   * @param devices how many devices these could give it at once; no more than are wanted are counted of a card
   * @param refusals why the others cannot, by index
   */
  record OnHost(int fitting, int devices, ImmutableSortedMap<Integer, CardRefusal> refusals) {}

  /** Whether it says the same of hosts whose cards are at the same positions and equally full. */
  boolean ofPositions() {
    return !oneByOne;
  }

  /** @param wanted how many devices the request needs of the host */
  OnHost on(HostState hostState, int wanted) {
    int fitting = 0;
    int given = 0;
    ImmutableSortedMap.Builder<Integer, CardRefusal> refusals = ImmutableSortedMap.naturalOrder();
    Map<CardKey, List<Device>> devices = Map.of();
    for (int i = 0; i < hostState.positions().size(); i++) {
      CardPosition position = hostState.positions().get(i);
      if (position.notOffered().isPresent()) {
        refusals.put(position.index(), position.notOffered().get());
        continue;
      }
      OnCard said;
      if (!oneByOne && !position.hasInstances()) {
        said = known.computeIfAbsent(new State(matcher.group(hostState, i), hostState.accounts().get(i)),
            state -> onUndivided(state, wanted));
      } else {
        if (devices.isEmpty()) {
          devices = hostState.host().devicesByCard();
        }
        said = on(devices.getOrDefault(hostState.host().cards().get(i).key(), List.of()).stream()
            .map(this::inPrinciple).toList(), hostState.accounts().get(i), wanted);
      }
      if (said.refusal().isPresent()) {
        int index = position.index(); // not the card's own key: of all cards of a cluster few are in a processor's cache
        refusals.put(index, said.refusal().get().heldFor(hostState.host().heldOn(index)));
      } else {
        fitting++;
        given += said.devices();
      }
    }
    return new OnHost(fitting, given, refusals.build());
  }

  private MatchResult inPrinciple(Device device) {
    return eligibility.inPrinciple(device, matcher.request());
  }

  /** A card of which no instances are offered. */
  private OnCard onUndivided(State state, int wanted) {
    return on(
        inPrinciple.computeIfAbsent(state.cards(), cards -> cards.example().stream().map(this::inPrinciple).toList()),
        state.account(), wanted);
  }

  /** Judges one card. Devices of a mode that is not inferred neither serve the request nor count as what it lacks. */
  private OnCard on(List<MatchResult> devices, Account account, int wanted) {
    List<Match> serving = matcher.serving(devices);
    List<Match> open = serving.stream().filter(match -> Eligibility.now(match, account) instanceof Match).toList();
    if (!open.isEmpty()) {
      return new OnCard(atOnce(open, account, wanted), Optional.empty());
    }
    Optional<CardRefusal> refusal = Optional.empty();
    for (MatchResult device : serving.isEmpty() ? devices : serving) {
      if (Eligibility.now(device, account) instanceof MatchResult.Refused(CardRefusal why)) {
        refusal = Optional.of(refusal.map(before -> CardRefusal.together(before, why)).orElse(why));
      }
    }
    return new OnCard(0, refusal);
  }

  /** How many devices a card gives: one, unless they are MIG instances, shares of these, or only looked at. */
  private int atOnce(List<Match> open, Account account, int wanted) {
    Match any = open.getFirst();
    // nothing excludes another one: each share is of an instance that is there
    if (wanted == 1 || any.takes() == Taking.NOTHING || any.takes() == Taking.INSTANCE_SHARE) {
      return Math.min(wanted, open.size());
    }
    List<MigSlot> slots = new ArrayList<>();
    for (Match match : open) {
      match.device().name().instance().ifPresent(slots::add);
    }
    return slots.isEmpty()
        ? 1
        : instances.computeIfAbsent(
            new Instances(any.device().card().mig(), slots, account.begunInstances()),
            its -> its.geometry().atOnce(its.open(), its.others(), wanted));
  }
}
