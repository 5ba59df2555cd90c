package dev.partita.controller.whatif;

import dev.partita.controller.gang.PodGroup;
import dev.partita.api.node.GpuNode;
import dev.partita.api.quota.GpuQuota;
import dev.partita.controller.inventory.DeviceTaintRule;
import dev.partita.controller.inventory.Inventory;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClass;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * What a cluster had at one moment, as far as the controller decides by it.
 *
 * @param time when it was read
 * @param cluster what there is to allocate from
 * @param claims of all namespaces
 * @param pods of all namespaces
 */
public record ClusterSnapshot(Instant time, Cluster cluster, List<ResourceClaim> claims, List<Pod> pods) {
  public ClusterSnapshot {
    claims = List.copyOf(claims);
    pods = List.copyOf(pods);
  }

  /**
   * Nodes, and what says who may have what of them.
   *
   * @param published nodes for which there are slices of our driver's
   * @param taintRules Kubernetes' rules that put taints on devices
   * @param podGroups of all namespaces; empty if the API server serves none
   */
  public record Cluster(
      List<GpuNode> gpuNodes,
      List<Node> nodes,
      List<DeviceClass> deviceClasses,
      List<Namespace> namespaces,
      List<GpuQuota> quotas,
      Set<String> published,
      List<DeviceTaintRule> taintRules,
      Optional<List<PodGroup>> podGroups) {
    public Cluster {
      gpuNodes = List.copyOf(gpuNodes);
      nodes = List.copyOf(nodes);
      deviceClasses = List.copyOf(deviceClasses);
      namespaces = List.copyOf(namespaces);
      quotas = List.copyOf(quotas);
      published = Set.copyOf(published);
      taintRules = List.copyOf(taintRules);
      podGroups = podGroups.map(List::copyOf);
    }

    /** The cards of its nodes. */
    Inventory inventory() {
      return Inventory.EMPTY.refreshed(gpuNodes, taintRules);
    }
  }

  /** Whether there is a node of that name. */
  public boolean hasNode(String name) {
    return names(cluster.nodes()).contains(name);
  }

  /** The same with another cluster around its claims and pods. */
  ClusterSnapshot with(Cluster other) {
    return new ClusterSnapshot(time, other, claims, pods);
  }

  /** The names of objects. */
  static List<String> names(Collection<? extends HasMetadata> objects) {
    return objects.stream().map(object -> object.getMetadata().getName()).toList();
  }
}
