package dev.partita.controller.preempt;

import dev.partita.controller.allocate.Outcome;
import dev.partita.controller.booking.Booking;
import dev.partita.controller.decide.Decision;
import dev.partita.controller.decide.PodDecisions;
import dev.partita.controller.preempt.PreemptionSearch.Room;
import dev.partita.controller.state.Nomination.Awaited;
import dev.partita.controller.state.Nomination;
import dev.partita.controller.state.PodPlan;
import dev.partita.controller.state.SchedulerState;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Searches victims for the pods of a gang, for all of them or for none, so that nobody is evicted for a gang that does
 * not fit all the same. For one thread.
 */
final class GangSearch {
  /** Pods of one gang for which others are evicted: each is a search of the whole cluster. */
  private static final int MOST = 64;

  private final SchedulerState state;
  private final PodDecisions decisions;
  private final PreemptionSearch search;

  GangSearch(SchedulerState state, PodDecisions decisions, PreemptionSearch search) {
    this.state = state;
    this.decisions = decisions;
    this.search = search;
  }

  /**
   * Finds a place for each of them, as if those before had their places and their victims were gone. In the end all
   * counts as before. If borrowers are to go, the gang must get no more than is guaranteed, whichever of its pods they
   * go for.
   */
  Optional<PreemptionPlan> find(List<Pod> pods) {
    Map<Pod, Nomination> found = new LinkedHashMap<>();
    List<Outcome.Allocated> outcomes = new ArrayList<>();
    Set<String> leaving = new HashSet<>();
    try (SchedulerState.Scope scope = state.scope()) {
      for (Pod pod : pods) {
        switch (decisions.assume(pod, scope)) {
          case Decision.Allocate(PodPlan plan) -> {
            found.put(pod, search.nomination(pod, plan.outcome()));
            outcomes.add(plan.outcome());
          }
          case Decision.Settled _ -> {} // by claims that it shares with others of the gang
          case Decision.LeaveToScheduler _ -> {} // which may have a place for it
          case Decision.Wait wait when rooms(found) < MOST && search.mayEvict(pod) -> {
            Optional<Room> room = search.room(pod, wait, leaving);
            if (room.isEmpty()) {
              return Optional.empty();
            }
            Nomination nomination = room.get().nomination();
            found.put(pod, nomination);
            outcomes.add(room.get().outcome());
            leaving.addAll(nomination.awaited().pods());
            scope.withoutPods(nomination.awaited().pods());
            scope.without(nomination.awaited().claims());
            scope.assume(plan(pod, wait, room.get().outcome()));
          }
          case Decision.Wait _,Decision.Nothing _,Decision.ClaimMissing _,Decision.HeldBack _,Decision.Refuse _ -> {
            return Optional.empty();
          }
        }
      }
      if (found.values().stream().anyMatch(own -> own.grounds() instanceof Nomination.Grounds.Guarantee)
          && !isGuaranteed(pods.getFirst().getMetadata().getNamespace(), outcomes)) {
        return Optional.empty();
      }
    }
    return rooms(found) == 0 ? Optional.empty() : Optional.of(new PreemptionPlan(together(found)));
  }

  /** Whether a quota guarantees the namespace all that these pods are to get, which counts as taken. */
  private boolean isGuaranteed(String namespace, List<Outcome.Allocated> outcomes) {
    Set<String> claims = outcomes.stream().flatMap(outcome -> outcome.claims().stream())
        .map(placement -> placement.claim().uid()).collect(Collectors.toSet());
    List<List<Booking>> together = outcomes.stream().flatMap(outcome -> outcome.bookings().stream()).toList();
    try (var _ = state.without(claims)) {
      return state.claims().quotas().isGuaranteed(namespace, together);
    }
  }

  /** For how many of the pods others have to go, or have to give back what they had. */
  private static long rooms(Map<Pod, Nomination> found) {
    return found.values().stream().map(Nomination::awaited)
        .filter(awaited -> !awaited.pods().isEmpty() || !awaited.claims().isEmpty()).count();
  }

  private static PodPlan plan(Pod pod, Decision.Wait wait, Outcome.Allocated outcome) {
    Map<String, ResourceClaim> claims =
        wait.claims().stream().collect(Collectors.toMap(claim -> claim.getMetadata().getUid(), Function.identity()));
    return new PodPlan(pod, outcome, claims, Set.of());
  }

  /** Keeps what each of them gets until all victims are gone. */
  private static Map<Pod, Nomination> together(Map<Pod, Nomination> found) {
    Set<String> pods =
        found.values().stream().flatMap(own -> own.awaited().pods().stream()).collect(Collectors.toSet());
    Set<String> claims =
        found.values().stream().flatMap(own -> own.awaited().claims().stream()).collect(Collectors.toSet());
    Instant end =
        found.values().stream().map(own -> own.awaited().until()).max(Comparator.naturalOrder()).orElseThrow();
    Awaited awaited = new Awaited(pods, claims, end);
    Map<Pod, Nomination> together = new LinkedHashMap<>();
    found.forEach((pod, nomination) -> together.put(pod, nomination.within(awaited)));
    return together;
  }
}
