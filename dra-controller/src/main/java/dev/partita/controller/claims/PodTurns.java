package dev.partita.controller.claims;

import dev.partita.controller.allocate.Outcome;
import dev.partita.controller.inventory.Inventory;
import dev.partita.controller.nodes.Load;
import dev.partita.controller.nodes.NodeFit;
import dev.partita.controller.nodes.NodeLoads;
import dev.partita.controller.nodes.PodRequests;
import dev.partita.controller.watch.ClusterView;
import dev.partita.controller.watch.ObjectKey;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Decides about pods in turn, has it carried out, and knows which ones wait for something to change. For one thread. */
final class PodTurns {
  private static final Logger LOG = LoggerFactory.getLogger(PodTurns.class);

  /** How long a claim may come after the pod that names it before kube-scheduler is to see the pod without it. */
  private static final Duration CLAIM_COMES = Duration.ofSeconds(30);

  static final Comparator<Pod> ORDER =
      Comparator.comparing(PodTurns::priority, Comparator.reverseOrder())
          .thenComparing(pod -> Objects.requireNonNullElse(pod.getMetadata().getCreationTimestamp(), ""))
          .thenComparing(pod -> ObjectKey.of(pod).toString());

  private final ClusterView view;
  private final Clock clock;
  private final Clock evenClock; // cannot be set, unlike the time of day
  private final ClaimLedger ledger;
  private final NodeLoads loads;
  private final PodDecider decider;
  private final PodWriter writer;
  private final Leftovers leftovers;
  private final ClaimNotes notes;
  private final Retries retries;
  private final Nominations nominations;
  private final Preemption preemption;
  private final GangTurns gangs;
  private final Set<ObjectKey> waiting = new LinkedHashSet<>();
  private final Set<ObjectKey> writing = new HashSet<>();

  PodTurns(
      ClusterView view,
      Clock clock,
      Clock evenClock,
      ClaimLedger ledger,
      NodeLoads loads,
      PodDecider decider,
      PodWriter writer,
      Leftovers leftovers,
      ClaimNotes notes,
      Retries retries,
      Nominations nominations,
      Preemption preemption) {
    this.view = view;
    this.clock = clock;
    this.evenClock = evenClock;
    this.ledger = ledger;
    this.loads = loads;
    this.decider = decider;
    this.writer = writer;
    this.leftovers = leftovers;
    this.notes = notes;
    this.retries = retries;
    this.nominations = nominations;
    this.preemption = preemption;
    this.gangs = new GangTurns(view, this, new GangRoom(this, preemption), leftovers, notes);
  }

  static int priority(Pod pod) {
    return Objects.requireNonNullElse(pod.getSpec().getPriority(), 0);
  }

  /** Pods that wait for something to change. */
  Set<ObjectKey> waiting() {
    return Set.copyOf(waiting);
  }

  int numberWaiting() {
    return waiting.size();
  }

  /**
   * Those of them that the node has room for now, and had not before.
   *
   * @param before what pods requested there
   */
  Set<ObjectKey> waitingForRoom(String name, Load before) {
    @Nullable Node node = view.node(name);
    Set<ObjectKey> pods = new LinkedHashSet<>();
    if (node == null) {
      return pods;
    }
    for (ObjectKey key : waiting) {
      @Nullable Pod pod = view.pod(key);
      if (pod != null
          && NodeFit.refusal(pod, node, before).isPresent()
          && NodeFit.refusal(pod, node, loads.without(pod.getMetadata().getUid(), name)).isEmpty()) {
        pods.add(key);
      }
    }
    return pods;
  }

  /** The pod is over or gone. */
  void forget(ObjectKey pod, String uid) {
    preemption.forget(uid);
    waiting.remove(pod);
    retries.succeeded(pod);
  }

  /** What was decided for the pod has been carried out, or has failed. */
  void finished(ObjectKey pod, boolean failed) {
    writing.remove(pod);
    Optional<String> uid = Optional.ofNullable(view.pod(pod)).map(shown -> shown.getMetadata().getUid());
    if (failed && uid.isPresent()) {
      giveBackRoom(pod);
      nominations.resume(uid.get());
      retries.failed(pod);
    } else {
      uid.ifPresent(nominations::remove);
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
          .ifPresent(node -> loads.put(pod.getMetadata().getUid(), node, PodRequests.of(pod)));
    }
  }

  /** A pod that has lost its place, or did not get it, takes no CPU and memory there: from now on, not from its next turn. */
  void giveBackRoom(ObjectKey key) {
    @Nullable Pod pod = view.pod(key);
    if (pod != null && !PodClaims.isBound(pod) && !hasPlace(pod)) {
      loads.remove(pod.getMetadata().getUid());
    }
  }

  private boolean hasPlace(Pod pod) {
    for (ObjectKey key : PodClaims.of(pod).orElse(List.of())) {
      @Nullable ResourceClaim claim = view.claim(key);
      if (claim != null && (ledger.isAssumed(claim.getMetadata().getUid()) || AllocatedClaim.isAllocated(claim))) {
        return true;
      }
    }
    return false;
  }

