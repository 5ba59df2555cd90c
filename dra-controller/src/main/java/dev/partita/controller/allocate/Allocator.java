package dev.partita.controller.allocate;

import dev.partita.controller.budget.DecisionBudget;
import dev.partita.controller.forecast.ForecastIndex;
import dev.partita.controller.forecast.ForecastSearch.Advice;
import dev.partita.controller.forecast.ForecastSearch;
import dev.partita.controller.index.HostScan;
import dev.partita.controller.index.HostState;
import dev.partita.controller.index.OrderedSearch;
import dev.partita.controller.index.RequestMatcher;
import dev.partita.controller.match.Candidates;
import dev.partita.controller.match.Eligibility;
import dev.partita.controller.place.Alternatives;
import dev.partita.controller.place.NodeSearch.Choice;
import dev.partita.controller.place.NodeSearch.Found;
import dev.partita.controller.reasons.Explanation;
import dev.partita.controller.reasons.Reasons;
import dev.partita.controller.request.ClaimRequest;
import dev.partita.controller.request.DeviceRequest;
import dev.partita.controller.request.PodNeeds;
import dev.partita.controller.selector.DeviceSelectors;
import java.time.Duration;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Chooses node and cards for all the claims of a pod at once, or says for every node and card why not. It books
 * nothing: that is for whoever asked. What a decision finds out stays with the selectors and the {@link FreeCards} that
 * it was given, so that later ones are quicker: compiled selectors, the cards that match a request, and, where there is
 * a forecast, what placements cost later pods. For one thread.
 */
public final class Allocator {
  /** How long a decision may learn from what other pods ask for; it does not count as its own time. */
  private static final Duration LEARNING = Duration.ofMillis(200);

  private final DeviceSelectors selectors;
  private final Eligibility eligibility;
  private final Reasons reasons;
  private final DecisionBudget budget;

  /** An allocator without a limit of time. */
  public Allocator(DeviceSelectors selectors) {
    this(selectors, DecisionBudget.endless());
  }

  /** @param budget ends searches that take too long by {@link dev.partita.controller.budget.OverBudgetException} */
  public Allocator(DeviceSelectors selectors, DecisionBudget budget) {
    this.budget = budget;
    this.selectors = selectors;
    this.eligibility = new Eligibility(selectors);
    this.reasons = new Reasons(eligibility);
  }

  /**
   * @param needs what the pod requests beside cards
   * @param claims the claims of one pod that have no allocation yet
   * @param candidates what speaks against a host
   * @param cards every host's cards, refreshed
   */
  public Outcome allocate(PodNeeds needs, List<ClaimRequest> claims, Candidates candidates, FreeCards cards) {
    return place(needs, claims, candidates, cards)
        .<Outcome>map(allocated -> allocated)
        .orElseGet(() -> new Outcome.Unallocatable(explain(claims, candidates, cards)));
  }

  /** The same without the reasons, for which every host is looked at: empty if no host can serve the claims. */
  public Optional<Outcome.Allocated> place(
      PodNeeds needs,
      List<ClaimRequest> claims,
      Candidates candidates,
      FreeCards cards) {
    if (ClaimRequest.leastDevices(claims) > ClaimRequest.MOST_OF_POD) {
      return Optional.empty();
    }
    Decision decision = new Decision(needs, candidates, cards);
    List<Choice> choices = Alternatives.of(claims);
    boolean strictOrder = choices.stream().mapToInt(Choice::rank).distinct().count() == choices.size();
    return (strictOrder ? decision.ranked(choices) : decision.scan().best(choices))
        .or(() -> decision.scan().best(decision.withAnyMode(choices)))
        .map(Allocator::allocated);
  }

  /** The same on one host, whatever else speaks against it: empty if its cards cannot serve the claims. */
  public Optional<Outcome.Allocated> placeOn(String host, List<ClaimRequest> claims, FreeCards cards) {
    @Nullable HostState hostState = cards.index().hostStates().get(host);
    if (hostState == null) {
      return Optional.empty();
    }
    Decision decision = new Decision(PodNeeds.NONE, any -> Optional.empty(), cards);
    List<Choice> choices = Alternatives.of(claims);
    return decision.scan().first(hostState, choices)
        .or(() -> decision.scan().first(hostState, decision.withAnyMode(choices))).map(Allocator::allocated);
  }

  /** The same by looking at every host: what the lookup is checked against. */
  Optional<Outcome.Allocated> placeByScan(List<ClaimRequest> claims, Candidates candidates, FreeCards cards) {
    Decision decision = new Decision(PodNeeds.NONE, candidates, cards);
    List<Choice> choices = Alternatives.of(claims);
    return decision.scan().bestOfAll(choices).or(() -> decision.scan().bestOfAll(decision.withAnyMode(choices)))
        .map(Allocator::allocated);
  }

