package dev.partita.plugin.claimread;

import dev.partita.api.node.GpuNodeSpec;
import dev.partita.plugin.allocation.AllocationDecoder;
import dev.partita.plugin.container.ContainerView;
import dev.partita.plugin.grant.ClaimRef;
import dev.partita.plugin.grant.Grant;
import dev.partita.plugin.inventory.Inventory;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimConsumerReference;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;

/**
 * Reads what the claims of one call need from the API server, each object once, or twice where there are many. The
 * claims of a pod have their pod and each other in common, so without this a hundred of them would have each object
 * read a hundred times.
 */
public final class CallReads {
  /** More claims than a pod commonly has are not kept until the call ends, but read again: each may be large. */
  static final int MOST_KEPT = 16;

  private final ClaimReader api;
  private final String pool;
  private final Semaphore kept = new Semaphore(MOST_KEPT);
  private final Map<Name, Optional<ResourceClaim>> claims = new ConcurrentHashMap<>();
  private final Map<Name, Optional<Pod>> pods = new ConcurrentHashMap<>();
  private final Map<Name, List<Set<Grant>>> containers = new ConcurrentHashMap<>();

  /** @param pool this node's pool */
  CallReads(ClaimReader api, String pool) {
    this.api = api;
    this.pool = pool;
  }

  private record Name(String namespace, String name) {}

  /** The claim; empty if it is gone, or another one has its name. */
  Optional<ResourceClaim> claim(ClaimRef claim) {
    return claim(new Name(claim.namespace(), claim.name()))
        .filter(found -> claim.uid().equals(found.getMetadata().getUid()));
  }

  /** The pod that a claim is reserved for; empty if it is gone, or another one has its name. */
  Optional<Pod> pod(String namespace, ResourceClaimConsumerReference consumer) {
    return "pods".equals(consumer.getResource())
        ? pods.computeIfAbsent(new Name(namespace, consumer.getName()), name -> api.pod(name.namespace(), name.name()))
            .filter(pod -> Objects.equals(consumer.getUid(), pod.getMetadata().getUid()))
        : Optional.empty();
  }

  /** What each container of a pod has of this node's cards, from all claims of the pod. */
  List<Set<Grant>> containers(Pod pod, Inventory.Cards cards, GpuNodeSpec node) {
    String namespace = pod.getMetadata().getNamespace();
    return containers.computeIfAbsent(
        new Name(namespace, pod.getMetadata().getName()),
        name -> {
          Map<String, List<Grant>> byClaim =
              AtOnce.each(ContainerView.claimNames(pod), claim -> grants(new Name(namespace, claim), cards, node));
          return ContainerView.containersOf(pod, byClaim);
        });
  }

  private List<Grant> grants(Name name, Inventory.Cards cards, GpuNodeSpec node) {
    return claim(name)
        .map(claim -> AllocationDecoder.read(claim, pool, cards, node))
        .map(outcome -> outcome instanceof AllocationDecoder.Granted granted ? granted.grants() : List.<Grant>of())
        .orElse(List.of());
  }

  private Optional<ResourceClaim> claim(Name name) {
    return claims.containsKey(name) || kept.tryAcquire()
        ? claims.computeIfAbsent(name, n -> api.claim(n.namespace(), n.name()))
        : api.claim(name.namespace(), name.name());
  }
}
