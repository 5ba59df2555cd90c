package dev.partita.controller.schedule;

import dev.partita.controller.claim.AllocatedClaim;
import dev.partita.controller.claim.PodClaims;
import dev.partita.controller.decide.Decision;
import dev.partita.controller.decide.PodDecisions;
import dev.partita.controller.nodes.NodeFit;
import dev.partita.controller.nodes.PodRequests;
import dev.partita.controller.state.PodPlan;
import dev.partita.controller.state.SchedulerState;
import dev.partita.controller.turns.AlikePods;
import dev.partita.controller.watch.ClusterObjects;
import dev.partita.controller.watch.ObjectKey;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Decides about pods, has the decisions carried out, and knows which pods wait for something to change. For one thread.
 */
public final class PodScheduler {
  private final ClusterObjects view;
  private final SchedulerState state;
  private final PodDecisions decisions;
  private final Preemption preemption;
  private final PodWrites writes;
  private final SchedulingGates gates;
  private final AbandonedClaims abandoned;
  private final ClaimNotes notes;
  private final AlikePods alike = new AlikePods();
  private final Set<ObjectKey> waiting = new LinkedHashSet<>();

  public PodScheduler(
      ClusterObjects view,
      SchedulerState state,
      PodDecisions decisions,
      Preemption preemption,
      PodWrites writes,
      SchedulingGates gates,
      AbandonedClaims abandoned,
      ClaimNotes notes) {
    this.view = view;
    this.state = state;
    this.decisions = decisions;
    this.preemption = preemption;
    this.writes = writes;
    this.gates = gates;
    this.abandoned = abandoned;
    this.notes = notes;
  }

  /** Pods that wait for something to change. */
  List<ObjectKey> waiting() {
    return List.copyOf(waiting);
  }

  public int numberWaiting() {
    return waiting.size();
  }

  /**
   * Something changed that could help pods without a place: what is known of some no longer holds for others of the
   * same shape.
   */
  void forgetWhyPodsWait() {
    alike.forget();
  }

  /** The pod is over or gone. */
  public void forget(ObjectKey pod, String uid) {
    preemption.forget(uid);
    waiting.remove(pod);
    gates.forget(pod);
    writes.forget(pod);
  }

  /** What was decided for the pod has been carried out, or has failed. */
  public void finished(ObjectKey pod, boolean failed) {
    Optional<String> uid = Optional.ofNullable(view.pod(pod)).map(shown -> shown.getMetadata().getUid());
    if (failed && uid.isPresent()) {
      writes.failed(pod);
      giveBackRoom(pod);
      state.forget(uid.get());
    } else {
      writes.ended(pod);
      uid.ifPresent(state::endNomination);
    }
  }

  /** A pod that has a place, and is not bound yet, takes CPU and memory there, whoever has a turn before it. */
  public void countPlaced(Pod pod) {
    if (PodClaims.isLive(pod) && !PodClaims.isBound(pod)) {
      PodClaims.of(pod).orElse(List.of()).stream()
          .flatMap(key -> Optional.ofNullable(view.claim(key)).stream())
          .flatMap(claim -> Optional.ofNullable(AllocatedClaim.nodeSelector(claim)).stream())
          .flatMap(selector -> NodeFit.onlyNode(selector).stream())
          .findFirst()
          .ifPresent(node -> state.loads().put(pod.getMetadata().getUid(), node, PodRequests.of(pod)));
    }
  }

  /**
   * A pod that has lost its place, or did not get it, takes no CPU and memory there: from now on, not from its next
   * turn.
   */
  public void giveBackRoom(ObjectKey key) {
    @Nullable Pod pod = view.pod(key);
    if (pod != null && !PodClaims.isBound(pod) && !hasPlace(pod)) {
      giveBackRoom(pod);
    }
  }

  private void giveBackRoom(Pod pod) {
    if (state.loads().counts(pod.getMetadata().getUid())) {
      state.loads().remove(pod.getMetadata().getUid());
      alike.forget();
    }
  }

  private boolean hasPlace(Pod pod) {
    for (ObjectKey key : PodClaims.of(pod).orElse(List.of())) {
      @Nullable ResourceClaim claim = view.claim(key);
      if (claim != null
          && (state.claims().isAssumed(claim.getMetadata().getUid()) || AllocatedClaim.isAllocated(claim))) {
        return true;
      }
    }
    return false;
  }

