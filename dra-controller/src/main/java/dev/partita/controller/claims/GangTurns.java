package dev.partita.controller.claims;

import dev.partita.controller.inventory.Inventory;
import dev.partita.controller.watch.ClusterView;
import dev.partita.controller.watch.ObjectKey;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Decides about gangs: nothing is allocated to any pod before there is a place for as many as the gang must have. What is placed
 * for some counts only within the decision, so that two gangs that have half their pods cannot hold up each other. For one thread.
 */
final class GangTurns {
  private final ClusterView view;
  private final PodTurns turns;
  private final GangRoom room;
  private final Leftovers leftovers;
  private final ClaimNotes notes;

  GangTurns(ClusterView view, PodTurns turns, GangRoom room, Leftovers leftovers, ClaimNotes notes) {
    this.view = view;
    this.turns = turns;
    this.room = room;
    this.leftovers = leftovers;
    this.notes = notes;
  }

  void take(ObjectKey gang, Inventory inventory) {
    List<Pod> there = view.podsOfGang(gang).stream().filter(Gang::isThere).sorted(PodTurns.ORDER).toList();
    if (there.stream().anyMatch(pod -> turns.isWriting(ObjectKey.of(pod)))) {
      return; // when that has ended it is looked at again
    }
    List<Pod> live = there.stream().filter(PodClaims::isLive).toList();
    switch (Gang.state(gang, there)) {
      case Gang.State.Waits(String why) -> {
        room.drop(live);
        for (Pod pod : live) {
          if (isSettled(pod)) {
            giveBack(pod, why);
          } else {
            hold(pod, why, inventory);
          }
        }
      }
      case Gang.State.Complete(int size) -> place(gang, size - (there.size() - live.size()), live, inventory);
    }
  }

  private void place(ObjectKey gang, int wanted, List<Pod> live, Inventory inventory) {
    Map<String, String> placed = new HashMap<>();
    List<PodPlan> plans = new ArrayList<>();
    List<Pod> settled = new ArrayList<>();
    List<Pod> open = new ArrayList<>();
    for (Pod pod : live) {
      (isSettled(pod) ? settled : open).add(pod);
    }
    int missing = wanted - settled.size();
    if (missing <= 0) {
      live.forEach(pod -> turns.decide(pod, inventory)); // each by itself: as many as there must be have their place
      return;
    }
    List<Pod> needed = open.subList(0, Math.min(missing, open.size()));
    for (Pod pod : needed) {
      switch (consider(pod, inventory, placed, plans)) {
        case Decision.Allocate(PodPlan plan) -> {
          turns.assume(plan);
          plan.outcome().claims().forEach(placement -> placed.put(placement.claim().uid(), plan.outcome().node()));
          plans.add(plan);
        }
        case Decision.Settled _ -> {} // by claims that it shares with others of the gang
        case Decision.LeaveToScheduler _ -> {
          plans.forEach(turns::unassume);
          live.forEach(each -> turns.decide(each, inventory)); // kube-scheduler knows no gangs
          return;
        }
        case Decision decision -> {
          plans.forEach(turns::unassume);
          refuse(gang, pod, decision, open, settled);
          if (decision instanceof Decision.Wait) {
            room.make(needed, inventory).ifPresent(words -> needed.forEach(each -> notes.preempting(each, waiting(each), "gang " + gang.name() + ": " + words)));
          } else {
            room.drop(needed);
          }
          return;
        }
      }
    }
    turns.write(plans);
  }

  /** A decision that fails leaves nothing of those before it. */
  private Decision consider(Pod pod, Inventory inventory, Map<String, String> placed, List<PodPlan> before) {
    try {
      return turns.consider(pod, inventory, placed);
    } catch (RuntimeException e) {
      before.forEach(turns::unassume);
      throw e;
    }
  }

  private void refuse(ObjectKey gang, Pod pod, Decision decision, List<Pod> open, List<Pod> settled) {
    turns.apply(pod, decision);
    String why =
        "gang " + gang.name() + ": waits for pod " + pod.getMetadata().getName()
            + switch (decision) {
              case Decision.Wait wait -> ": " + wait.explanation().summary(ClaimNotes.MAX_EXPLANATION);
              case Decision.Refuse(Map<ResourceClaim, List<String>> problems) ->
                  ": " + String.join("; ", problems.values().stream().flatMap(List::stream).toList());
              default -> ", whose claims are not there yet";
            };
    open.stream().filter(other -> !other.equals(pod)).forEach(other -> hold(other, why));
    settled.forEach(other -> giveBack(other, why));
  }

  /** What the pod has and nobody uses is kept for nobody: its gang may never be complete again. */
  private void giveBack(Pod pod, String why) {
    turns.waitFor(pod);
    leftovers.release(claims(pod).stream().filter(AllocatedClaim::isUnusedAndOurs).toList(), why);
  }

  /** Whether all its claims are allocated. */
  private boolean isSettled(Pod pod) {
    Optional<List<ObjectKey>> keys = PodClaims.of(pod);
    return keys.isPresent() && claims(pod).stream().filter(AllocatedClaim::isAllocated).count() == keys.get().size();
  }

  /** A pod for which there is nothing to allocate, or not any more, waits for nobody. */
  private void hold(Pod pod, String why, Inventory inventory) {
    switch (turns.consider(pod, inventory, Map.of())) {
      case Decision.ClaimMissing missing -> turns.apply(pod, missing);
      case Decision.Settled settled when claims(pod).stream().noneMatch(AllocatedClaim::isAllocated) -> turns.apply(pod, settled);
      case Decision _ -> hold(pod, why);
    }
  }

  private void hold(Pod pod, String why) {
    turns.hold(pod);
    List<ResourceClaim> waiting = waiting(pod);
    leftovers.withdraw(waiting);
    notes.waiting(pod, waiting, why);
  }

  private List<ResourceClaim> waiting(Pod pod) {
    return claims(pod).stream().filter(claim -> !AllocatedClaim.isAllocated(claim)).toList();
  }

  private List<ResourceClaim> claims(Pod pod) {
    List<ResourceClaim> claims = new ArrayList<>();
    for (ObjectKey key : PodClaims.of(pod).orElse(List.of())) {
      @Nullable ResourceClaim claim = view.claim(key);
      Optional.ofNullable(claim).ifPresent(claims::add);
    }
    return claims;
  }
}
