package dev.partita.controller.claims;

import dev.partita.api.node.GpuNodeSpec;
import dev.partita.controller.allocate.ClaimRef;
import dev.partita.controller.allocate.Outcome;
import dev.partita.controller.edge.ApiEdge;
import dev.partita.controller.events.ClaimEvents;
import dev.partita.controller.inventory.GpuHost;
import dev.partita.controller.inventory.Inventory;
import dev.partita.controller.nodes.NodeLoads;
import dev.partita.controller.nodes.PodRequests;
import dev.partita.controller.watch.ClusterEvent;
import dev.partita.controller.watch.ClusterView;
import dev.partita.controller.watch.EventLoop;
import dev.partita.controller.watch.ObjectKey;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Allocates the claims of pods, one term of leadership long. One thread decides, pod by pod, by priority and then by age;
 * what it decides counts at once and is written beside it. A pod for which there is no place waits until something changes
 * that could help: it is not polled, and it holds up nobody.
 */
public final class AllocationLoop implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(AllocationLoop.class);
  private static final Duration GATHER = Duration.ofMillis(10);
  private static final Duration FIRST_PAUSE = Duration.ofMillis(100);
  private static final int MOST_DOUBLINGS = 8;

  private final ClusterView view;
  private final Clock clock;
  private final EventLoop<WorkItem> loop;
  private final Consumer<ClusterEvent> listener;
  private final ScheduledExecutorService timer;
  private final PodWriter writer;
  private final ClaimNotes notes;

  // Only the loop's thread touches what follows.
  private final ClaimLedger ledger = new ClaimLedger();
  private final NodeLoads loads = new NodeLoads();
  private final Vetoes vetoes = new Vetoes();
  private final NodeFacts nodeFacts;
  private final PodDecider decider;
  private final Set<ObjectKey> waiting = new LinkedHashSet<>();
  private final Set<ObjectKey> writing = new HashSet<>();
  private final Map<ObjectKey, Integer> failures = new HashMap<>();
  private final Map<String, List<ObjectKey>> claimsOfPod = new HashMap<>();
  private Inventory inventory = Inventory.EMPTY;

  public AllocationLoop(KubernetesClient client, ApiEdge edge, ClusterView view, ClaimEvents events, Clock clock) {
    this.view = view;
    this.clock = clock;
    this.nodeFacts = new NodeFacts(view);
    this.decider = new PodDecider(view, ledger, loads, vetoes);
    this.notes = new ClaimNotes(events);
    this.timer =
        Executors.newSingleThreadScheduledExecutor(Thread.ofPlatform().name("allocation-timer").daemon().factory());
    this.loop = new EventLoop<>("allocation", GATHER, this::handle);
    this.writer = new PodWriter(new AllocationWriter(client, edge), view::deviceClass, clock, loop::post);
    this.listener = event -> loop.post(new WorkItem.Observed(event));
  }

  /** Begins to allocate. */
  public void start() {
    loop.post(new WorkItem.Begin());
    view.listen(listener);
    loop.start();
  }

  /** Stops deciding; writes that are under way end or are refused by the edge. */
  @Override
  public void close() {
    view.unlisten(listener);
    timer.shutdownNow();
    loop.close();
    writer.close();
  }

  private void handle(Set<WorkItem> items) {
    Set<ObjectKey> pods = new LinkedHashSet<>();
    for (WorkItem item : items) {
      switch (item) {
        case WorkItem.Begin begin -> begin(pods);
        case WorkItem.Observed(ClusterEvent event) -> observe(event, pods);
        case WorkItem.Again(ObjectKey pod) -> pods.add(pod);
        case WorkItem.NotReleased(String claimUid) -> ledger.notReleased(claimUid);
        case WorkItem.Written(ClaimRef claim, Optional<String> version) -> written(claim, version, pods);
        case WorkItem.Finished(ObjectKey pod, boolean failed) -> finished(pod, failed, pods);
      }
    }
    for (Pod pod : inTurn(pods)) {
      try {
        decide(pod);
      } catch (RuntimeException e) {
        LOG.error("pod {}: not decided", ObjectKey.of(pod), e);
        later(ObjectKey.of(pod));
      }
    }
  }

  private void begin(Set<ObjectKey> pods) {
    inventory = inventory.refreshed(view.gpuNodes());
    for (ResourceClaim claim : view.claims()) {
      ledger.observe(claim.getMetadata().getUid(), claim);
    }
    view.claims().forEach(claim -> releaseIfAbandoned(ObjectKey.of(claim)));
    for (Pod pod : view.pods()) {
      observePod(ObjectKey.of(pod), pod.getMetadata().getUid(), pods);
    }
  }

  private void observe(ClusterEvent event, Set<ObjectKey> pods) {
    switch (event) {
      case ClusterEvent.GpuNodeChanged changed -> {
        Inventory fresh = inventory.refreshed(view.gpuNodes());
        if (!fresh.equals(inventory)) {
          inventory = fresh;
          pods.addAll(waiting);
        }
      }
      case ClusterEvent.NodeChanged(String node) -> {
        if (nodeFacts.changed(node)) {
          pods.addAll(waiting);
        }
      }
      case ClusterEvent.ClassChanged changed -> pods.addAll(waiting);
      case ClusterEvent.SliceChanged(String node) -> {
        if (nodeFacts.published(node)) {
          pods.addAll(waiting);
        }
      }
      case ClusterEvent.PodChanged(ObjectKey pod, String uid) -> observePod(pod, uid, pods);
      case ClusterEvent.ClaimChanged(ObjectKey claim, String uid) -> observeClaim(claim, uid, pods);
    }
  }

  private void observePod(ObjectKey key, String uid, Set<ObjectKey> pods) {
    @Nullable Pod pod = view.pod(key);
    if (pod == null || !pod.getMetadata().getUid().equals(uid) || !PodClaims.isLive(pod)) {
      loads.remove(uid);
      waiting.remove(key);
      failures.remove(key);
      Objects.requireNonNullElse(claimsOfPod.remove(uid), List.<ObjectKey>of()).forEach(this::releaseIfAbandoned);
      if (pod != null && !pod.getMetadata().getUid().equals(uid)) {
        pods.add(key);
      }
      return;
    }
    if (PodClaims.isBound(pod)) {
      loads.put(uid, pod.getSpec().getNodeName(), PodRequests.of(pod));
    }
    if (!pod.getSpec().getResourceClaims().isEmpty()) {
      pods.add(key);
      PodClaims.of(pod).ifPresent(claims -> claimsOfPod.put(uid, claims));
    }
  }

  private void observeClaim(ObjectKey key, String uid, Set<ObjectKey> pods) {
    @Nullable ResourceClaim claim = view.claim(key);
    boolean same = claim != null && claim.getMetadata().getUid().equals(uid);
    changed(key, uid, ledger.observe(uid, same ? claim : null), same, pods);
    if (!same) {
      vetoes.forget(uid);
    }
    view.podsOf(key).forEach(pod -> pods.add(ObjectKey.of(pod)));
    releaseIfAbandoned(key);
  }

  private void written(ClaimRef claim, Optional<String> version, Set<ObjectKey> pods) {
    if (version.isEmpty()) {
      ledger.dropped(claim.uid());
      return;
    }
    changed(new ObjectKey(claim.namespace(), claim.name()), claim.uid(), ledger.written(claim.uid(), version.get()), true, pods);
  }

  private void changed(ObjectKey claim, String uid, ClaimLedger.Change change, boolean exists, Set<ObjectKey> pods) {
    switch (change) {
      case ClaimLedger.Change.Freed freed -> {
        freed.vetoed().filter(node -> exists).ifPresent(node -> veto(claim, uid, node));
        pods.addAll(waiting);
      }
      case ClaimLedger.Change.Taken _ -> {}
      case ClaimLedger.Change.None _ -> {}
    }
  }

  /** An allocation that its pod did not live to use would stay for ever: kube-controller-manager clears only reserved ones. */
  private void releaseIfAbandoned(ObjectKey key) {
    @Nullable ResourceClaim claim = view.claim(key);
    if (claim != null
        && claim.getMetadata().getDeletionTimestamp() == null
        && AllocatedClaim.isUnusedAndOurs(claim)
        && AllocatedClaim.bookings(claim).stream().allMatch(booking -> isOurs(booking.card().node()))
        && !ledger.isAssumed(claim.getMetadata().getUid())
        && view.podsOf(key).stream().noneMatch(PodClaims::isLive)) {
      release(List.of(claim), "no pod uses it");
    }
  }

  private boolean isOurs(String node) {
    @Nullable GpuHost host = inventory.host(node);
    return host != null && host.allocator() == GpuNodeSpec.Allocator.Controller;
  }

  private void release(List<ResourceClaim> claims, String why) {
    List<ResourceClaim> fresh = claims.stream().filter(claim -> ledger.releasing(claim.getMetadata().getUid())).toList();
    if (!fresh.isEmpty()) {
      writer.release(fresh, why);
    }
  }

  private void veto(ObjectKey claim, String uid, String node) {
    LOG.info("claim {}:{}: allocation on {} was taken back before it was used, another node is tried first", claim, uid, node);
    Duration length = vetoes.add(uid, node, clock.instant());
    view.podsOf(claim).forEach(pod -> again(ObjectKey.of(pod), length));
  }

  private void finished(ObjectKey pod, boolean failed, Set<ObjectKey> pods) {
    writing.remove(pod);
    if (failed) {
      later(pod);
      pods.addAll(waiting); // what was assumed for it is free again
    } else {
      failures.remove(pod);
      pods.add(pod); // it may have changed in the meantime
    }
  }

  /** Looks at the pod again after a pause that grows with every failure in a row. */
  private void later(ObjectKey pod) {
    int before = failures.merge(pod, 1, Integer::sum) - 1;
    again(pod, FIRST_PAUSE.multipliedBy(1L << Math.min(before, MOST_DOUBLINGS)));
  }

  private void again(ObjectKey pod, Duration pause) {
    if (!timer.isShutdown()) {
      var _ = timer.schedule(() -> loop.post(new WorkItem.Again(pod)), pause.toMillis(), TimeUnit.MILLISECONDS);
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
    pods.sort(
        Comparator.comparing((Pod pod) -> -Objects.requireNonNullElse(pod.getSpec().getPriority(), 0))
            .thenComparing(pod -> Objects.requireNonNullElse(pod.getMetadata().getCreationTimestamp(), ""))
            .thenComparing(pod -> ObjectKey.of(pod).toString()));
    return pods;
  }

  private void decide(Pod pod) {
    ObjectKey key = ObjectKey.of(pod);
    waiting.remove(key);
    switch (decider.decide(pod, inventory, clock.instant())) {
      case Decision.Nothing _ -> {}
      case Decision.LeaveToScheduler _ -> waiting.add(key);
      case Decision.Placed(String node) -> loads.put(pod.getMetadata().getUid(), node, PodRequests.of(pod));
      case Decision.Refuse(Map<ResourceClaim, List<String>> problems) -> {
        waiting.add(key);
        forgetLoad(pod);
        notes.refused(problems);
      }
      case Decision.Wait wait -> {
        waiting.add(key);
        forgetLoad(pod);
        notes.waiting(wait);
        release(wait.unused(), "the other claims of pod " + key + " cannot be allocated beside it");
      }
      case Decision.Allocate(Outcome.Allocated outcome, Map<String, ResourceClaim> claims, Set<String> contested) -> {
        for (Outcome.ClaimPlacement placement : outcome.claims()) {
          ledger.assume(placement.claim().uid(), placement.bookings());
        }
        loads.put(pod.getMetadata().getUid(), outcome.node(), PodRequests.of(pod));
        writing.add(key);
        writer.write(pod, outcome, claims, contested, notes);
      }
    }
  }

  private void forgetLoad(Pod pod) {
    if (!PodClaims.isBound(pod)) {
      loads.remove(pod.getMetadata().getUid());
    }
  }
}
