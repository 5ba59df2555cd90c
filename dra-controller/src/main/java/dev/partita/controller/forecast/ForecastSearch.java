package dev.partita.controller.forecast;

import dev.partita.api.config.GpuShareConfig.Packing;
import dev.partita.controller.budget.DecisionBudget;
import dev.partita.controller.forecast.CheapestHosts.Offer;
import dev.partita.controller.index.HostIndex;
import dev.partita.controller.index.HostState;
import dev.partita.controller.index.RequestMatcher;
import dev.partita.controller.index.WholeCardIndex;
import dev.partita.controller.inventory.Card;
import dev.partita.controller.match.MatchResult.Match;
import dev.partita.controller.match.Taking;
import dev.partita.controller.place.NodeSearch.Choice;
import dev.partita.controller.place.NodeSearch.Found;
import dev.partita.controller.place.NodeSearch;
import dev.partita.controller.request.DeviceRequest;
import dev.partita.controller.request.PodNeeds;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;

/** Places a share of one card, or whole cards of one kind, where the forecast says that it costs least. */
public final class ForecastSearch {
  private final ForecastIndex forecastIndex;
  private final HostIndex cards;
  private final Function<DeviceRequest, RequestMatcher> matchers;
  private final DecisionBudget budget;

  public ForecastSearch(
      ForecastIndex forecastIndex,
      HostIndex cards,
      Function<DeviceRequest, RequestMatcher> matchers,
      DecisionBudget budget) {
    this.forecastIndex = forecastIndex;
    this.cards = cards;
    this.matchers = matchers;
    this.budget = budget;
  }

  /**
   * Hosts of one shape and occupancy: what one of them cannot place none can.
   *
   * @param cards for whole cards which of them are untouched, for shares what is taken of each
   */
  private record HostGroup(WholeCardIndex wholeCards, Object cards) {}

  /** What the forecast says of a choice. */
  public sealed interface Advice {
    /** The cheapest placement. */
    record Place(Found found) implements Advice {}

    /** No host can serve it. */
    record Nowhere() implements Advice {}

    /** The forecast cannot tell: another search must be asked. */
    record NotMine() implements Advice {}
  }

  /** The cheapest placement of the choice. */
  public Advice best(PodNeeds needs, Choice choice, Predicate<HostState> refused) {
    List<DeviceRequest> requests = choice.requests().stream().flatMap(List::stream).toList();
    if (requests.size() != 1 || !leavesItToUs(requests.getFirst())) {
      return new Advice.NotMine();
    }
    DeviceRequest request = requests.getFirst();
    Optional<CheapestHosts> cheapest = forecastIndex.cheapest(DemandHistory.kind(needs, request), matchers);
    if (cheapest.isEmpty()) {
      return new Advice.NotMine();
    }
    boolean one = isOne(request);
    boolean doubtful = false;
    Set<HostGroup> impossible = new HashSet<>();
    for (Optional<Offer> next = cheapest.get().next(); next.isPresent(); next = cheapest.get().next()) {
      Offer offer = next.get();
      HostState hostState = offer.hostState();
      if ((!one && impossible.contains(group(request, hostState))) || refused.test(hostState)) {
        continue;
      }
      Optional<Found> found =
          NodeSearch.search(hostState.host(), cards.accounts(), choice, a -> possible(a, offer, one), budget);
      if (found.isPresent()) {
        return new Advice.Place(found.get());
      }
      if (one) {
        doubtful = true; // another card of the host might do: parts are rounded
      } else {
        impossible.add(group(request, hostState));
      }
    }
    return doubtful ? new Advice.NotMine() : new Advice.Nowhere();
  }

  /** The host on which a pod that needs no cards costs least. */
  public Optional<String> hostWithoutCards(PodNeeds needs, Predicate<HostState> refused) {
    CheapestHosts cheapest =
        forecastIndex.cheapest(new DemandHistory.Kind(needs, Optional.empty()), matchers).orElseThrow();
    for (Optional<Offer> next = cheapest.next(); next.isPresent(); next = cheapest.next()) {
      if (!refused.test(next.get().hostState())) {
        return next.map(offer -> offer.hostState().host().name());
      }
    }
    return Optional.empty();
  }

  private HostGroup group(DeviceRequest request, HostState hostState) {
    boolean whole = matchers.apply(request).on(hostState).stream().allMatch(match -> match.takes() == Taking.CARD);
    return new HostGroup(hostState.wholeCards(), whole ? hostState.untouched() : hostState.occupancy());
  }

  /**
   * What could serve the request. For one device these are the cards that cost the same: which of them is taken depends
   * on what they belong to.
   */
  private List<Match> possible(DeviceRequest request, Offer offer, boolean one) {
    List<Match> all = matchers.apply(request).on(offer.hostState());
    if (!one) {
      return all;
    }
    List<Card> cards = offer.hostState().host().cards();
    BitSet cheapest = offer.cards();
    return all.stream().filter(match -> cheapest.get(cards.indexOf(match.device().card()))).toList();
  }

  private static boolean leavesItToUs(DeviceRequest request) {
    return !request.isAdminAccess() && request.placement().nodes() == Packing.AUTO
        && request.placement().gpus() == Packing.AUTO;
  }

  private static boolean isOne(DeviceRequest request) {
    return request.count() instanceof DeviceRequest.Count.Exactly(int devices) && devices == 1;
  }
}