  /**
   * Finds a host for a pod without claims: where it takes least from the pods that ask for cards.
   *
   * @return empty if there is none with room for it
   */
  public Optional<String> hostWithoutCards(PodNeeds needs, Candidates candidates, FreeCards cards) {
    Decision decision = new Decision(needs, candidates, cards);
    Optional<ForecastIndex> forecastIndex = cards.forecast(decision::matcher);
    if (forecastIndex.isPresent()) {
      return new ForecastSearch(forecastIndex.get(), cards.index(), decision::matcher, budget)
          .hostWithoutCards(needs, decision::isRefused);
    }
    return cards.index().hostStates().values().stream().filter(host -> !decision.isRefused(host))
        .map(host -> host.host().name()).findFirst();
  }

  private static Outcome.Allocated allocated(Found found) {
    return new Outcome.Allocated(found.score().node(), found.claims());
  }

  /** Why no host can serve claims that {@link #place} found none for. */
  Explanation explain(List<ClaimRequest> claims, Candidates candidates, FreeCards cards) {
    return explain(claims, candidates, cards, false);
  }

  /** The same by judging every card: the other one is checked against it. */
  Explanation explainOneByOne(List<ClaimRequest> claims, Candidates candidates, FreeCards cards) {
    return explain(claims, candidates, cards, true);
  }

  private Explanation explain(List<ClaimRequest> claims, Candidates candidates, FreeCards cards, boolean oneByOne) {
    Function<DeviceRequest, RequestMatcher> matchers = request -> new RequestMatcher(eligibility, selectors, request);
    ModeFallback fallback = new ModeFallback(cards.index().cardClasses(), matchers);
    List<ClaimRequest> widened =
        claims.stream().map(claim -> claim.mapAlternatives(request -> fallback.withAnyMode(claim, request))).toList();
    Candidates asked =
        host -> {
          budget.step();
          return candidates.refusal(host);
        };
    return reasons.explain(widened, cards.index().hostStates().values(), asked, matchers, oneByOne);
  }

  /** What one decision has found out. */
  private final class Decision {
    private final PodNeeds needs;
    private final Candidates candidates;
    private final FreeCards cards;
    private final IdentityHashMap<DeviceRequest, RequestMatcher> matchers = new IdentityHashMap<>();
    private final Map<String, Boolean> refused = new HashMap<>();

    Decision(PodNeeds needs, Candidates candidates, FreeCards cards) {
      this.needs = needs;
      this.candidates = candidates;
      this.cards = cards;
    }

    /** The best placement of the first choice that has one. */
    Optional<Found> ranked(List<Choice> choices) {
      OrderedSearch search = new OrderedSearch(cards.index(), this::matcher, budget);
      Optional<ForecastSearch> forecast = budget.withOwnTime(LEARNING, () -> cards.forecast(this::matcher))
          .map(forecastIndex -> new ForecastSearch(forecastIndex, cards.index(), this::matcher, budget));
      for (Choice choice : choices) {
        Advice advice = forecast.isEmpty() ? new Advice.NotMine() : forecast.get().best(needs, choice, this::isRefused);
        Optional<Found> best =
            switch (advice) {
              case Advice.Place(Found found) -> Optional.of(found);
              case Advice.Nowhere _ -> Optional.empty();
              case Advice.NotMine _ ->
                  search.knows(choice) ? search.best(choice, this::isRefused) : scan().best(List.of(choice));
            };
        if (best.isPresent()) {
          return best;
        }
      }
      return Optional.empty();
    }

    /** The choices served by any mode: for when no host can serve them by the mode that is inferred. */
    List<Choice> withAnyMode(List<Choice> choices) {
      return new ModeFallback(cards.index().cardClasses(), this::matcher).withAnyMode(choices);
    }

    /** The same by looking at hosts one after the other. */
    HostScan scan() {
      return new HostScan(cards.index(), this::matcher, this::isRefused, eligibility, budget);
    }

    private RequestMatcher matcher(DeviceRequest request) {
      return matchers.computeIfAbsent(request,
          a -> cards.index().matcher(a, b -> new RequestMatcher(eligibility, selectors, b)));
    }

    private boolean isRefused(HostState hostState) {
      budget.step();
      return refused.computeIfAbsent(hostState.host().name(), name -> candidates.refusal(hostState.host()).isPresent());
    }
  }
}
