package dev.partita.controller.slices;

import dev.partita.api.Driver;
import dev.partita.api.MonotonicClock;
import dev.partita.api.node.GpuNode;
import dev.partita.api.node.GpuNodeSpec;
import dev.partita.controller.claim.PodClaims;
import dev.partita.controller.edge.ApiEdge;
import dev.partita.controller.edge.WriteKind;
import dev.partita.controller.held.HeldBookings;
import dev.partita.controller.inventory.GpuHost;
import dev.partita.controller.watch.ClusterView;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.OwnerReferenceBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSlice;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSliceBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSliceSpec;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Writes the slices of a node as its GpuNode says. For one thread. */
public final class SlicePublisher {
  private static final Logger LOG = LoggerFactory.getLogger(SlicePublisher.class);

  /** Longest name of an object, less the suffix of a slice. */
  private static final int MAX_NODE_PART = 220;

  private final KubernetesClient client;
  private final ApiEdge edge;
  private final ClusterView view;
  private final long hostMemory;
  private final Function<String, List<ResourceClaim>> claimsOn;
  private final Clock monotonicClock = MonotonicClock.start();
  private final Republication republication = new Republication();
  private final DroppedFeatures dropped = new DroppedFeatures(monotonicClock);
  private final Set<String> holding = ConcurrentHashMap.newKeySet();
  private final Map<String, TaintTimes> evictions = new HashMap<>(); // by node

  /**
   * @param hostMemory bytes of its node's memory that a container takes for each device besides what its pod requests;
   *        0 for none to be counted
   */
  public SlicePublisher(KubernetesClient client, ApiEdge edge, ClusterView view, long hostMemory) {
    this(client, edge, view, hostMemory, view::claimsOn);
  }

  /** @param claimsOn gives the claims of a node, as the view does */
  SlicePublisher(
      KubernetesClient client,
      ApiEdge edge,
      ClusterView view,
      long hostMemory,
      Function<String, List<ResourceClaim>> claimsOn) {
    this.client = client;
    this.edge = edge;
    this.view = view;
    this.hostMemory = hostMemory;
    this.claimsOn = claimsOn;
  }

  /**
   * Brings one node's slices up to date.
   *
   * @param host the node's cards; null if it has no GpuNode
   * @param gpuNode its GpuNode; null likewise
   * @return how long to wait before trying again, if something must wait
   */
  public Optional<Duration> publish(String node, @Nullable GpuHost host, @Nullable GpuNode gpuNode) {
    List<ResourceSlice> existing = view.slices(node);
    Set<SliceFeature> features = features(gpuNode);
    List<PublishedCard> wanted =
        host == null || gpuNode == null || view.node(node) == null
            ? List.of()
            : SlicePlan.cards(host, features, hostMemory);
    boolean byKubeScheduler = host != null && host.allocator() == GpuNodeSpec.Allocator.Scheduler;
    boolean isNew = holding.add(node); // before its claims are read: one that changes later has it looked at again
    PoolUse use = PoolUse.of(node, claimsOn.apply(node));
    HeldCards offered = HeldCards.of(wanted, PublishedCard.in(existing), use, heldOnNode(host), byKubeScheduler);
    note(node, offered.held(), isNew);
    List<PublishedCard> cards = offered.cards();
    List<ResourceSliceSpec> desired =
        byKubeScheduler
            ? SlicePlan.of(node, cards, use.bestFitFirst(), features)
            : SlicePlan.of(node, cards);
    TaintTimes times = TaintTimes.in(existing).or(evictions.getOrDefault(node, TaintTimes.NONE));
    keepTimes(node, times.ofEvictions(desired));
    if (!desired.isEmpty() && PoolChange.lacksSlices(existing) && gpuNode != null && pluginIsGone(gpuNode)) {
      return Optional.empty(); // its pod's next change, or the next plugin's report, comes back here
    }
    if (!desired.isEmpty() && existing.isEmpty()) {
      Instant now = monotonicClock.instant();
      Instant from = republication.notBefore(node);
      if (now.isBefore(from)) {
        return Optional.of(Duration.between(now, from));
      }
    }
    List<String> names = IntStream.range(0, desired.size()).mapToObj(i -> name(node, i)).toList();
    PoolChange change = PoolChange.between(names, desired, existing, times);
    if (change.isEmpty()) {
      return Optional.empty();
    }
    write(gpuNode, change);
    if (existing.isEmpty()) {
      republication.created(node, monotonicClock.instant());
    }
    LOG.info(
        "slices of {}: {} created, {} updated, {} deleted{}",
        node,
        change.create().size(),
        change.update().size(),
        change.delete().size(),
        desired.isEmpty() ? " (" + withdrawn(node, host) + ")" : "");
    return Optional.empty();
  }

