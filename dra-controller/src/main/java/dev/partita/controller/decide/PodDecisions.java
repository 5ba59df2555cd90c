package dev.partita.controller.decide;

import dev.partita.controller.claim.PodClaims;
import dev.partita.controller.place.ClaimPlacement;
import dev.partita.controller.request.ClaimRef;
import dev.partita.controller.state.PodPlan;
import dev.partita.controller.state.SchedulerState;
import dev.partita.controller.turns.AlikePods;
import dev.partita.controller.watch.ObjectKey;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Clock;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Decides about one pod, or about all of a gang. A pod is decided as if nothing were kept for itself, nor for pods of
 * lower priority: it may take both. For one thread.
 */
public final class PodDecisions {
  /** How many pods of a gang are passed over: each was a search of the whole cluster. */
  private static final int MOST_PASSED_OVER = 4;

  /** How many nodes are passed over that have no room for all pods that share a claim: each is another search. */
  private static final int MOST_TOO_FULL = 8;

  private final Decider decider;
  private final SchedulerState state;
  private final Clock clock;

  /** @param clock cannot be set, unlike the time of day */
  public PodDecisions(Decider decider, SchedulerState state, Clock clock) {
    this.decider = decider;
    this.state = state;
    this.clock = clock;
  }

  /** What can be said of the pod without looking for a place. */
  public Decider.Reading read(Pod pod) {
    return decider.read(pod, Map.of());
  }

  /** What to do about the pod; nothing is done. */
  public Decision of(Pod pod) {
    return of(pod, Optional.empty());
  }

  /**
   * The same, by what is known of pods of the same shape.
   *
   * @param alike what is known of pods that found no place, if that is to be believed of this one
   */
  public Decision of(Pod pod, Optional<AlikePods> alike) {
    return of(pod, Beside.NOTHING, alike);
  }

  private Decision of(Pod pod, Beside beside, Optional<AlikePods> alike) {
    try (var _ = state.withoutNominations(pod)) {
      return decider.decide(pod, state.inventory(), clock.instant(), beside, alike);
    }
  }

  /**
   * Decides about a pod of a gang beside those before it, whose places are assumed in the scope, and assumes its place
   * there if it has one. One whose claims are on a node on which it cannot run beside those before it has none.
   */
  public Decision assume(Pod pod, SchedulerState.Scope scope) {
    return assume(pod, scope, Map.of());
  }

  private Decision assume(Pod pod, SchedulerState.Scope scope, Map<String, Map<String, String>> tooFull) {
    Decision decision = of(pod, new Beside(scope.placed(), tooFull), Optional.empty());
    return switch (decision) {
      case Decision.Allocate(PodPlan plan) -> {
        scope.assume(plan);
        yield decision;
      }
      case Decision.Settled(Optional<String> node) when node.isPresent() ->
          scope.settle(pod, node.get()).map(refusal -> noRoom(node.get(), refusal)).orElse(decision);
      case Decision _ -> decision;
    };
  }

  private static Decision noRoom(String node, String refusal) {
    return new Decision.Wait(List.of(), List.of(), new WhyWaiting.NoRoomBesideClaims(node, refusal),
        _ -> Optional.empty(), NewNode.Unknown::new);
  }

  /** Assumes a place for each of these pods of a gang, beside those before it, or for none. */
  public GangDecision placeAll(List<Pod> pods) {
    return place(pods, pods.size());
  }

  /**
   * Assumes places for so many of these pods of a gang, each beside those before it, or for none. A pod without a place
   * is passed over, if enough are left; {@link #MOST_PASSED_OVER} are at most. Where pods share a claim, and its node
   * has no room for all of them, another node is tried for the claim; {@link #MOST_TOO_FULL} are at most.
   *
   * @param wanted no more than there are
   */
  public GangDecision place(List<Pod> pods, int wanted) {
    Map<String, Map<String, String>> tooFull = new HashMap<>();
    GangDecision decision;
    int known;
    int tries = 0;
    do {
      known = count(tooFull);
      decision = place(pods, wanted, tooFull);
      tries++;
    } while (decision instanceof GangDecision.NoPlace && count(tooFull) > known && tries <= MOST_TOO_FULL);
    return decision;
  }

  private static int count(Map<String, Map<String, String>> tooFull) {
    return tooFull.values().stream().mapToInt(Map::size).sum();
  }

  /** @param tooFull learns of nodes that have no room for all pods of a claim */
  private GangDecision place(List<Pod> pods, int wanted, Map<String, Map<String, String>> tooFull) {
    List<PodPlan> plans = new ArrayList<>();
    List<GangDecision.NoPlace> passedOver = new ArrayList<>();
    int spare = Math.min(pods.size() - wanted, MOST_PASSED_OVER);
    int missing = wanted;
    boolean isLeftToScheduler = false;
    try (SchedulerState.Scope scope = state.scope()) {
      for (Pod pod : pods) {
        if (missing == 0) {
          break;
        }
        Decision decision = assume(pod, scope, tooFull);
        if (decision instanceof Decision.Wait wait && wait.why() instanceof WhyWaiting.NoRoomBesideClaims none) {
          shared(pod, plans)
              .forEach(uid -> tooFull.computeIfAbsent(uid, _ -> new HashMap<>()).put(none.node(), none.refusal()));
        }
        switch (decision) {
          case Decision.Allocate(PodPlan plan) -> {
            plans.add(plan);
            missing--;
          }
          case Decision.Settled _ -> missing--; // by claims that it shares with others of the gang
          case Decision.LeaveToScheduler _ -> {
            isLeftToScheduler = true;
            missing--; // which may have a place for it
          }
          case Decision.Nothing _ -> {
            return new GangDecision.NoPlace(pod, decision);
          }
          case Decision.ClaimMissing _,Decision.HeldBack _,Decision.Refuse _,Decision.Wait _ -> {
            passedOver.add(new GangDecision.NoPlace(pod, decision));
            if (passedOver.size() > spare) {
              return passedOver.getFirst();
            }
          }
        }
      }
      if (isLeftToScheduler) {
        return new GangDecision.LeaveToScheduler();
      }
      scope.keep();
    }
    return new GangDecision.Placed(plans);
  }

  /** UIDs of the pod's claims that were placed for pods before it. */
  private static List<String> shared(Pod pod, List<PodPlan> before) {
    List<ObjectKey> names = PodClaims.of(pod).orElse(List.of());
    return before.stream().flatMap(plan -> plan.outcome().claims().stream()).map(ClaimPlacement::claim)
        .filter(claim -> names.contains(new ObjectKey(claim.namespace(), claim.name()))).map(ClaimRef::uid).toList();
  }

  /** Forgets what is kept for the next decision, after one ended in the middle. */
  public void forgetSearches() {
    decider.forgetSearches();
  }
}
