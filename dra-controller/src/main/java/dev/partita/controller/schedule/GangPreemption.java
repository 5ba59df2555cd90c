package dev.partita.controller.schedule;

import dev.partita.controller.allocate.Outcome;
import dev.partita.controller.decide.Decision;
import dev.partita.controller.decide.PodDecisions;
import dev.partita.controller.inventory.Inventory;
import dev.partita.controller.schedule.Preemption.Plan;
import dev.partita.controller.state.Nomination;
import dev.partita.controller.state.PodPlan;
import dev.partita.controller.state.SchedulerState;
import dev.partita.controller.state.Victim;
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
 * Makes room for a gang that finds no place, at the cost of pods of lower priority, or of pods that borrow what is
 * guaranteed to the gang's namespace: for all of its pods or for none, so that nobody goes for a gang that does not fit
 * all the same. For one thread.
 */
final class GangPreemption {
  /** Pods of one gang for which others are evicted: each is a search of the whole cluster. */
  private static final int MOST = 64;

  private final SchedulerState state;
  private final PodDecisions decisions;
  private final Preemption preemption;

  GangPreemption(SchedulerState state, PodDecisions decisions, Preemption preemption) {
    this.state = state;
    this.decisions = decisions;
    this.preemption = preemption;
  }

  /**
   * Looks for room for pods of a gang, and has victims evicted.
   *
   * @param pods those that have no place yet and are needed; nothing counts as taken for them
   * @return what is being done, for people; empty if nothing is
   */
  Optional<String> make(List<Pod> pods, Inventory inventory) {
    Map<Pod, Nomination> nominated = new LinkedHashMap<>();
    pods.forEach(pod -> preemption.underWay(pod).ifPresent(nomination -> nominated.put(pod, nomination)));
    if (!nominated.isEmpty()) {
      return words(nominated);
    }
    drop(pods);
    if (pods.stream().noneMatch(preemption::mayEvict)) {
      return Optional.empty();
    }
    Optional<Map<Pod, Nomination>> fresh = preemption.inItsTurn(pods.getFirst(), () -> search(pods, inventory));
    fresh.ifPresent(preemption::begin);
    return fresh.flatMap(GangPreemption::words);
  }

  /** Nothing is kept any longer for them. */
  void drop(List<Pod> pods) {
    pods.forEach(preemption::drop);
  }

  /**
   * A place for each of them, of which those before are taken, and those who make room gone; in the end all is as
   * before. If borrowers are to go, it must be for no more than is guaranteed, whichever of the gang's pods it is that
   * they go for.
   */
  Optional<Map<Pod, Nomination>> search(List<Pod> pods, Inventory inventory) {
    Map<Pod, Nomination> found = new LinkedHashMap<>();
    List<Outcome.Allocated> outcomes = new ArrayList<>();
    Set<String> leaving = new HashSet<>();
    try (SchedulerState.Scope scope = state.scope()) {
      for (Pod pod : pods) {
        switch (decisions.of(pod, inventory, scope.placed())) {
          case Decision.Allocate(PodPlan plan) -> {
            found.put(pod, preemption.nomination(pod, plan.outcome()));
            outcomes.add(plan.outcome());
            scope.assume(plan);
          }
          case Decision.Settled _ -> {} // by claims that it shares with others of the gang
          case Decision.Wait wait when rooms(found) < MOST && preemption.mayEvict(pod) -> {
            Optional<Plan> plan = preemption.find(pod, wait, inventory, leaving);
            if (plan.isEmpty()) {
              return Optional.empty();
            }
            Nomination nomination = plan.get().nomination();
            found.put(pod, nomination);
            outcomes.add(plan.get().outcome());
            List<String> victims = nomination.victims().stream().map(Victim::uid).toList();
            leaving.addAll(victims);
            scope.withoutPods(victims);
            scope.without(nomination.claims());
            scope.assume(plan(pod, wait, plan.get().outcome()));
          }
          case Decision.Wait _,Decision.Nothing _,Decision.ClaimMissing _,Decision.LeaveToScheduler _,Decision.Refuse _ -> {
            return Optional.empty();
          }
        }
      }
      if (found.values().stream().anyMatch(own -> own.grounds() instanceof Nomination.Grounds.Guarantee)
          && !preemption.isGuaranteed(pods.getFirst().getMetadata().getNamespace(), outcomes)) {
        return Optional.empty();
      }
    }
    return rooms(found) == 0 ? Optional.empty() : Optional.of(together(found));
  }

  /** Pods for which others have to go. */
  private static long rooms(Map<Pod, Nomination> found) {
    return found.values().stream().filter(nomination -> !nomination.victims().isEmpty()).count();
  }

  private static PodPlan plan(Pod pod, Decision.Wait wait, Outcome.Allocated outcome) {
    Map<String, ResourceClaim> claims =
        wait.claims().stream().collect(Collectors.toMap(claim -> claim.getMetadata().getUid(), Function.identity()));
    return new PodPlan(pod, outcome, claims, Set.of());
  }

  /** What one of them gets is kept until all victims are gone. */
  private static Map<Pod, Nomination> together(Map<Pod, Nomination> found) {
    Set<String> victims =
        found.values().stream().flatMap(own -> own.victims().stream()).map(Victim::uid).collect(Collectors.toSet());
    Set<String> claims = found.values().stream().flatMap(own -> own.claims().stream()).collect(Collectors.toSet());
    Instant end = found.values().stream().map(Nomination::until).max(Comparator.naturalOrder()).orElseThrow();
    Map<Pod, Nomination> together = new LinkedHashMap<>();
    found.forEach((pod, nomination) -> together.put(pod, nomination.within(victims, claims, end)));
    return together;
  }

  private static Optional<String> words(Map<Pod, Nomination> nominations) {
    return nominations.values().stream().flatMap(nomination -> nomination.words().stream())
        .reduce((one, other) -> one + "; " + other);
  }
}
