package dev.partita.controller.index;

import dev.partita.controller.budget.DecisionBudget;
import dev.partita.controller.match.Eligibility;
import dev.partita.controller.match.MatchResult.Match;
import dev.partita.controller.place.NodeSearch.Choice;
import dev.partita.controller.place.NodeSearch.Found;
import dev.partita.controller.place.NodeSearch;
import dev.partita.controller.request.DeviceRequest;
import java.util.Collection;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Places requests on hosts, if no order of cards answers them. If a request names devices, it looks at the hosts that
 * have them; otherwise it follows the order of a {@link Ranking}.
 */
public final class HostScan {
  private final HostIndex cards;
  private final Function<DeviceRequest, RequestMatcher> matchers;
  private final Predicate<HostState> refused;
  private final Eligibility eligibility;
  private final DecisionBudget budget;

  /** @param budget a look at a host may take 20,000 steps */
  public HostScan(
      HostIndex cards,
      Function<DeviceRequest, RequestMatcher> matchers,
      Predicate<HostState> refused,
      Eligibility eligibility,
      DecisionBudget budget) {
    this.cards = cards;
    this.matchers = matchers;
    this.refused = refused;
    this.eligibility = eligibility;
    this.budget = budget;
  }

  RequestMatcher matcher(DeviceRequest request) {
    return matchers.apply(request);
  }

  /** The best placement on any host, of the first choice that the host can serve. */
  public Optional<Found> best(List<Choice> choices) {
    Optional<Set<String>> devices = devices(choices);
    if (devices.isPresent()) {
      return bestOf(cards.withDevices(devices.get()), choices);
    }
    for (int from = 0; from < choices.size();) {
      int rank = choices.get(from).rank();
      int to = from + 1;
      while (to < choices.size() && choices.get(to).rank() == rank) {
        to++;
      }
      List<Choice> equal = choices.subList(from, to);
      Optional<Found> best = cards.ranking(Ranking.Kind.of(equal), () -> new Ranking(equal, lasting(equal))).best(cards,
          equal, this, refused);
      if (best.isPresent()) {
        return best;
      }
      from = to;
    }
    return Optional.empty();
  }

  /** The matchers of these choices' requests, without what is known only of this decision's pod. */
  private HostScan lasting(List<Choice> choices) {
    IdentityHashMap<DeviceRequest, RequestMatcher> own = new IdentityHashMap<>();
    choices.stream().flatMap(choice -> choice.requests().stream()).flatMap(List::stream)
        .forEach(request -> own.put(request, matchers.apply(request)));
    return new HostScan(cards, request -> Objects.requireNonNull(own.get(request)), _ -> false, eligibility, budget);
  }

  /** The same by looking at every host. */
  public Optional<Found> bestOfAll(List<Choice> choices) {
    return bestOf(cards.hostStates().values(), choices);
  }

  private Optional<Found> bestOf(Collection<HostState> hosts, List<Choice> choices) {
    @Nullable Found best = null;
    for (HostState hostState : hosts) {
      if (!refused.test(hostState)) {
        best = better(best, hostState, choices);
      }
    }
    return Optional.ofNullable(best);
  }

  /** The devices without which none of the choices can be served; empty if there are no such devices. */
  private Optional<Set<String>> devices(List<Choice> choices) {
    Set<String> devices = new HashSet<>();
    for (Choice choice : choices) {
      Optional<Set<String>> named =
          choice.requests().stream().flatMap(List::stream).flatMap(request -> matchers.apply(request).uuids().stream())
              .findFirst();
      if (named.isEmpty()) {
        return Optional.empty();
      }
      devices.addAll(named.get());
    }
    return Optional.of(devices);
  }

  private @Nullable Found better(@Nullable Found best, HostState hostState, List<Choice> choices) {
    IdentityHashMap<DeviceRequest, List<Match>> onHost = new IdentityHashMap<>();
    Function<DeviceRequest, List<Match>> possible =
        request -> onHost.computeIfAbsent(request, a -> matchers.apply(a).on(hostState));
    for (Choice choice : choices) {
      if (best != null && best.score().rank() < choice.rank()) {
        return best;
      }
      Optional<Found> found = on(hostState, choice, possible);
      if (found.isPresent()) {
        return best == null || found.get().score().compareTo(best.score()) < 0 ? found.get() : best;
      }
    }
    return best;
  }

  /** A placement of the first choice that the host can serve. */
  public Optional<Found> first(HostState hostState, List<Choice> choices) {
    IdentityHashMap<DeviceRequest, List<Match>> onHost = new IdentityHashMap<>();
    Function<DeviceRequest, List<Match>> possible =
        request -> onHost.computeIfAbsent(request, a -> matchers.apply(a).on(hostState));
    for (Choice choice : choices) {
      Optional<Found> found = on(hostState, choice, possible);
      if (found.isPresent()) {
        return found;
      }
    }
    return Optional.empty();
  }

  private Optional<Found> on(HostState hostState, Choice choice, Function<DeviceRequest, List<Match>> possible) {
    budget.longStep();
    return enoughCards(choice, hostState, possible)
        ? NodeSearch.search(hostState.host(), cards.accounts(), choice, possible, budget)
        : Optional.empty();
  }

  private boolean enoughCards(Choice choice, HostState hostState, Function<DeviceRequest, List<Match>> possible) {
    for (List<DeviceRequest> requests : choice.requests()) {
      for (DeviceRequest request : requests) {
        int free = 0;
        for (Match match : possible.apply(request)) {
          free += Eligibility.now(match, cards.accounts().of(match.device().card().key())) instanceof Match ? 1 : 0;
        }
        boolean enough =
            switch (request.count()) {
              case DeviceRequest.Count.Exactly(int devices) -> free >= devices;
              case DeviceRequest.Count.All all ->
                  free > 0 && free == eligibility.devicesOfAll(hostState.host(), request, cards.accounts());
            };
        if (!enough) {
          return false;
        }
      }
    }
    return true;
  }
}
