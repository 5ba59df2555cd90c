package dev.partita.controller.whatif;

import dev.partita.api.node.GpuNode;
import dev.partita.api.quota.Amounts;
import dev.partita.api.quota.GpuQuota;
import dev.partita.api.quota.GpuQuotaSpec;
import dev.partita.controller.ClusterWithoutServer;
import dev.partita.controller.GpuNodes;
import dev.partita.controller.classes.ClassPlan;
import dev.partita.controller.gang.PodGroup;
import dev.partita.controller.inventory.CardKey;
import dev.partita.controller.inventory.DeviceTaintRule;
import dev.partita.controller.inventory.Inventory;
import io.fabric8.kubernetes.api.model.LabelSelectorBuilder;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClass;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClassBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;

/** A snapshot as tests fill it in; cards have 140 GiB. */
final class PaperSnapshot {
  private final List<GpuNode> gpuNodes = new ArrayList<>();
  private final List<Node> nodes = new ArrayList<>();
  private final List<Namespace> namespaces = new ArrayList<>();
  private final List<GpuQuota> quotas = new ArrayList<>();
  private final List<ResourceClaim> claims = new ArrayList<>();
  private final List<Pod> pods = new ArrayList<>();
  private final List<DeviceTaintRule> taintRules = new ArrayList<>();
  private final List<PodGroup> podGroups = new ArrayList<>();

  PaperSnapshot node(String name, int cards) {
    return node(new NodeBuilder().withNewMetadata().withName(name).endMetadata().build(), cards);
  }

  PaperSnapshot node(Node node, int cards) {
    nodes.add(node);
    return gpuNodeWithoutNode(node.getMetadata().getName(), cards);
  }

  /** What is left of a node that is gone. */
  PaperSnapshot gpuNodeWithoutNode(String name, int cards) {
    gpuNodes.add(GpuNodes.ready(name, cards, "NVIDIA H200", 140 * GpuNodes.GIB));
    return this;
  }

  /** One on which kube-scheduler allocates. */
  PaperSnapshot nodeOfScheduler(String name, int cards) {
    nodes.add(new NodeBuilder().withNewMetadata().withName(name).endMetadata().build());
    gpuNodes.add(GpuNodes.leftToScheduler(name, cards, "NVIDIA H200", 140 * GpuNodes.GIB));
    return this;
  }

  /** Lets the namespace have no more memory than that. */
  PaperSnapshot quota(String namespace, String memory) {
    namespaces.add(
        new NamespaceBuilder().withNewMetadata().withName(namespace).addToLabels("name", namespace).endMetadata()
            .build());
    GpuQuota quota = new GpuQuota();
    quota.getMetadata().setName("of-" + namespace);
    quota.setSpec(
        new GpuQuotaSpec(new LabelSelectorBuilder().addToMatchLabels("name", namespace).build(),
            List.of(new GpuQuotaSpec.Limit("", List.of(), null, amounts(memory), amounts("0")))));
    quotas.add(quota);
    return this;
  }

  private static Amounts amounts(String memory) {
    return new Amounts(new Quantity(memory), null, null, null);
  }

  PaperSnapshot taintRule(DeviceTaintRule rule) {
    taintRules.add(rule);
    return this;
  }

  PaperSnapshot podGroup(PodGroup group) {
    podGroups.add(group);
    return this;
  }

  PaperSnapshot runs(String name, String node, int card, String memory) {
    Pod pod =
        ClusterWithoutServer.pod(ClusterWithoutServer.key(name), 0).editSpec().withNodeName(node).endSpec().build();
    pods.add(pod);
    claims.add(ClusterWithoutServer.allocated(ClusterWithoutServer.claim(ClusterWithoutServer.key(name), memory),
        new CardKey(node, card), memory, List.of(pod)));
    return this;
  }

  PaperSnapshot runsWithoutClaim(String name, String node) {
    pods.add(
        ClusterWithoutServer.pod(ClusterWithoutServer.key(name), 0).editSpec().withNodeName(node).withResourceClaims()
            .endSpec().build());
    return this;
  }

  PaperSnapshot waits(String name, int priority, String memory) {
    pods.add(ClusterWithoutServer.pod(ClusterWithoutServer.key(name), priority).build());
    claims.add(ClusterWithoutServer.claim(ClusterWithoutServer.key(name), memory));
    return this;
  }

  /** Changes the pod that was added last. */
  PaperSnapshot lastPod(java.util.function.UnaryOperator<Pod> change) {
    pods.add(change.apply(pods.removeLast()));
    return this;
  }

  /** Changes the claim that was added last. */
  PaperSnapshot lastClaim(java.util.function.UnaryOperator<ResourceClaim> change) {
    claims.add(change.apply(claims.removeLast()));
    return this;
  }

  ClusterSnapshot done() {
    List<DeviceClass> classes = new ArrayList<>();
    ClassPlan.of(Inventory.EMPTY.refreshed(gpuNodes)).forEach((name, selectors) -> classes.add(
        new DeviceClassBuilder().withNewMetadata().withName(name).endMetadata().withNewSpec().withSelectors(selectors)
            .endSpec().build()));
    return new ClusterSnapshot(Instant.parse("2026-05-01T12:00:00Z"),
        new ClusterSnapshot.Cluster(gpuNodes, nodes, classes, namespaces, quotas,
            new HashSet<>(ClusterSnapshot.names(nodes)), taintRules,
            podGroups.isEmpty() ? Optional.empty() : Optional.of(podGroups)),
        claims, pods);
  }
}