  /** Kubelet may delete all slices: pods that tolerate for a while that they are evicted would stay for longer. */
  private void keepTimes(String node, TaintTimes times) {
    if (times.byDevice().isEmpty()) {
      evictions.remove(node);
    } else {
      evictions.put(node, times);
    }
  }

  /** Where a plugin does not answer for binding conditions, no pod that waits for them would be bound. */
  private Set<SliceFeature> features(@Nullable GpuNode gpuNode) {
    Set<SliceFeature> features = dropped.notDropped();
    if (gpuNode == null || gpuNode.getStatus() == null || !gpuNode.getStatus().makesInstancesEarly()) {
      features.remove(SliceFeature.BINDING_CONDITIONS);
    }
    return features;
  }

  private static Set<Integer> heldOnNode(@Nullable GpuHost host) {
    return host == null
        ? Set.of()
        : HeldBookings.of(host).stream()
            .flatMap(held -> held.bookings().stream())
            .map(booking -> booking.card().index())
            .collect(Collectors.toSet());
  }

  private void note(String node, List<Integer> held, boolean isNew) {
    if (held.isEmpty()) {
      holding.remove(node);
    } else if (isNew) {
      LOG.info(
          "slices of {}: cards {} are tainted, so that no new claim gets them, until they are released",
          node, held);
    }
  }

  /**
   * Nodes of which some cards wait for claims to be released, to be offered in another way, and the one whose claims
   * are being read to find that out. For any thread.
   */
  public Set<String> holding() {
    return holding;
  }

  private String withdrawn(String node, @Nullable GpuHost host) {
    if (host == null) {
      return "it has no GpuNode";
    }
    return view.node(node) == null ? "there is no such Node" : host.unready().orElse("it offers no device");
  }

  private void write(@Nullable GpuNode gpuNode, PoolChange change) {
    change
        .create()
        .forEach(
            (name, spec) -> {
              ResourceSlice slice =
                  new ResourceSliceBuilder()
                      .withNewMetadata()
                      .withName(name)
                      .addToLabels(Driver.MANAGED_BY_LABEL, Driver.MANAGED_BY_CONTROLLER)
                      .withOwnerReferences(gpuNode == null ? List.of() : List.of(ownedBy(gpuNode)))
                      .endMetadata()
                      .withSpec(spec)
                      .build();
              dropped.compare(spec, edge.write(WriteKind.SLICE, () -> client.resource(slice).create()).getSpec());
            });
    for (PoolChange.Update update : change.update()) {
      ResourceSlice slice = new ResourceSliceBuilder(update.existing()).withSpec(update.spec()).build();
      dropped.compare(update.spec(), edge.write(WriteKind.SLICE, () -> client.resource(slice).update()).getSpec());
    }
    for (ResourceSlice slice : change.delete()) {
      edge.write(WriteKind.SLICE, () -> client.resource(slice).delete());
    }
  }

  /**
   * Whether slices are gone because the plugin is: its pod is not there or not ready. A plugin that runs outside a pod
   * cannot be asked.
   */
  private boolean pluginIsGone(GpuNode gpuNode) {
    @Nullable String podUid = gpuNode.getStatus() == null ? null : gpuNode.getStatus().pluginPodUid();
    if (podUid == null || podUid.isEmpty()) {
      return false;
    }
    @Nullable Pod pod = view.podByUid(podUid);
    return pod == null || pod.getMetadata().getDeletionTimestamp() != null || !PodClaims.isReady(pod);
  }

  private static OwnerReference ownedBy(GpuNode gpuNode) {
    return new OwnerReferenceBuilder()
        .withApiVersion(Driver.GROUP_VERSION)
        .withKind("GpuNode")
        .withName(gpuNode.getMetadata().getName())
        .withUid(gpuNode.getMetadata().getUid())
        .withController(true)
        .build();
  }

  /** Names are the same every time, so that two instances that both publish collide instead of doubling the pool. */
  private static String name(String node, int index) {
    String part =
        node.length() <= MAX_NODE_PART
            ? node
            : node.substring(0, MAX_NODE_PART - 9).replaceAll("[.-]+$", "") + "-"
                + Integer.toHexString(node.hashCode());
    return part + "-" + Driver.NAME + "-" + index;
  }
}
