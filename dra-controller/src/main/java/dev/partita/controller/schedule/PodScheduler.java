package dev.partita.controller.schedule;

import dev.partita.api.node.GpuNodeSpec;
import dev.partita.controller.claim.AllocatedClaim;
import dev.partita.controller.claim.AllocationGate;
import dev.partita.controller.claim.PodClaims;
import dev.partita.controller.commit.PodWriter;
import dev.partita.controller.decide.Decision;
import dev.partita.controller.decide.PodDecisions;
import dev.partita.controller.decide.WhyWaiting;
import dev.partita.controller.nodes.NodeFit;
import dev.partita.controller.nodes.PodRequests;
import dev.partita.controller.state.PodPlan;
import dev.partita.controller.state.SchedulerState;
import dev.partita.controller.turns.AlikePods;
import dev.partita.controller.watch.ClusterObjects;
import dev.partita.controller.watch.ObjectKey;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Decides about pods, has the decisions carried out, and knows which pods wait for something to change. For one thread.
 */
final class PodScheduler {
  /** How long a claim may come after the pod that names it before kube-scheduler is to see the pod without it. */
  private static final Duration CLAIM_COMES = Duration.ofSeconds(30);

  private final ClusterObjects view;
  private final Clock clock;
  private final SchedulerState state;
  private final PodDecisions decisions;
  private final PodWriter writer;
  private final AbandonedClaims abandoned;
  private final ClaimNotes notes;
  private final Retries retries;
  private final Preemption preemption;
  private final boolean autoscaledNodes;
  private final AlikePods alike = new AlikePods();
  private final Set<ObjectKey> waiting = new LinkedHashSet<>();
  private final Set<ObjectKey> writing = new HashSet<>();
  private final Map<ObjectKey, Instant> claimless = new HashMap<>(); // since when a pod's claim is known to be missing

  /** @param autoscaledNodes whether an autoscaler is to see pods that wait, for which they may have no gate */
  PodScheduler(
      ClusterObjects view,
      Clock clock,
      SchedulerState state,
      PodDecisions decisions,
      PodWriter writer,
      AbandonedClaims abandoned,
      ClaimNotes notes,
      Retries retries,
      Preemption preemption,
      boolean autoscaledNodes) {
    this.view = view;
    this.clock = clock;
    this.state = state;
    this.decisions = decisions;
    this.writer = writer;
    this.abandoned = abandoned;
    this.notes = notes;
    this.retries = retries;
    this.preemption = preemption;
    this.autoscaledNodes = autoscaledNodes;
  }

  /** Pods that wait for something to change. */
  List<ObjectKey> waiting() {
    return List.copyOf(waiting);
  }

  int numberWaiting() {
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
  void forget(ObjectKey pod, String uid) {
    preemption.forget(uid);
    waiting.remove(pod);
    claimless.remove(pod);
    retries.succeeded(pod);
  }

  /** What was decided for the pod has been carried out, or has failed. */
  void finished(ObjectKey pod, boolean failed) {
    writing.remove(pod);
    Optional<String> uid = Optional.ofNullable(view.pod(pod)).map(shown -> shown.getMetadata().getUid());
    if (failed && uid.isPresent()) {
      giveBackRoom(pod);
      state.forget(uid.get());
      retries.failed(pod);
    } else {
      uid.ifPresent(state::endNomination);
      retries.succeeded(pod);
    }
  }

  /** A pod that has a place, and is not bound yet, takes CPU and memory there, whoever has a turn before it. */
  void countPlaced(Pod pod) {
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
  void giveBackRoom(ObjectKey key) {
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
                  () -> show(List.of(pod), wait));
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
      claimless.remove(key);
    }
    switch (decision) {
      case Decision.Nothing _ -> {}
      case Decision.ClaimMissing(List<ResourceClaim> unused) -> {
        claimMissing(pod);
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
        open(pod);
      }
      case Decision.Settled(Optional<String> node) -> {
        state.endNomination(pod.getMetadata().getUid());
        node.ifPresent(name -> state.loads().put(pod.getMetadata().getUid(), name, PodRequests.of(pod)));
        notes.settled(pod, node);
        open(pod);
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

  boolean isWriting(ObjectKey pod) {
    return writing.contains(pod);
  }

  /** Has what was assumed for these pods written, together. */
  void write(List<PodPlan> plans) {
    for (PodPlan plan : plans) {
      waiting.remove(ObjectKey.of(plan.pod()));
      writing.add(ObjectKey.of(plan.pod()));
    }
    writer.write(plans);
  }

  /**
   * kube-scheduler says what is wrong with it; but a claim and its pod may be made in either order. The API server's
   * clock, by which the pod was made, may be ahead of this one.
   */
  private void claimMissing(Pod pod) {
    if (AllocationGate.isOn(pod)) {
      ObjectKey key = ObjectKey.of(pod);
      Instant now = clock.instant();
      Instant made =
          Optional.ofNullable(pod.getMetadata().getCreationTimestamp()).map(Instant::parse).orElse(Instant.EPOCH);
      Instant since = claimless.merge(key, made.isBefore(now) ? made : now, PodScheduler::earlier);
      Duration left = Duration.between(now, since.plus(CLAIM_COMES));
      if (left.isPositive()) {
        retries.after(left, new WorkItem.Again(key));
      } else {
        open(pod);
      }
    }
  }

  private static Instant earlier(Instant a, Instant b) {
    return a.isBefore(b) ? a : b;
  }

  /**
   * Lets autoscalers of nodes see pods that wait, if one more node may help: they look only at pods for which
   * kube-scheduler has found no node, which it does not say of pods with a gate.
   *
   * @param pods one by itself, or those of a gang that have no place yet. Where kube-scheduler allocates on some nodes,
   *        a gang's keep their gates: it would tear the gang apart
   * @param wait why the pod, or one of the gang, waits
   */
  void show(List<Pod> pods, Decision.Wait wait) {
    if (!autoscaledNodes || pods.stream().noneMatch(AllocationGate::isOn)
        || pods.stream().anyMatch(preemption::mayMakeRoom)) {
      return;
    }
    boolean isGang = pods.stream().anyMatch(pod -> view.gangOf(pod).isPresent());
    boolean isLeftToScheduler = isGang && state.inventory().hosts().values().stream()
        .anyMatch(host -> host.allocator() == GpuNodeSpec.Allocator.Scheduler);
    if (!isLeftToScheduler && wait.newNode().get().mayHelp()) {
      pods.forEach(this::open);
    }
  }

  /** Lets kube-scheduler look at the pod. */
  private void open(Pod pod) {
    if (AllocationGate.isOn(pod) && writing.add(ObjectKey.of(pod))) {
      writer.open(pod);
    }
  }
}
