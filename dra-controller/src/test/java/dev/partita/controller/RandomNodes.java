package dev.partita.controller;

import dev.partita.api.Driver;
import dev.partita.api.device.DeviceStatusData;
import dev.partita.api.node.GpuNode;
import dev.partita.api.node.GpuNodeSpec;
import dev.partita.controller.inventory.DeviceTaintRule;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.resource.v1.AllocatedDeviceStatus;
import io.fabric8.kubernetes.api.model.resource.v1.AllocatedDeviceStatusBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceRequestAllocationResult;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimBuilder;
import io.fabric8.kubernetes.api.model.runtime.RawExtension;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;

/** Nodes, which come, go and change, and what their plugins report. */
final class RandomNodes {
  /** Where kube-scheduler allocates. */
  static final String SCHEDULERS = "node-4";

  static final long H200 = 140 * GpuNodes.GIB;
  private static final long A100 = 80 * GpuNodes.GIB;

  /** Where now the one and now the other allocates. */
  static final String SWITCHED = "node-2";

  /** Whole CPUs of each node. */
  static final int CPUS = 16;

  /** Bytes of each of a node's cards. */
  static final Map<String, Long> MEMORY =
      Map.of("node-0", H200, "node-1", A100, "node-2", H200, "node-3", H200, SCHEDULERS, H200);
  static final Map<String, Integer> CARDS =
      Map.of("node-0", 2, "node-1", 3, "node-2", 2, "node-3", 2, SCHEDULERS, 2);

  private static final PatchContext JSON = PatchContext.of(PatchType.JSON);
  private static final PatchContext MERGE = PatchContext.of(PatchType.JSON_MERGE);

  private final LoadedCluster load;
  private final Cluster cluster;
  private final Random random;

  RandomNodes(LoadedCluster load) {
    this.load = load;
    this.cluster = load.cluster;
    this.random = load.random;
  }

  void addAll() {
    MEMORY.keySet().forEach(this::addNode);
  }

  private void addNode(String name) {
    addCards(name);
    cluster.client.nodes().withName(name).editStatus(node -> new NodeBuilder(node).editOrNewStatus()
        .addToAllocatable("cpu", new Quantity(Integer.toString(CPUS))).addToAllocatable("pods", new Quantity("20"))
        .endStatus().build());
  }

  private void addCards(String name) {
    long memory = Objects.requireNonNull(MEMORY.get(name));
    if (name.equals("node-3")) {
      GpuNodeSpec all = new GpuNodeSpec(GpuNodeSpec.Allocator.Controller,
          List.of(GpuNodeSpec.PublishedMode.Whole, GpuNodeSpec.PublishedMode.Shared, GpuNodeSpec.PublishedMode.Mig),
          null);
      cluster.add(GpuNodes.ready(name, all, GpuNodes.migCards(name, 2)));
      return;
    }
    if (name.equals(SCHEDULERS)) {
      cluster.add(GpuNodes.leftToScheduler(name, 2, "NVIDIA H200", memory));
      return;
    }
    cluster.add(GpuNodes.ready(name, Objects.requireNonNull(CARDS.get(name)),
        memory == H200 ? "NVIDIA H200" : "NVIDIA A100-SXM4-80GB", memory));
  }

  /** Plugins report that granted sizes are in force. */
  void putSizesIntoForce() {
    for (ResourceClaim claim : load.claims()) {
      String granted = claim.getMetadata().getAnnotations().getOrDefault(Driver.GRANTED_SIZES_ANNOTATION, "");
      List<AllocatedDeviceStatus> statuses = new ArrayList<>();
      for (DeviceRequestAllocationResult result : AllocatedCards.results(claim)) {
        for (String one : granted.split(";", -1)) {
          if (result.getShareID() != null && one.contains(result.getShareID())) {
            statuses.add(new AllocatedDeviceStatusBuilder().withDriver(Driver.NAME).withPool(result.getPool())
                .withDevice(result.getDevice()).withShareID(result.getShareID())
                .withData(new RawExtension(Map.of(DeviceStatusData.SIZE_IN_FORCE.key(),
                    one.substring(one.indexOf(':') + 1))))
                .build());
          }
        }
      }
      if (!statuses.isEmpty()) {
        load.did("size in force");
        LoadedCluster.attempt(() -> cluster.client.resource(
            new ResourceClaimBuilder(claim).editStatus().withDevices(statuses).endStatus().build()).updateStatus());
      }
    }
  }

