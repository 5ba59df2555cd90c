package dev.partita.controller.claims;

import dev.partita.api.node.GpuNodeSpec.Allocator;
import dev.partita.controller.allocate.Candidates;
import dev.partita.controller.allocate.ClaimAsk;
import dev.partita.controller.allocate.Outcome;
import dev.partita.controller.inventory.GpuHost;
import dev.partita.controller.inventory.Inventory;
import dev.partita.controller.nodes.NodeFit;
import dev.partita.controller.nodes.NodeLoads;
import dev.partita.controller.selector.DeviceSelectors;
import dev.partita.controller.watch.ClusterView;
import dev.partita.controller.watch.ObjectKey;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeSelector;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Decides about one pod: reads its claims, gathers what speaks for and against each node, and asks the allocator. */
final class PodDecider {
  private final ClusterView view;
  private final ClaimLedger ledger;
  private final NodeLoads loads;
  private final Vetoes vetoes;
  private final ClaimReader reader;
  private final dev.partita.controller.allocate.Allocator allocator;

  PodDecider(ClusterView view, ClaimLedger ledger, NodeLoads loads, Vetoes vetoes) {
    this.view = view;
    this.ledger = ledger;
    this.loads = loads;
    this.vetoes = vetoes;
    DeviceSelectors selectors = new DeviceSelectors();
    this.reader = new ClaimReader(view::deviceClass, selectors);
    this.allocator = new dev.partita.controller.allocate.Allocator(selectors);
  }

  Decision decide(Pod pod, Inventory inventory, Instant now) {
    Optional<List<ObjectKey>> names = PodClaims.of(pod);
    if (names.isEmpty() || names.get().isEmpty()) {
      return new Decision.Nothing();
    }
    List<NodeSelector> allocatedElsewhere = new ArrayList<>();
    List<ResourceClaim> unused = new ArrayList<>();
    Map<String, ResourceClaim> open = new LinkedHashMap<>();
    List<ClaimAsk> asks = new ArrayList<>();
    Map<ResourceClaim, List<String>> problems = new LinkedHashMap<>();
    for (ObjectKey name : names.get()) {
      @Nullable ResourceClaim claim = view.claim(name);
      if (claim == null
          || claim.getMetadata().getDeletionTimestamp() != null
          || ledger.isAssumed(claim.getMetadata().getUid())) {
        return new Decision.Nothing(); // its next change comes back here
      }
      if (AllocatedClaim.isAllocated(claim)) {
        Optional.ofNullable(AllocatedClaim.nodeSelector(claim)).ifPresent(allocatedElsewhere::add);
        if (AllocatedClaim.isUnusedAndOurs(claim) && view.podsOf(name).size() == 1) {
          unused.add(claim);
        }
        continue;
      }
      switch (reader.read(claim)) {
        case ClaimReading.Foreign foreign -> {}
        case ClaimReading.Understood(ClaimAsk ask) -> {
          open.put(claim.getMetadata().getUid(), claim);
          asks.add(ask);
        }
        case ClaimReading.Unusable(List<String> words) -> problems.put(claim, words);
      }
    }
    if (!problems.isEmpty()) {
      return new Decision.Refuse(problems);
    }
    if (asks.isEmpty()) {
      return allocatedElsewhere.stream().flatMap(s -> NodeFit.onlyNode(s).stream()).findFirst()
          .<Decision>map(Decision.Placed::new)
          .orElseGet(Decision.Nothing::new);
    }
    Function<GpuHost, Optional<String>> unfit = host -> refusal(pod, host, allocatedElsewhere, open, now);
    Candidates candidates =
        host -> unfit.apply(host).or(() -> isScheduled(host) ? Optional.of("kube-scheduler allocates there") : Optional.empty());
    Collection<GpuHost> hosts = inventory.hosts().values();
    if (!hosts.isEmpty() && hosts.stream().allMatch(PodDecider::isScheduled)) {
      return new Decision.LeaveToScheduler();
    }
    return switch (allocator.allocate(asks, candidates, ledger.freeCards(inventory))) {
      case Outcome.Allocated allocated -> new Decision.Allocate(allocated, open, contested(open));
      case Outcome.Unallocatable(var explanation) ->
          hosts.stream().anyMatch(host -> isScheduled(host) && unfit.apply(host).isEmpty())
                  && hosts.stream().allMatch(host -> candidates.refusal(host).isPresent())
              ? new Decision.LeaveToScheduler()
              : new Decision.Wait(List.copyOf(open.values()), unused, explanation);
    };
  }

  private Set<String> contested(Map<String, ResourceClaim> claims) {
    return claims.entrySet().stream()
        .filter(claim -> PodClaims.isContested(view.podsOf(ObjectKey.of(claim.getValue()))))
        .map(Map.Entry::getKey)
        .collect(Collectors.toSet());
  }

  private static boolean isScheduled(GpuHost host) {
    return host.allocator() == Allocator.Scheduler;
  }

  private Optional<String> refusal(
      Pod pod, GpuHost host, List<NodeSelector> allocatedElsewhere, Map<String, ResourceClaim> open, Instant now) {
    if (!host.isReady()) {
      return host.unready();
    }
    @Nullable Node node = view.node(host.name());
    if (node == null) {
      return Optional.of("there is no such Node");
    }
    if (view.slices(host.name()).isEmpty()) {
      return Optional.of("its slices are not published: the node's plugin or kubelet is away");
    }
    if (allocatedElsewhere.stream().anyMatch(selector -> !NodeFit.selects(selector, node))) {
      return Optional.of("another claim of the pod is allocated elsewhere");
    }
    if (open.keySet().stream().anyMatch(uid -> vetoes.holds(uid, host.name(), now))) {
      return Optional.of("kube-scheduler found no room for the pod there");
    }
    return NodeFit.refusal(pod, node, loads.without(pod.getMetadata().getUid(), host.name()));
  }
}
