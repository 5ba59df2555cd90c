package dev.partita.controller.loop;

import dev.partita.controller.claim.AllocatedClaim;
import dev.partita.controller.claim.RequestPart;
import dev.partita.controller.gang.GangKey;
import dev.partita.controller.quota.QuotaRefresh;
import dev.partita.controller.schedule.PodScheduler;
import dev.partita.controller.schedule.Resizes;
import dev.partita.controller.watch.ClusterEvent;
import dev.partita.controller.watch.ClusterView;
import dev.partita.controller.watch.ObjectKey;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.util.Set;

/**
 * Hands each change in the cluster to those whom it concerns, so that what is decided from then on goes by the cluster
 * as it is, and what waits hears of what could help it. For one thread.
 */
final class EventHandlers {
  private final ClusterView view;
  private final PodFollower podFollower;
  private final ClaimFollower claimFollower;
  private final NodeFollower nodeFollower;
  private final Resizes resizes;
  private final PodScheduler scheduler;
  private final QuotaRefresh quotas;
  private final Wakeups wakeups;

  EventHandlers(
      ClusterView view,
      PodFollower podFollower,
      ClaimFollower claimFollower,
      NodeFollower nodeFollower,
      Resizes resizes,
      PodScheduler scheduler,
      QuotaRefresh quotas,
      Wakeups wakeups) {
    this.view = view;
    this.podFollower = podFollower;
    this.claimFollower = claimFollower;
    this.nodeFollower = nodeFollower;
    this.resizes = resizes;
    this.scheduler = scheduler;
    this.quotas = quotas;
    this.wakeups = wakeups;
  }

  /**
   * Begins with all that is there.
   *
   * @param pods takes those that are to be decided about
   */
  void begin(Set<ObjectKey> pods) {
    nodeFollower.begin();
    for (ResourceClaim claim : view.claims()) {
      Guarded.run(ObjectKey.of(claim), () -> claimFollower.begin(claim));
    }
    view.claims().forEach(claim -> Guarded.run(ObjectKey.of(claim), () -> claimFollower.look(ObjectKey.of(claim))));
    view.claims().forEach(claim -> Guarded.run(ObjectKey.of(claim), () -> resizes.look(ObjectKey.of(claim))));
    view.pods().forEach(pod -> Guarded.run(ObjectKey.of(pod), () -> scheduler.countPlaced(pod)));
    for (Pod pod : view.pods()) {
      Guarded.run(ObjectKey.of(pod), () -> podFollower.follow(ObjectKey.of(pod), pod.getMetadata().getUid(), pods));
    }
  }

  /**
   * Passes on what has changed.
   *
   * @param pods takes those that are to be decided about
   */
  void handle(ClusterEvent event, Set<ObjectKey> pods) {
    switch (event) {
      case ClusterEvent.GpuNodeChanged _ -> nodeFollower.cardsChanged();
      case ClusterEvent.TaintRuleChanged _ -> nodeFollower.cardsChanged();
      case ClusterEvent.PodGroupChanged(ObjectKey group) ->
          view.podsNaming(new GangKey.OfPodGroup(group.namespace(), group.name()))
              .forEach(pod -> podFollower.follow(ObjectKey.of(pod), pod.getMetadata().getUid(), pods));
      case ClusterEvent.NodeChanged(String node) -> nodeFollower.nodeChanged(node);
      case ClusterEvent.ClassChanged(String name) -> classChanged(name, pods);
      case ClusterEvent.TemplateChanged _ -> {}
      case ClusterEvent.QuotaChanged _ -> quotas.stale();
      case ClusterEvent.NamespaceChanged _ -> {
        quotas.stale();
        wakeups.helps(); // its labels may allow adminAccess now
      }
      case ClusterEvent.OtherSliceChanged _ -> {}
      case ClusterEvent.SliceChanged(String node) -> nodeFollower.slicesChanged(node);
      case ClusterEvent.PodChanged(ObjectKey pod, String uid) -> podFollower.changed(pod, uid, pods);
      case ClusterEvent.ClaimChanged(ObjectKey claim, String uid) -> claimChanged(claim, uid, pods);
    }
  }

  /** A claim that was left to another driver may be ours by its class now: its pods waited for nothing until then. */
  private void classChanged(String name, Set<ObjectKey> pods) {
    wakeups.helps();
    view.claims().stream().filter(claim -> !AllocatedClaim.isAllocated(claim))
        .filter(claim -> RequestPart.of(claim.getSpec()).stream().anyMatch(part -> part.className().equals(name)))
        .forEach(claim -> claimFollower.addPodsOf(ObjectKey.of(claim), pods));
  }

  /** The claim, or what counts of it, has changed. */
  void claimChanged(ObjectKey claim, String uid, Set<ObjectKey> pods) {
    claimFollower.follow(claim, uid, pods);
    resizes.look(claim);
  }
}
