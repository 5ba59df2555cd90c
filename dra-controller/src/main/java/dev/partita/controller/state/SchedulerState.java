package dev.partita.controller.state;

import dev.partita.controller.claim.PodClaims;
import dev.partita.controller.claim.PodOrder;
import dev.partita.controller.inventory.Inventory;
import dev.partita.controller.nodes.NodeFit;
import dev.partita.controller.nodes.NodeLoads;
import dev.partita.controller.nodes.PodRequests;
import dev.partita.controller.place.ClaimPlacement;
import dev.partita.controller.watch.ClusterObjects;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Keeps what counts as taken when a pod is decided about: by claims, by pods on nodes, and by nominations. What the API
 * server says is told to {@link #claims} and {@link #loads}; decisions change it through the methods here. For one
 * thread.
 */
public final class SchedulerState {
  private final ClusterObjects objects;
  private final ClaimLedger claims;
  private final NodeLoads loads = new NodeLoads(this::nodeChanged);
  private final Nominations nominations;
  private Inventory inventory = Inventory.EMPTY;
  private boolean gaveRoomBack;

  public SchedulerState(ClusterObjects objects, ClaimLedger claims) {
    this.objects = objects;
    this.claims = claims;
    this.nominations = new Nominations(claims, loads);
  }

  /** What claims take. */
  public ClaimLedger claims() {
    return claims;
  }

  /** What pods request on nodes. */
  public NodeLoads loads() {
    return loads;
  }

  /** The cards that there are. */
  public Inventory inventory() {
    return inventory;
  }

  /** These cards are there now. */
  public void inventoryChanged(Inventory now) {
    inventory = now;
    claims.held().report(now);
    now.hosts().keySet().forEach(this::nodeChanged);
  }

  /** What the Node has to give, or what pods request of it, may have changed. */
  public void nodeChanged(String name) {
    @Nullable Node node = objects.node(name);
    if (node == null || inventory.host(name) == null) { // only hosts with cards matter to the allocator
      claims.capacities().remove(name);
    } else {
      claims.capacities().put(name, NodeFit.capacity(node, loads.of(name)));
    }
  }

  /** Assumes the pod's place: what it is to get counts as taken from now on, and its nomination no longer counts. */
  public void assume(PodPlan plan) {
    String uid = plan.pod().getMetadata().getUid();
    nominations.suspend(uid);
    for (ClaimPlacement placement : plan.outcome().claims()) {
      claims.assume(placement.claim(), plan.outcome().node(), placement.bookings());
    }
    loads.put(uid, plan.outcome().node(), PodRequests.of(plan.pod()));
  }

  /**
   * The pod did not get what was assumed for it: what was kept for it is kept again. What its claims do not have, and
   * what it does not request of the node, is told to {@link #claims} and {@link #loads}.
   */
  public void forget(String podUid) {
    nominations.resume(podUid);
  }

  /** What is kept for the pod until its victims are gone. */
  public Optional<Nomination> nominated(String podUid) {
    return nominations.of(podUid);
  }

  /** How it stands with what was to be kept for a pod. Any thread may ask. */
  public Nomination.Standing standing(Nomination nomination) {
    return nominations.standing(nomination);
  }

  /** UIDs of the claims that victims give back, or have given back. */
  public Set<String> claimsOfVictims() {
    return nominations.claims();
  }

  /** Keeps a place for the pod: it counts as taken for pods of lower and of equal priority. */
  public void nominate(Nomination nomination) {
    nominations.put(nomination);
  }

  /** Ends the pod's nomination. */
  public void endNomination(String podUid) {
    nominations.remove(podUid);
  }

  /** Ends the nominations of pods, such as those of one gang, that cannot get their place unless that pod goes. */
  public void endNominationsAwaiting(String victimUid) {
    nominations.removeAwaiting(victimUid);
  }

  /** Counts the pod, which has lost its place, on no node any more: its CPU and memory there are free for others. */
  public void giveBackRoom(String podUid) {
    gaveRoomBack |= loads.counts(podUid);
    loads.remove(podUid);
  }

  /** Whether something that was kept, or given back, is free for others since this was last asked. */
  public boolean gaveUp() {
    boolean before = gaveRoomBack;
    gaveRoomBack = false;
    return nominations.gaveUp() || before;
  }

  /** Opens a scope. What is done in it is undone when it is closed. */
  public Scope scope() {
    return new Scope();
  }

  /** As if these claims had given back what they have, until it is closed. */
  public Scope without(Collection<String> claimUids) {
    Scope scope = new Scope();
    scope.without(claimUids);
    return scope;
  }

  /** As if nothing were kept for the pod itself, and for pods of lower priority, until it is closed. */
  public Scope withoutNominations(Pod pod) {
    Scope scope = new Scope();
    scope.liftNominations(pod);
    return scope;
  }

  /**
   * A scope: what is assumed and left out in it counts until it is closed. Then everything is exactly as before. A
   * scope that is opened later is closed earlier.
   */
  public final class Scope implements AutoCloseable {
    private final Deque<Runnable> undo = new ArrayDeque<>();
    private final Map<String, String> placed = new HashMap<>();
    private boolean leavesOut;

    private Scope() {}

    /** See {@link SchedulerState#assume}. */
    public void assume(PodPlan plan) {
      String uid = plan.pod().getMetadata().getUid();
      Map<String, ClaimLedger.Standing> before = new HashMap<>();
      plan.outcome().claims().forEach(p -> before.put(p.claim().uid(), claims.standing(p.claim().uid())));
      Optional<NodeLoads.Entry> load = loads.entry(uid);
      boolean wasKept = nominations.isKept(uid);
      undo.push(() -> {
        before.forEach(claims::restore);
        loads.restore(uid, load);
        if (wasKept) {
          nominations.resume(uid);
        }
      });
      SchedulerState.this.assume(plan);
      before.keySet().forEach(claim -> placed.put(claim, plan.outcome().node()));
    }

    /**
     * Counts a pod on the node where its claims are, which others have as well or which are allocated already; one that
     * cannot run there is not counted.
     *
     * @return why it cannot; empty if it can as far as is known, or is bound
     */
    public Optional<String> settle(Pod pod, String node) {
      if (PodClaims.isBound(pod)) {
        return Optional.empty(); // it counts
      }
      String uid = pod.getMetadata().getUid();
      Optional<String> refusal = refusal(pod, node);
      if (refusal.isEmpty()) {
        Optional<NodeLoads.Entry> before = loads.entry(uid);
        undo.push(() -> loads.restore(uid, before));
        loads.put(uid, node, PodRequests.of(pod));
      }
      return refusal;
    }

    private Optional<String> refusal(Pod pod, String node) {
      @Nullable Node known = objects.node(node);
      if (known == null) {
        return Optional.of("there is no such Node");
      }
      try (var _ = withoutNominations(pod)) {
        return NodeFit.refusal(pod, known, loads.without(pod.getMetadata().getUid(), node));
      }
    }

    /** The node of every claim, by UID, for which something was assumed in this. */
    public Map<String, String> placed() {
      return Collections.unmodifiableMap(placed);
    }

    /** As if these claims had given back what they have. */
    public void without(Collection<String> claimUids) {
      leavesOut = true;
      for (String uid : claimUids) {
        ClaimLedger.Standing before = claims.standing(uid);
        undo.push(() -> claims.restore(uid, before));
        claims.leaveOut(uid);
      }
    }

    /** As if these pods were gone from their nodes. */
    public void withoutPods(Collection<String> podUids) {
      leavesOut = true;
      for (String uid : podUids) {
        Optional<NodeLoads.Entry> before = loads.entry(uid);
        undo.push(() -> loads.restore(uid, before));
        loads.remove(uid);
      }
    }

    private void liftNominations(Pod pod) {
      leavesOut = true;
      Collection<Nomination> lifted = nominations.lift(pod.getMetadata().getUid(), PodOrder.priority(pod));
      undo.push(() -> lifted.forEach(nominations::keep));
    }

    /**
     * Lets what was assumed in it stay.
     *
     * @throws IllegalStateException if something was left out in it as well
     */
    public void keep() {
      if (leavesOut) {
        throw new IllegalStateException("what was left out is to be put back");
      }
      undo.clear();
    }

    @Override
    public void close() {
      while (!undo.isEmpty()) {
        undo.pop().run();
      }
    }
  }
}
