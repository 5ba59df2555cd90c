package dev.partita.controller.allocate;

import dev.partita.api.config.GpuShareConfig.Packing;
import dev.partita.controller.allocate.NodeSearch.Choice;
import dev.partita.controller.allocate.NodeSearch.Found;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Finds the best host by placing the choices on one after the other, for asks that no order of cards answers. It looks at no more of them
 * than it must: only at those that have the devices which an ask names; of hosts that are alike, card by card, at the first; and for
 * pods that are to be spread, at those with the most free, as long as a better one can follow.
 */
final class HostScan {
  private final FreeCards cards;
  private final Function<DeviceAsk, AskFits> fits;
  private final Predicate<Standing> refused;
  private final Reasons reasons;

  HostScan(FreeCards cards, Function<DeviceAsk, AskFits> fits, Predicate<Standing> refused, Reasons reasons) {
    this.cards = cards;
    this.fits = fits;
    this.refused = refused;
    this.reasons = reasons;
  }

  /** Hosts of one rack whose cards are equally full can serve the same asks equally well, if the asks go by kinds of cards. */
  private record State(Rack rack, List<Account> accounts) {
    static State of(Standing standing, Accounts accounts) {
      return new State(standing.rack(), standing.host().cards().stream().map(card -> accounts.of(card.key())).toList());
    }
  }

  /** The best placement on any host, of the first choice that the host can serve. */
  Optional<Found> best(List<Choice> choices) {
    List<DeviceAsk> asks = choices.stream().flatMap(choice -> choice.asks().stream()).flatMap(List::stream).toList();
    boolean alike = asks.stream().allMatch(ask -> fits.apply(ask).ofKinds());
    boolean spread = !asks.isEmpty() && asks.stream().allMatch(ask -> ask.placement().nodes() == Packing.SPREAD);
    Optional<Set<String>> devices = devices(choices);
    if (devices.isEmpty() && spread) {
      return roomiest(choices, alike);
    }
    Collection<Standing> hosts = devices.map(cards::withDevices).orElseGet(() -> cards.standings().values());
    @Nullable Found best = null;
    Set<State> seen = new HashSet<>();
    for (Standing standing : hosts) {
      if (!refused.test(standing) && (!alike || seen.add(State.of(standing, cards.accounts())))) {
        best = better(best, standing, choices);
      }
    }
    return Optional.ofNullable(best);
  }

  /** The same by looking at every host. */
  Optional<Found> bestOfAll(List<Choice> choices) {
    @Nullable Found best = null;
    for (Standing standing : cards.standings().values()) {
      if (!refused.test(standing)) {
        best = better(best, standing, choices);
      }
    }
    return Optional.ofNullable(best);
  }

  /** The devices without which none of the choices can be served; empty if there are no such devices. */
  private Optional<Set<String>> devices(List<Choice> choices) {
    Set<String> devices = new HashSet<>();
    for (Choice choice : choices) {
      Optional<Set<String>> named = choice.asks().stream().flatMap(List::stream).flatMap(ask -> fits.apply(ask).uuids().stream()).findFirst();
      if (named.isEmpty()) {
        return Optional.empty();
      }
      devices.addAll(named.get());
    }
    return Optional.of(devices);
  }

  /** What stays free on a host is not more than what is: so the first hosts decide, and those that come close. */
  private Optional<Found> roomiest(List<Choice> choices, boolean alike) {
    @Nullable Found best = null;
    Set<State> seen = new HashSet<>();
    for (Place place : cards.roomiest()) {
      Standing standing = place.host();
      // Of one rank only, since what is free does not outweigh it.
      if (best != null && choices.getFirst().rank() == best.score().rank() && -best.score().free() > place.free()) {
        break;
      }
      if (!refused.test(standing) && (!alike || seen.add(State.of(standing, cards.accounts())))) {
        best = better(best, standing, choices);
      }
    }
    return Optional.ofNullable(best);
  }

  private @Nullable Found better(@Nullable Found best, Standing standing, List<Choice> choices) {
    IdentityHashMap<DeviceAsk, List<Fit.Fits>> onHost = new IdentityHashMap<>();
    Function<DeviceAsk, List<Fit.Fits>> possible = ask -> onHost.computeIfAbsent(ask, a -> fits.apply(a).on(standing));
    for (Choice choice : choices) {
      if (best != null && best.score().rank() < choice.rank()) {
        return best;
      }
      Optional<Found> found = on(standing, choice, possible);
      if (found.isPresent()) {
        return best == null || found.get().score().compareTo(best.score()) < 0 ? found.get() : best;
      }
    }
    return best;
  }

  /** A placement of the choice on that host. */
  Optional<Found> on(Standing standing, Choice choice) {
    IdentityHashMap<DeviceAsk, List<Fit.Fits>> onHost = new IdentityHashMap<>();
    return on(standing, choice, ask -> onHost.computeIfAbsent(ask, a -> fits.apply(a).on(standing)));
  }

  private Optional<Found> on(Standing standing, Choice choice, Function<DeviceAsk, List<Fit.Fits>> possible) {
    return enoughCards(choice, standing, possible) ? NodeSearch.search(standing.host(), cards.accounts(), choice, possible) : Optional.empty();
  }

  private boolean enoughCards(Choice choice, Standing standing, Function<DeviceAsk, List<Fit.Fits>> possible) {
    for (List<DeviceAsk> asks : choice.asks()) {
      for (DeviceAsk ask : asks) {
        int free = 0;
        for (Fit.Fits fit : possible.apply(ask)) {
          free += Eligibility.now(fit, cards.accounts().of(fit.device().card().key())) instanceof Fit.Fits ? 1 : 0;
        }
        boolean enough =
            switch (ask.count()) {
              case DeviceAsk.Count.Exactly(int devices) -> free >= devices;
              case DeviceAsk.Count.All all -> free > 0 && free == reasons.cardsOfAll(standing.host(), ask, cards.accounts());
            };
        if (!enough) {
          return false;
        }
      }
    }
    return true;
  }
}
