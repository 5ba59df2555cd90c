package dev.partita.controller.nodestatus;

import dev.partita.api.Driver;
import dev.partita.api.device.InstanceCondition;
import dev.partita.api.node.BindingClaim;
import dev.partita.api.node.GpuNode;
import dev.partita.controller.watch.AllocatedDevices;
import dev.partita.controller.watch.ClusterView;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Writes into the status of GpuNodes which claims have MIG instances there that kube-scheduler waits for. Kubelet asks
 * a plugin to prepare claims of pods that are bound only, and these are not bound before. The plugin does not look for
 * such claims itself: a claim cannot be listed by its node, so that every node would follow all claims of the cluster,
 * and might read them. For one thread.
 */
public final class NodeBindingClaims {
  /** So many are told of; a node of sixteen cards has 112 instances at most. */
  static final int MOST = 256;

  private final NodeStatusWriter writer;
  private final ClusterView view;

  public NodeBindingClaims(NodeStatusWriter writer, ClusterView view) {
    this.writer = writer;
    this.view = view;
  }

  /**
   * Writes them if the node is to have others. A claim stays until it is allocated no more, by which its plugin sees
   * that an instance without a pod is to be given back.
   *
   * @return whether it was written, so that the GpuNode is not the one that was given
   */
  public boolean tell(GpuNode node) {
    String name = node.getMetadata().getName();
    List<BindingClaim> wanted = of(view.claimsOn(name), name);
    if (wanted.equals(node.getStatus().bindingClaims())) {
      return false;
    }
    writer.write(node, node.getStatus().withBindingClaims(wanted));
    return true;
  }

  /** Those of the claims that have such an instance of the node, by name. */
  static List<BindingClaim> of(Collection<ResourceClaim> claims, String node) {
    return claims.stream().filter(claim -> nodesOf(claim).contains(node))
        .map(claim -> new BindingClaim(claim.getMetadata().getNamespace(), claim.getMetadata().getName(),
            claim.getMetadata().getUid(), allocated(claim)))
        .sorted(Comparator.comparing(BindingClaim::namespace).thenComparing(BindingClaim::name)).limit(MOST).toList();
  }

  private static String allocated(ResourceClaim claim) {
    return Objects.requireNonNullElse(claim.getStatus().getAllocation().getAllocationTimestamp(), "");
  }

  /**
   * Tells one allocation of such instances on a node from the next one there. A claim may be allocated anew on the same
   * node before the watch shows that it was free: the plugin must be told of that, for its instances were given back.
   *
   * @param allocated the claim's allocationTimestamp; empty if it has none
   */
  public record NodeAllocation(String node, String allocated) {}

  /** The claim's allocation of such instances, once for each node that has some of them. */
  public static Set<NodeAllocation> allocationsOf(ResourceClaim claim) {
    return nodesOf(claim).stream().map(node -> new NodeAllocation(node, allocated(claim)))
        .collect(Collectors.toUnmodifiableSet());
  }

  /** The nodes of which the claim has such instances. */
  private static Set<String> nodesOf(ResourceClaim claim) {
    return AllocatedDevices.of(claim).stream().filter(InstanceCondition::areAwaited)
        .flatMap(result -> Driver.nodeOfPool(result.getPool()).stream()).collect(Collectors.toUnmodifiableSet());
  }
}