  /** Gives each of these pods its turn, by priority and then by age; those that are being written for are left out. */
  void take(Collection<ObjectKey> pods, Inventory inventory) {
    Set<ObjectKey> gangsDone = new HashSet<>();
    for (Pod pod : inTurn(pods)) {
      try {
        Optional<ObjectKey> gang = Gang.of(pod);
        if (gang.isEmpty()) {
          decide(pod, inventory);
        } else if (gangsDone.add(gang.get())) {
          gangs.take(gang.get(), inventory);
        }
      } catch (RuntimeException e) {
        LOG.error("pod {}: not decided", ObjectKey.of(pod), e);
        retries.failed(ObjectKey.of(pod));
      }
    }
  }

  private List<Pod> inTurn(Collection<ObjectKey> keys) {
    List<Pod> pods = new ArrayList<>();
    for (ObjectKey key : keys) {
      @Nullable Pod pod = view.pod(key);
      if (pod != null && PodClaims.isLive(pod) && !writing.contains(key)) {
        pods.add(pod);
      }
    }
    pods.sort(ORDER);
    return pods;
  }

  /** Decides about the pod by itself, and has it carried out. */
  void decide(Pod pod, Inventory inventory) {
    Decision decision = consider(pod, inventory, Map.of());
    apply(pod, decision);
    switch (decision) {
      case Decision.Wait wait ->
          preemption
              .makeRoom(pod, wait, inventory)
              .ifPresent(words -> notes.preempting(pod, wait.claims(), words + "; " + wait.explanation().summary(ClaimNotes.MAX_EXPLANATION - words.length() - 2)));
      case Decision.Allocate _ -> {}
      default -> preemption.endIfOver(pod.getMetadata().getUid());
    }
  }

  /**
   * What to do about the pod; nothing is done.
   *
   * @param placed claims that count as allocated, by UID, and on which node
   */
  Decision consider(Pod pod, Inventory inventory, Map<String, String> placed) {
    return nominations.without(
        pod.getMetadata().getUid(), priority(pod), () -> decider.decide(pod, inventory, evenClock.instant(), placed));
  }

  /** Does what was decided about the pod. */
  void apply(Pod pod, Decision decision) {
    ObjectKey key = ObjectKey.of(pod);
    waiting.remove(key);
    switch (decision) {
      case Decision.Nothing _ -> {}
      case Decision.ClaimMissing _ -> claimMissing(pod);
      case Decision.LeaveToScheduler _ -> {
        waiting.add(key);
        notes.leftToScheduler(pod);
        open(pod);
      }
      case Decision.Settled(Optional<String> node) -> {
        nominations.remove(pod.getMetadata().getUid());
        node.ifPresent(name -> loads.put(pod.getMetadata().getUid(), name, PodRequests.of(pod)));
        notes.settled(pod, node);
        open(pod);
      }
      case Decision.Refuse(Map<ResourceClaim, List<String>> problems) -> {
        hold(pod);
        leftovers.withdraw(List.copyOf(problems.keySet()));
        notes.refused(pod, problems);
      }
      case Decision.Wait wait -> {
        hold(pod);
        leftovers.withdraw(wait.claims());
        notes.waiting(pod, wait);
        leftovers.release(wait.unused(), "the other claims of pod " + key + " cannot be allocated beside it");
      }
      case Decision.Allocate(PodPlan plan) -> {
        assume(plan);
        write(List.of(plan));
      }
    }
  }

  /** The pod is looked at again when something changes. */
  void waitFor(Pod pod) {
    waiting.add(ObjectKey.of(pod));
  }

  /** The pod waits for something to change, and has nothing meanwhile. */
  void hold(Pod pod) {
    waitFor(pod);
    if (!PodClaims.isBound(pod)) {
      loads.remove(pod.getMetadata().getUid());
    }
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
    writer.write(plans, notes);
  }

  /** What the pod is to get counts as taken from now on. */
  void assume(PodPlan plan) {
    nominations.suspend(plan.pod().getMetadata().getUid());
    for (Outcome.ClaimPlacement placement : plan.outcome().claims()) {
      ledger.assume(placement.claim(), plan.outcome().node(), placement.bookings());
    }
    loads.put(plan.pod().getMetadata().getUid(), plan.outcome().node(), PodRequests.of(plan.pod()));
  }

  /** It does not get it after all. */
  void unassume(PodPlan plan) {
    plan.outcome().claims().forEach(placement -> ledger.dropped(placement.claim().uid()));
    loads.remove(plan.pod().getMetadata().getUid());
    nominations.resume(plan.pod().getMetadata().getUid());
  }

  /** kube-scheduler says what is wrong with it; but a claim and its pod may be made in either order. */
  private void claimMissing(Pod pod) {
    if (AllocationGate.isOn(pod)) {
      Instant made = Optional.ofNullable(pod.getMetadata().getCreationTimestamp()).map(Instant::parse).orElse(Instant.EPOCH);
      Duration left = Duration.between(clock.instant(), made.plus(CLAIM_COMES));
      if (left.isPositive()) {
        retries.after(left, new WorkItem.Again(ObjectKey.of(pod)));
      } else {
        open(pod);
      }
    }
  }

  /** Lets kube-scheduler look at the pod. */
  private void open(Pod pod) {
    if (AllocationGate.isOn(pod) && writing.add(ObjectKey.of(pod))) {
      writer.open(pod);
    }
  }
}
