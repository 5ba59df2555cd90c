package dev.partita.controller.publish;

import dev.partita.api.node.GpuNode;
import dev.partita.controller.claim.AllocatedClaim;
import dev.partita.controller.classes.ClassPublisher;
import dev.partita.controller.edge.ApiEdge;
import dev.partita.controller.inventory.GpuHost;
import dev.partita.controller.inventory.Inventory;
import dev.partita.controller.nodestatus.NodeBindingClaims;
import dev.partita.controller.nodestatus.NodeConditions;
import dev.partita.controller.nodestatus.NodeOtherDrivers;
import dev.partita.controller.nodestatus.NodeSizes;
import dev.partita.controller.nodestatus.NodeStatusWriter;
import dev.partita.controller.nodestatus.SchedulingCost;
import dev.partita.controller.slices.SlicePublisher;
import dev.partita.controller.watch.Backoff;
import dev.partita.controller.watch.ClusterEvent;
import dev.partita.controller.watch.ClusterView;
import dev.partita.controller.watch.EventLoop;
import dev.partita.controller.watch.ObjectKey;
import dev.partita.controller.watch.OtherDevice;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Clock;
import java.time.Duration;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Keeps slices, classes and what GpuNodes say of claims up to date, during one term of leadership. */
public final class PublicationLoop implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(PublicationLoop.class);
  private static final Duration GATHER = Duration.ofMillis(20);
  private static final Duration AFTER_FAILURE = Duration.ofSeconds(1);
  private static final int MOST_DOUBLINGS = 4;

  /**
   * The order of a node's devices follows what is taken of them so much later, once for all claims until then: a slice
   * that changes makes kube-scheduler try waiting pods again.
   */
  private static final Duration ORDER_AFTER = Duration.ofSeconds(2);

  private sealed interface Work {
    record Node(String name) implements Work {
      /** As logs name it. */
      @Override
      public String toString() {
        return "the ResourceSlices and the GpuNode of node " + name;
      }
    }

    record Classes() implements Work {
      /** As logs name it. */
      @Override
      public String toString() {
        return "the DeviceClasses";
      }
    }

    /** The node's sizes are to be looked at again: a while ago a card had not enough for what was granted. */
    record SizesAgain(String node) implements Work {}

    /** Publishing it failed, and a while has passed. */
    record Again(Work failed) implements Work {}
  }

  private final ClusterView view;
  private final SlicePublisher slices;
  private final ClassPublisher classes;
  private final NodeConditions conditions;
  private final NodeSizes sizes;
  private final NodeOtherDrivers otherDrivers;
  private final NodeBindingClaims bindingClaims;
  private final EventLoop<Work> loop;
  private final Consumer<ClusterEvent> listener = this::observe;
  private final ClaimPlaces<String> claimNodes = new ClaimPlaces<>();
  private final ClaimPlaces<NodeBindingClaims.NodeAllocation> awaited = new ClaimPlaces<>();
  private final ClaimPlaces<OtherDevice> claimedOthers = new ClaimPlaces<>();
  private final Set<String> toBeOrdered = ConcurrentHashMap.newKeySet();
  private final Set<String> toBeSized = new HashSet<>(); // nodes with a SizesAgain to come; for the loop's thread
  private final Backoff<Work> failures = new Backoff<>(AFTER_FAILURE, MOST_DOUBLINGS);
  private volatile boolean slowCluster;

  /**
   * @param hostMemory bytes of its node's memory that a container takes for each device besides what its pod requests;
   *        0 for none to be counted
   */
  public PublicationLoop(KubernetesClient client, ApiEdge edge, ClusterView view, Clock clock, long hostMemory) {
    this(client, edge, view, clock, hostMemory, NodeSizes.AGAIN);
  }

  /** @param sizesAgain how long to wait before looking again at a card that has not enough for what was granted */
  PublicationLoop(
      KubernetesClient client,
      ApiEdge edge,
      ClusterView view,
      Clock clock,
      long hostMemory,
      Duration sizesAgain) {
    this.view = view;
    this.slices = new SlicePublisher(client, edge, view, hostMemory);
    this.classes = new ClassPublisher(client, edge, view);
    NodeStatusWriter writer = new NodeStatusWriter(client, edge);
    this.conditions = new NodeConditions(client, writer, view, clock);
    this.sizes = new NodeSizes(writer, view, sizesAgain);
    this.otherDrivers = new NodeOtherDrivers(writer, view);
    this.bindingClaims = new NodeBindingClaims(writer, view);
    this.loop = new EventLoop<>("publication", GATHER, this::handle);
  }

  /** Begins to publish. */
  public void start() {
    view.listen(listener);
    view.claims().forEach(claim -> {
      ObjectKey key = ObjectKey.of(claim);
      String uid = claim.getMetadata().getUid();
      claimNodes.changed(uid, () -> nodesOf(shown(key, uid)));
      claimedOthers.changed(uid, () -> othersOf(shown(key, uid)));
      awaited.changed(uid, () -> awaitedOf(shown(key, uid)));
    });
    loop.post(new Work.Classes());
    Set<String> nodes = new LinkedHashSet<>();
    view.gpuNodes().forEach(node -> nodes.add(node.getMetadata().getName()));
    nodes.addAll(view.publishedNodes());
    nodes.forEach(node -> loop.post(new Work.Node(node)));
    loop.start();
  }

  @Override
  public void close() {
    view.unlisten(listener);
    loop.close();
  }

  private void observe(ClusterEvent event) {
    switch (event) {
      case ClusterEvent.GpuNodeChanged(String node) -> {
        loop.post(new Work.Node(node));
        loop.post(new Work.Classes());
      }
      case ClusterEvent.NodeChanged(String node) -> {
        boolean exists = view.node(node) != null;
        boolean published = view.isPublished(node);
        if (exists ? !published && view.gpuNode(node) != null : published) { // a heartbeat is no news
          loop.post(new Work.Node(node));
        }
        boolean slow = SchedulingCost.isSlowFor(view.nodeCount());
        if (slow != slowCluster) {
          slowCluster = slow;
          view.gpuNodes().forEach(each -> loop.post(new Work.Node(each.getMetadata().getName())));
        }
      }
      case ClusterEvent.SliceChanged(String node) -> loop.post(new Work.Node(node));
      case ClusterEvent.OtherSliceChanged(String node) -> {
        if (view.gpuNode(node) != null) {
          loop.post(new Work.Node(node));
        }
      }
      case ClusterEvent.ClassChanged _ -> loop.post(new Work.Classes());
      case ClusterEvent.PodChanged changed -> {
        // A plugin's pod that became ready lets its node's slices be published again, all or those that are missing.
        String node = view.nodeOfPluginPod(changed.uid());
        if (node != null) {
          loop.post(new Work.Node(node));
        }
      }
      case ClusterEvent.ClaimChanged(ObjectKey key, String uid) -> {
        slices.holding().forEach(node -> loop.post(new Work.Node(node)));
        claimedOthers.changed(uid, () -> othersOf(shown(key, uid))).stream()
            .flatMap(device -> view.nodesOf(device.pool()).stream())
            .forEach(node -> loop.post(new Work.Node(node)));
        awaited.changed(uid, () -> awaitedOf(shown(key, uid)))
            .forEach(allocation -> loop.post(new Work.Node(allocation.node())));
        Set<String> changed = claimNodes.changed(uid, () -> nodesOf(shown(key, uid)));
        changed.stream().filter(node -> isToldOf(node, uid)).forEach(node -> loop.post(new Work.Node(node)));
        nodesOf(shown(key, uid).filter(NodeSizes::isToTell)).forEach(node -> loop.post(new Work.Node(node)));
        changed.stream()
            .filter(node -> GpuNode.isLeftToScheduler(view.gpuNode(node)))
            .filter(toBeOrdered::add)
            .forEach(node -> loop.postAfter(ORDER_AFTER, new Work.Node(node)));
      }
      case ClusterEvent.TemplateChanged _,ClusterEvent.QuotaChanged _,ClusterEvent.NamespaceChanged _,ClusterEvent.TaintRuleChanged _,ClusterEvent.PodGroupChanged _ ->
          {}
    }
  }

  /** The claim of that UID as the view has it now; empty if it is gone, or another one has its name. */
  private Optional<ResourceClaim> shown(ObjectKey key, String uid) {
    return Optional.ofNullable(view.claim(key)).filter(its -> its.getMetadata().getUid().equals(uid));
  }

  private static Set<OtherDevice> othersOf(Optional<ResourceClaim> claim) {
    return claim.map(OtherDevice::of).orElse(Set.of());
  }

  private static Set<NodeBindingClaims.NodeAllocation> awaitedOf(Optional<ResourceClaim> claim) {
    return claim.map(NodeBindingClaims::allocationsOf).orElse(Set.of());
  }

  /** The node of the devices of ours that a claim has. */
  private static Set<String> nodesOf(Optional<ResourceClaim> claim) {
    return claim.flatMap(AllocatedClaim::nodeOfOurs).map(Set::of).orElse(Set.of());
  }

  /** Whether the node is told of sizes of the claim. */
  private boolean isToldOf(String node, String claimUid) {
    @Nullable GpuNode gpuNode = view.gpuNode(node);
    return gpuNode != null && gpuNode.getStatus() != null && gpuNode.getStatus().resizes().isOf(claimUid);
  }

  private void handle(Set<Work> batch) {
    Inventory inventory = view.inventory();
    Set<Work> due = new LinkedHashSet<>();
    for (Work work : batch) {
      switch (work) {
        case Work.Again(Work failed) -> {
          failures.tried(failed);
          due.add(failed);
        }
        case Work.SizesAgain(String node) -> {
          toBeSized.remove(node);
          due.add(new Work.Node(node));
        }
        case Work.Node _,Work.Classes _ -> due.add(work);
      }
    }
    for (Work work : due) {
      try {
        switch (work) {
          case Work.Classes _ -> classes.publish(inventory);
          case Work.Node(String node) -> publish(work, node, inventory.host(node), view.gpuNode(node));
          case Work.Again _,Work.SizesAgain _ -> throw new IllegalArgumentException("stands for other work: " + work);
        }
        failures.succeeded(work);
      } catch (RuntimeException e) {
        if (!ApiEdge.isConflict(e) && !ApiEdge.isNotFound(e)) {
          LOG.warn("cannot bring {} up to date, trying again later: {}", work, e.getMessage());
        }
        failures.failed(work).ifPresent(pause -> loop.postAfter(pause, new Work.Again(work)));
      }
    }
  }

  private void publish(Work work, String node, @Nullable GpuHost host, @Nullable GpuNode gpuNode) {
    toBeOrdered.remove(node);
    @Nullable GpuNode reported = gpuNode != null && gpuNode.getStatus() != null ? gpuNode : null;
    boolean written = reported != null && (otherDrivers.tell(reported) || bindingClaims.tell(reported));
    slices.publish(node, host, gpuNode).ifPresent(pause -> loop.postAfter(pause, work));
    if (host != null && reported != null && !written) { // what was written comes back as a change
      sizes.tell(reported, host).filter(_ -> toBeSized.add(node))
          .ifPresent(pause -> loop.postAfter(pause, new Work.SizesAgain(node)));
      conditions.tell(reported, host);
    }
  }
}
