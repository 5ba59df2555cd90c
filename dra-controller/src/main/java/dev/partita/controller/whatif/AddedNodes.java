package dev.partita.controller.whatif;

import dev.partita.api.DeviceName;
import dev.partita.api.Driver;
import dev.partita.api.gpu.Gpu;
import dev.partita.api.gpu.GpuHealth;
import dev.partita.api.node.GpuNode;
import dev.partita.controller.classes.ClassPlan;
import dev.partita.controller.inventory.Inventory;
import dev.partita.controller.replay.PaperNode;
import dev.partita.controller.whatif.ClusterSnapshot.Cluster;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClass;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClassBuilder;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Nodes that are added to a snapshot on paper. They are as a node of the cluster with cards of that model is, where it
 * has one: labels, taints, CPU, memory and the cards themselves; one that is open now is preferred, for a GpuNode may
 * outlive its node and a node may be without labels at first. Else CPU and memory never run out on them.
 *
 * @param nodes how many
 * @param model of their cards, by its short name or as a product is called
 * @param cards of each node
 * @param memory bytes of a card; empty for what the cluster's cards of that model have
 */
public record AddedNodes(int nodes, String model, int cards, OptionalLong memory) {
  private static final int CARDS_OF_NUMA = 4;

  public AddedNodes(int nodes, String model, int cards, OptionalLong memory) {
    this.nodes = nodes;
    this.model = Driver.modelOf(model);
    this.cards = cards;
    this.memory = memory;
  }

  /**
   * The snapshot with these nodes.
   *
   * @param named the node of the snapshot that they are like, where nodes with such cards differ; its cards are theirs
   *        too if they are of the model
   * @throws IllegalArgumentException if nobody says how much memory such a card has
   */
  public ClusterSnapshot to(ClusterSnapshot snapshot, Optional<String> named) {
    Cluster before = snapshot.cluster();
    Map<String, Node> nodesByName =
        before.nodes().stream()
            .collect(Collectors.toMap(node -> node.getMetadata().getName(), node -> node, (first, _) -> first));
    // Of a node that kube-scheduler allocates on, nothing could be said for an added one.
    Optional<GpuNode> like = before.gpuNodes().stream().filter(node -> !cardsOf(node).isEmpty()).min(
        Comparator.comparing((GpuNode node) -> !named.equals(Optional.of(node.getMetadata().getName())))
            .thenComparing(GpuNode::isLeftToScheduler)
            .thenComparing(node -> !isOpen(nodesByName.get(node.getMetadata().getName()))));
    if (like.isEmpty() && memory.isEmpty()) {
      throw new IllegalArgumentException("the cluster has no card of model " + model + ": say how much memory one has");
    }
    Optional<Node> likeNode = named.or(() -> like.map(node -> node.getMetadata().getName())).map(nodesByName::get);
    List<GpuNode> gpuNodes = new ArrayList<>(before.gpuNodes());
    List<Node> allNodes = new ArrayList<>(before.nodes());
    Set<String> published = new HashSet<>(before.published());
    Set<String> taken = new HashSet<>(ClusterSnapshot.names(before.nodes()));
    taken.addAll(ClusterSnapshot.names(before.gpuNodes()));
    for (int i = 1, added = 0; added < nodes; i++) {
      String name = "added-" + model + "-" + i;
      if (taken.add(name)) {
        gpuNodes.add(gpuNode(name, like));
        allNodes.add(node(name, likeNode));
        published.add(name);
        added++;
      }
    }
    return snapshot.with(
        new Cluster(gpuNodes, allNodes, classes(before.deviceClasses(), gpuNodes), before.namespaces(),
            before.quotas(), published, before.taintRules(), before.podGroups()));
  }

  /** Says whether a node is there, its kubelet has told what it has, and nothing but its owner's taints is on it. */
  private static boolean isOpen(@Nullable Node node) {
    return node != null && node.getStatus() != null && node.getStatus().getAllocatable() != null
        && !node.getStatus().getAllocatable().isEmpty()
        && (node.getSpec() == null || node.getSpec().getTaints().stream().allMatch(WhatIf::isOfOwner));
  }

  private List<Gpu> cardsOf(GpuNode node) {
    return node.getStatus() == null
        ? List.of()
        : node.getStatus().gpus().stream().filter(gpu -> gpu.model().equals(model)).toList();
  }

  private GpuNode gpuNode(String name, Optional<GpuNode> like) {
    if (like.isEmpty()) {
      return PaperNode.of(name, model, cards, memory.orElseThrow(), CARDS_OF_NUMA);
    }
    List<Gpu> known = cardsOf(like.get());
    List<Gpu> gpus = IntStream.range(0, cards).mapToObj(i -> card(name, i, known.get(i % known.size()))).toList();
    GpuNode node = PaperNode.of(name, model, 0, 0, 1);
    var status = node.getStatus();
    node.setStatus(
        new dev.partita.api.node.GpuNodeStatus(cards, model, like.get().getStatus().driverVersion(),
            like.get().getStatus().cudaDriverVersion(), status.pluginVersion(), null, gpus, status.conditions()));
    return node;
  }

  private Gpu card(String node, int index, Gpu like) {
    return new Gpu(like.isOpaque() ? DeviceName.FIRST_OPAQUE + index : index, index, "GPU-" + node + "-" + index,
        like.productName(), like.model(), like.brand(),
        like.architecture(), like.cudaComputeCapability(), memory.orElse(like.memoryBytes()), like.reserved(),
        like.pciBusId(), like.pcieRoot(), like.numaNode(), like.nvlinkDomain(), List.of(), like.migProfiles(),
        like.staticMigInstances(), like.memoryEnforcement(), like.opaque(), List.of(), GpuHealth.HEALTHY);
  }

  /** A new node is open, even if the one it is like is cordoned or does not answer at the moment. */
  private static Node node(String name, Optional<Node> like) {
    NodeBuilder node = like.map(NodeBuilder::new).orElseGet(NodeBuilder::new);
    if (node.hasSpec()) {
      node.editSpec().withUnschedulable(null).removeMatchingFromTaints(taint -> !WhatIf.isOfOwner(taint.build()))
          .endSpec();
    }
    return node.editOrNewMetadata().withName(name).withUid(name).addToLabels("kubernetes.io/hostname", name)
        .endMetadata().build();
  }

  /** With the classes that the controller would publish once it had seen the nodes. */
  private static List<DeviceClass> classes(List<DeviceClass> before, List<GpuNode> nodes) {
    List<DeviceClass> classes = new ArrayList<>(before);
    Set<String> known = new HashSet<>(ClusterSnapshot.names(before));
    ClassPlan.of(Inventory.EMPTY.refreshed(nodes)).forEach((name, selectors) -> {
      if (known.add(name)) {
        classes.add(
            new DeviceClassBuilder().withNewMetadata().withName(name)
                .addToLabels(Driver.MANAGED_BY_LABEL, Driver.MANAGED_BY_CONTROLLER).endMetadata()
                .withNewSpec().withSelectors(selectors).endSpec().build());
      }
    });
    return classes;
  }
}