  /** Decides about the pod by itself, and has it carried out. */
  void decide(Pod pod) {
    String uid = pod.getMetadata().getUid();
    boolean isLikeOthers = state.nominated(uid).isEmpty() && !state.loads().counts(uid) && view.gangOf(pod).isEmpty();
    Decision decision = decisions.of(pod, isLikeOthers ? Optional.of(alike) : Optional.empty());
    apply(pod, decision);
    switch (decision) {
      case Decision.Wait wait when !wait.unused().isEmpty() -> {} // when these are given back it is decided anew
      case Decision.Wait wait ->
          preemption
              .makeRoom(pod, wait)
              .ifPresentOrElse(
                  words -> notes.preempting(pod, wait, words),
                  () -> gates.show(List.of(pod), wait));
      case Decision.Allocate _ -> {}
      case Decision.Nothing _,Decision.ClaimMissing _,Decision.HeldBack _,Decision.LeaveToScheduler _,Decision.Settled _,Decision.Refuse _ ->
          preemption.endIfOver(uid);
    }
  }

  /** Forgets what is kept for the next decision, after one ended in the middle. */
  void forgetSearches() {
    decisions.forgetSearches();
  }

  /** Leaves alone a pod about which a decision failed. */
  void setAside(Pod pod, String why) {
    giveBackRoom(ObjectKey.of(pod));
    preemption.endIfOver(pod.getMetadata().getUid());
    List<ResourceClaim> open =
        PodClaims.of(pod).orElse(List.of()).stream()
            .flatMap(key -> Optional.ofNullable(view.claim(key)).stream())
            .filter(claim -> !AllocatedClaim.isAllocated(claim))
            .toList();
    notes.setAside(pod, open, why);
  }

  /** Does what was decided about the pod. */
  void apply(Pod pod, Decision decision) {
    ObjectKey key = ObjectKey.of(pod);
    waiting.remove(key);
    if (!(decision instanceof Decision.ClaimMissing)) {
      gates.forget(key);
    }
    switch (decision) {
      case Decision.Nothing _ -> {}
      case Decision.ClaimMissing(List<ResourceClaim> unused) -> {
        gates.claimMissing(pod);
        if (!PodClaims.isBound(pod)) { // it has what it had until it ends
          notes.claimMissing(pod);
        }
        abandoned.release(unused, "another claim of pod " + key + " is missing");
      }
      case Decision.HeldBack(List<String> _, List<ResourceClaim> unused) -> {
        giveBackRoom(key); // that a gate goes is a change of the pod, which comes back here
        abandoned.release(unused, "scheduling gates of others hold back pod " + key);
      }
      case Decision.LeaveToScheduler(List<ResourceClaim> claims) -> {
        waiting.add(key);
        abandoned.withdraw(claims);
        notes.leftToScheduler(pod);
        gates.open(pod);
      }
      case Decision.Settled(Optional<String> node) -> {
        state.endNomination(pod.getMetadata().getUid());
        String uid = pod.getMetadata().getUid();
        if (node.isPresent()) {
          state.loads().put(uid, node.get(), PodRequests.of(pod));
        } else if (!PodClaims.isBound(pod) && state.loads().counts(uid)) {
          state.giveBackRoom(uid); // what another driver had given it is taken back
          alike.forget();
        }
        notes.settled(pod, node);
        gates.open(pod);
      }
      case Decision.Refuse(Map<ResourceClaim, List<String>> problems, List<ResourceClaim> unused) -> {
        hold(pod);
        abandoned.withdraw(List.copyOf(problems.keySet()));
        notes.refused(pod, problems);
        abandoned.release(unused, "another claim of pod " + key + " is refused");
      }
      case Decision.Wait wait -> {
        hold(pod);
        abandoned.withdraw(wait.claims());
        notes.waiting(pod, wait);
        abandoned.release(wait.unused(), "the other claims of pod " + key + " cannot be allocated beside it");
      }
      case Decision.Allocate(PodPlan plan) -> {
        state.assume(plan);
        write(List.of(plan));
      }
    }
  }

  /** The pod is looked at again when something changes. */
  void waitFor(Pod pod) {
    waiting.add(ObjectKey.of(pod));
  }

  /** The pod waits for something to change, and takes no CPU or memory of a node meanwhile. */
  void hold(Pod pod) {
    waitFor(pod);
    if (!PodClaims.isBound(pod)) {
      giveBackRoom(pod);
    }
  }

  /** The same, as these claims of the pod and the pod itself say. */
  void hold(Pod pod, List<ResourceClaim> claims, String why) {
    hold(pod);
    abandoned.withdraw(claims);
    notes.waiting(pod, claims, why);
  }

  /** Others are evicted for the pod and these claims of it. */
  void awaitVictims(Pod pod, List<ResourceClaim> claims, String words) {
    notes.preempting(pod, claims, words);
  }

  public boolean isWriting(ObjectKey pod) {
    return writes.isUnderWay(pod);
  }

  /** Has what was assumed for these pods written, together. */
  void write(List<PodPlan> plans) {
    plans.forEach(plan -> waiting.remove(ObjectKey.of(plan.pod())));
    writes.write(plans);
  }
}
