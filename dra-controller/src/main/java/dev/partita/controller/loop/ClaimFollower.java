package dev.partita.controller.loop;

import dev.partita.controller.request.ClaimRef;
import dev.partita.controller.schedule.AbandonedClaims;
import dev.partita.controller.schedule.PodScheduler;
import dev.partita.controller.schedule.Retries;
import dev.partita.controller.schedule.WorkItem;
import dev.partita.controller.state.ClaimLedger;
import dev.partita.controller.state.SchedulerState;
import dev.partita.controller.state.Vetoes;
import dev.partita.controller.watch.ClusterObjects;
import dev.partita.controller.watch.ObjectKey;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.time.Clock;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Carries the change of a claim to what depends on it: what counts as taken, the pods that use the claim, and the pods
 * that wait. A claim that is deleted, for example, frees its share, and who waits for room is decided about again. For
 * one thread.
 */
final class ClaimFollower {
  private static final Logger LOG = LoggerFactory.getLogger(ClaimFollower.class);

  private final ClusterObjects view;
  private final SchedulerState state;
  private final Vetoes vetoes;
  private final AbandonedClaims abandoned;
  private final PodScheduler scheduler;
  private final Wakeups wakeups;
  private final Retries retries;
  private final Clock monotonicClock;

  ClaimFollower(
      ClusterObjects view,
      SchedulerState state,
      Vetoes vetoes,
      AbandonedClaims abandoned,
      PodScheduler scheduler,
      Wakeups wakeups,
      Retries retries,
      Clock monotonicClock) {
    this.view = view;
    this.state = state;
    this.vetoes = vetoes;
    this.abandoned = abandoned;
    this.scheduler = scheduler;
    this.wakeups = wakeups;
    this.retries = retries;
    this.monotonicClock = monotonicClock;
  }

  /** Begins with a claim that is there: what it has counts as taken. */
  void begin(ResourceClaim claim) {
    state.claims().observe(claim.getMetadata().getUid(), claim);
  }

  /** Looks, when all claims have begun to count, whether what the claim has is kept for nobody. */
  void look(ObjectKey claim) {
    abandoned.look(claim);
  }

  /**
   * Follows a claim that has come, changed or gone.
   *
   * @param pods takes those that are to be decided about
   */
  void follow(ObjectKey key, String uid, Set<ObjectKey> pods) {
    @Nullable ResourceClaim claim = view.claim(key);
    boolean same = claim != null && claim.getMetadata().getUid().equals(uid);
    changed(key, uid, state.claims().observe(uid, same ? claim : null), same);
    if (!same) {
      vetoes.forget(uid);
      abandoned.forget(uid);
    }
    addPodsOf(key, pods);
    abandoned.look(key);
  }

  /**
   * A write of the claim's allocation came to its end.
   *
   * @param version the claim's new resourceVersion; empty if the write failed
   * @param pods takes those that are to be decided about
   */
  void written(ClaimRef claim, Optional<String> version, Set<ObjectKey> pods) {
    ObjectKey key = new ObjectKey(claim.namespace(), claim.name());
    if (version.isEmpty()) {
      state.claims().dropped(claim.uid());
      wakeups.helps();
      addPodsOf(key, pods); // those who share it had nothing to wait for as long as it was taken for allocated
      abandoned.look(key);
      return;
    }
    changed(key, claim.uid(), state.claims().written(claim.uid(), version.get()), true);
    wakeups.taken(); // it counts since it was decided
  }

  private void changed(ObjectKey claim, String uid, ClaimLedger.Change change, boolean exists) {
    switch (change) {
      case ClaimLedger.Change.Freed freed -> {
        freed.vetoed().filter(node -> exists).ifPresent(node -> veto(claim, uid, node));
        view.podsOf(claim).forEach(pod -> scheduler.giveBackRoom(ObjectKey.of(pod)));
        wakeups.helps();
      }
      case ClaimLedger.Change.Shrunk _ -> wakeups.helps();
      case ClaimLedger.Change.Taken _ -> wakeups.taken();
      case ClaimLedger.Change.None _ -> {}
    }
  }

  private void veto(ObjectKey claim, String uid, String node) {
    LOG.info("claim {}:{}: kube-scheduler took back its allocation on {} before it was used; trying other nodes first",
        claim, uid,
        node);
    Duration length = vetoes.add(uid, node, monotonicClock.instant());
    retries.after(length, new WorkItem.VetoEnd(claim));
  }

  /** Has the pods that refer to the claim decided about. */
  void addPodsOf(ObjectKey claim, Set<ObjectKey> pods) {
    view.podsOf(claim).forEach(pod -> pods.add(ObjectKey.of(pod)));
  }
}