  void change() {
    String node = load.any(MEMORY.keySet().stream().filter(name -> !name.equals(SCHEDULERS)).sorted().toList())
        .orElseThrow();
    switch (random.nextInt(8)) {
      case 0 -> {
        load.did("a node that is ready or not");
        setReady(node, random.nextBoolean());
      }
      case 1 -> {
        load.did("a card that is cordoned or not");
        setCordoned(node, random.nextBoolean());
      }
      case 2 -> {
        load.did("a node that is unschedulable or not");
        setUnschedulable(node, random.nextBoolean());
      }
      case 3 -> {
        load.did("a rule that taints devices, or none");
        setTainted(node, random.nextBoolean());
      }
      case 4 -> {
        load.did("a slice that goes");
        load.any(cluster.slices()).ifPresent(slice -> LoadedCluster.attempt(
            () -> cluster.client.resource(slice).delete()));
      }
      case 5, 6 -> {
        load.did("another allocator");
        setAllocator(SWITCHED, random.nextInt(3) > 0);
      }
      default -> {
        load.did("a node that comes or goes");
        if (cluster.client.resources(GpuNode.class).withName(node).get() == null) {
          addNode(node);
        } else {
          removeNode(node);
        }
      }
    }
  }

  private void setAllocator(String node, boolean controller) {
    LoadedCluster.attempt(() -> cluster.client.resources(GpuNode.class).withName(node).patch(MERGE,
        "{\"spec\": {\"allocator\": \"" + (controller ? "Controller" : "Scheduler") + "\"}}"));
  }

  private void setReady(String node, boolean ready) {
    LoadedCluster.attempt(() -> cluster.client.resources(GpuNode.class).withName(node).subresource("status").patch(JSON,
        "[{\"op\": \"replace\", \"path\": \"/status/conditions/0/status\", \"value\": \""
            + (ready ? "True" : "False") + "\"}]"));
  }

  private void setCordoned(String node, boolean cordoned) {
    LoadedCluster.attempt(() -> cluster.client.resources(GpuNode.class).withName(node).patch(JSON,
        "[{\"op\": \"add\", \"path\": \"/spec/cordoned\", \"value\": [" + (cordoned ? "\"GPU-" + node + "-0\"" : "")
            + "]}]"));
  }

  private void setUnschedulable(String node, boolean unschedulable) {
    LoadedCluster.attempt(() -> cluster.client.nodes().withName(node).patch(MERGE,
        "{\"spec\": {\"unschedulable\": " + unschedulable + "}}"));
  }

  private void setTainted(String node, boolean tainted) {
    var rule = cluster.client.resources(DeviceTaintRule.class).withName(node);
    if (tainted && rule.get() == null) {
      cluster.client
          .resource(new TaintRuleBuilder(node).driver(Driver.NAME).pool(node + "/gpu").device("gpu-1-shared")
              .taint("example.com/away", null))
          .create();
    } else if (!tainted) {
      rule.delete();
    }
  }

  /** The node's pods go with it. */
  private void removeNode(String node) {
    cluster.client.resources(GpuNode.class).withName(node).delete();
    cluster.client.nodes().withName(node).delete();
    load.pods().stream().filter(pod -> node.equals(pod.getSpec().getNodeName()))
        .forEach(pod -> LoadedCluster.attempt(() -> cluster.client.resource(pod).delete()));
  }

  void addMissing() {
    MEMORY.keySet().stream().filter(node -> cluster.client.resources(GpuNode.class).withName(node).get() == null)
        .forEach(this::addNode);
  }

  /** All are there again, and can be used. */
  void mend() {
    addMissing();
    for (String node : MEMORY.keySet()) {
      setReady(node, true);
      setCordoned(node, false);
      setUnschedulable(node, false);
      setTainted(node, false);
    }
    setAllocator(SWITCHED, true);
  }

  /** One kind of change that pods may have waited for, on all nodes. */
  void mendOneKind() {
    int kind = random.nextInt(4);
    for (String node : MEMORY.keySet()) {
      switch (kind) {
        case 0 -> setReady(node, true);
        case 1 -> setCordoned(node, false);
        case 2 -> setUnschedulable(node, false);
        default -> setTainted(node, false);
      }
    }
  }
}
