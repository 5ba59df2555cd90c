package dev.partita.controller.loop;

import dev.partita.controller.gang.GangKey;
import dev.partita.controller.claim.AllocatedClaim;
import dev.partita.controller.claim.AllocationGate;
import dev.partita.controller.claim.PodClaims;
import dev.partita.controller.claim.PodOrder;
import dev.partita.controller.nodes.Load;
import dev.partita.controller.nodes.PodRequests;
import dev.partita.controller.preempt.Priorities;
import dev.partita.controller.schedule.AbandonedClaims;
import dev.partita.controller.schedule.PodQueue;
import dev.partita.controller.schedule.PodScheduler;
import dev.partita.controller.state.DemandRecorder;
import dev.partita.controller.state.SchedulerState;
import dev.partita.controller.watch.ClusterObjects;
import dev.partita.controller.watch.ObjectKey;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Passes on what the change of a pod means: for what its node has left, for its claims, and for those that wait. For
 * one thread.
 */
final class PodFollower {
  private final ClusterObjects view;
  private final SchedulerState state;
  private final Priorities priorities;
  private final DemandRecorder demandRecorder;
  private final AbandonedClaims abandoned;
  private final PodScheduler scheduler;
  private final PodQueue queue;
  private final Wakeups wakeups;
  private final Map<String, List<ObjectKey>> claimsOfPod = new HashMap<>();
  private final GangsOfPods gangs = new GangsOfPods();

  PodFollower(
      ClusterObjects view,
      SchedulerState state,
      Priorities priorities,
      DemandRecorder demandRecorder,
      AbandonedClaims abandoned,
      PodScheduler scheduler,
      PodQueue queue,
      Wakeups wakeups) {
    this.view = view;
    this.state = state;
    this.priorities = priorities;
    this.demandRecorder = demandRecorder;
    this.abandoned = abandoned;
    this.scheduler = scheduler;
    this.queue = queue;
    this.wakeups = wakeups;
  }

  /**
   * Follows a pod that has come, changed or gone. What it used of a deleted claim counted as taken as long as it ran:
   * if that is free now, it may help those that wait.
   *
   * @param pods takes those that are to be decided about
   */
  void changed(ObjectKey key, String uid, Set<ObjectKey> pods) {
    follow(key, uid, pods);
    if (state.claims().held().podChanged(uid)) {
      wakeups.helps();
    }
  }

  /**
   * Follows a pod that has come, changed or gone.
   *
   * @param pods takes those that are to be decided about
   */
  void follow(ObjectKey key, String uid, Set<ObjectKey> pods) {
    Optional<String> node = state.loads().nodeOf(uid).filter(name -> state.inventory().host(name) != null);
    Optional<Load> before = node.map(state.loads()::of);
    @Nullable Pod named = view.pod(key);
    @Nullable Pod pod = named != null && named.getMetadata().getUid().equals(uid) ? named : null;
    boolean takesRoom = pod != null && PodClaims.takesRoom(pod);
    if (pod != null && takesRoom) {
      state.loads().put(uid, pod.getSpec().getNodeName(), PodRequests.of(pod));
    }
    if (pod != null && PodClaims.isLive(pod)) {
      live(key, pod, pods);
    } else {
      if (!takesRoom) {
        state.loads().remove(uid);
      }
      over(key, uid, pods);
      if (named != null && pod == null) {
        pods.add(key);
      }
    }
    if (node.isPresent() && !before.equals(node.map(state.loads()::of))) {
      queue.roomChanged(node.get(), before.orElseThrow());
    }
  }

  private void live(ObjectKey key, Pod pod, Set<ObjectKey> pods) {
    String uid = pod.getMetadata().getUid();
    if (PodClaims.isBound(pod) && state.inventory().host(pod.getSpec().getNodeName()) != null) {
      demandRecorder.arrivedWithoutCards(pod);
    }
    if (!pod.getSpec().getResourceClaims().isEmpty()) {
      priorities.put(uid, PodOrder.priority(pod));
    }
    if (!pod.getSpec().getResourceClaims().isEmpty() || AllocationGate.isOn(pod)) {
      pods.add(key);
      PodClaims.of(pod).ifPresent(claims -> claimsOfPod.put(uid, claims));
      gangs.put(uid, view.gangOf(pod)).ifPresent(its -> oneLeft(its, pods));
    }
  }

  /** It may have been the odd one. Any of the others will do: they are decided together. */
  private void oneLeft(GangKey gang, Set<ObjectKey> pods) {
    if (gangs.isEmpty(gang)) {
      queue.forget(gang);
    }
    view.podsOfGang(gang).stream().filter(PodClaims::isLive).findFirst().map(ObjectKey::of).ifPresent(pods::add);
  }

  private void over(ObjectKey key, String uid, Set<ObjectKey> pods) {
    priorities.remove(uid);
    scheduler.forget(key, uid);
    queue.forget(uid);
    demandRecorder.forget(uid);
    Objects.requireNonNullElse(claimsOfPod.remove(uid), List.<ObjectKey>of())
        .forEach(claim -> leftUnused(claim, pods));
    gangs.put(uid, Optional.empty()).ifPresent(gang -> oneLeft(gang, pods));
  }

  /** What a pod leaves that nobody uses is given back, or the others that refer to it say whether they can use it. */
  private void leftUnused(ObjectKey key, Set<ObjectKey> pods) {
    abandoned.look(key);
    @Nullable ResourceClaim claim = view.claim(key);
    if (claim != null && AllocatedClaim.isUnusedAndOurs(claim)) {
      view.podsOf(key).stream().filter(PodClaims::isLive).forEach(pod -> pods.add(ObjectKey.of(pod)));
    }
  }
}
