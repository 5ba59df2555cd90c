package dev.partita.controller.fleet;

import dev.partita.api.Bytes;
import dev.partita.api.Driver;
import dev.partita.api.device.DeviceStatusData;
import dev.partita.api.gpu.Gpu;
import dev.partita.api.gpu.GpuHealth;
import dev.partita.api.gpu.GpuProduct;
import dev.partita.api.gpu.GpuTopology;
import dev.partita.api.node.GpuNode;
import dev.partita.api.node.GpuNodeSpec;
import dev.partita.api.node.GpuNodeStatus;
import dev.partita.api.node.NodeSetup;
import io.fabric8.kubernetes.api.model.ConditionBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimBuilder;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** GpuNodes and claims as a cluster has them. */
public final class PaperFleet {
  public static final long GIB = 1L << 30;

  private PaperFleet() {}

  /** A ready node with H200s of 140 GiB. */
  public static GpuNode node(String name, int cards) {
    return node(name, GpuNodeSpec.DEFAULT, IntStream.range(0, cards).mapToObj(i -> card(name, i)).toList());
  }

  /** A ready node with these cards. */
  public static GpuNode node(String name, GpuNodeSpec spec, List<Gpu> cards) {
    GpuNode node = new GpuNode();
    node.getMetadata().setName(name);
    node.setSpec(spec);
    node.setStatus(
        new GpuNodeStatus(cards.size(), cards.size() + "x h200", "580.95.05", "13.0", "0.1.0", null, cards,
            List.of(new ConditionBuilder().withType(GpuNode.READY).withStatus("True").withReason("Ready")
                .withLastTransitionTime("2026-01-01T00:00:00Z").build()))
            .withSetup(new NodeSetup(2, "/var/run/cdi", null, true, "/opt/partita", null, true)));
    return node;
  }

  /** A healthy H200. */
  public static Gpu card(String node, int index) {
    return new Gpu(index, index, "GPU-" + node + "-" + index,
        new GpuProduct("NVIDIA H200", "h200", "Nvidia", "Hopper", "9.0"), 140 * GIB,
        new GpuTopology(null, null, null, null, List.of()), GpuHealth.HEALTHY);
  }

  /** A claim that has a share of a card, and a pod of its name. */
  public static ResourceClaim share(String namespace, String name, String node, int card, long gib, int cores) {
    return allocated(namespace, name, node, "gpu-" + card + "-shared",
        Map.of("memory", new Quantity(gib + "Gi"), "cores", new Quantity(String.valueOf(cores))));
  }

  /** A claim that has a card alone, and a pod of its name. */
  public static ResourceClaim whole(String namespace, String name, String node, int card) {
    return allocated(namespace, name, node, "gpu-" + card, Map.of());
  }

  /** A claim that has all of a card in turn with others, and a pod of its name. */
  public static ResourceClaim turn(String namespace, String name, String node, int card) {
    Map<String, Object> parameters = Map.of("apiVersion", "gpu.partita.dev/v1alpha1", "kind", "GpuShareConfig",
        "sharing", Map.of("strategy", "TimeSlicing"));
    return new ResourceClaimBuilder(share(namespace, name, node, card, 1, 0))
        .editStatus().editAllocation().editDevices()
        .addNewConfig().withSource("FromClaim").withNewOpaque().withDriver(Driver.NAME).withParameters(parameters)
        .endOpaque().endConfig()
        .endDevices().endAllocation().endStatus().build();
  }

  /** A claim that has a MIG instance of a card, such as {@code 1g-18gb-0}, and a pod of its name. */
  public static ResourceClaim instance(String namespace, String name, String node, int card, String instance) {
    return allocated(namespace, name, node, "gpu-" + card + "-mig-" + instance, Map.of());
  }

  /** A claim that is about to be given a share of a card. */
  public static ResourceClaim proposed(String namespace, String name, String node, int card, long gib, int cores) {
    String share = node + " gpu-" + card + "-shared=" + gib * GIB + "/" + cores + " #1";
    return new ResourceClaimBuilder()
        .withNewMetadata().withNamespace(namespace).withName(name).withUid(namespace + "-" + name)
        .withCreationTimestamp("2026-01-01T00:00:00Z").addToAnnotations(Driver.PROPOSAL_ANNOTATION, share).endMetadata()
        .withNewSpec().endSpec().build();
  }

  private static ResourceClaim allocated(
      String namespace,
      String name,
      String node,
      String device,
      Map<String, Quantity> consumed) {
    return new ResourceClaimBuilder()
        .withNewMetadata().withNamespace(namespace).withName(name).withUid(namespace + "-" + name)
        .withCreationTimestamp("2026-01-01T00:00:00Z").endMetadata()
        .withNewSpec().endSpec()
        .withNewStatus()
        .withNewAllocation().withNewDevices()
        .addNewResult().withDriver(Driver.NAME).withPool(Driver.poolOf(node)).withDevice(device).withRequest("gpu")
        .withShareID(consumed.isEmpty() ? null : "share-" + name)
        .withConsumedCapacity(consumed.isEmpty() ? null : consumed).endResult()
        .endDevices().endAllocation()
        .addNewReservedFor().withResource("pods").withName(name).withUid("pod-" + name).endReservedFor()
        .endStatus()
        .build();
  }

  /** The claim with what its node's plugin saw it used for. */
  public static ResourceClaim used(ResourceClaim claim, long usedGib, long peakGib, int cores) {
    return with(claim,
        Map.of(DeviceStatusData.MEMORY_USED.key(), Bytes.quantity(usedGib * GIB).toString(),
            DeviceStatusData.MEMORY_PEAK.key(), Bytes.quantity(peakGib * GIB).toString(),
            DeviceStatusData.PRODUCT_NAME.key(), "NVIDIA H200", DeviceStatusData.CORES_USED.key(),
            String.valueOf(cores), DeviceStatusData.PROCESSES.key(), "2"));
  }

  /** The claim with another share like its first, of the same card. */
  public static ResourceClaim twice(ResourceClaim claim) {
    var first = claim.getStatus().getAllocation().getDevices().getResults().getFirst();
    return new ResourceClaimBuilder(claim).editStatus().editAllocation().editDevices()
        .addNewResultLike(first).withRequest("another").withShareID(first.getShareID() + "-2").endResult()
        .endDevices().endAllocation().endStatus().build();
  }

  /** The claim as if it had been allocated then. */
  public static ResourceClaim since(ResourceClaim claim, Instant time) {
    return new ResourceClaimBuilder(claim).editStatus().editAllocation().withAllocationTimestamp(time.toString())
        .endAllocation().endStatus().build();
  }

  /** The claim with that data of its device. */
  public static ResourceClaim with(ResourceClaim claim, Map<String, String> data) {
    var result = claim.getStatus().getAllocation().getDevices().getResults().getFirst();
    return new ResourceClaimBuilder(claim).editStatus()
        .addNewDevice().withDriver(Driver.NAME).withPool(result.getPool()).withDevice(result.getDevice())
        .withShareID(result.getShareID()).withData(data).endDevice()
        .endStatus().build();
  }
}
