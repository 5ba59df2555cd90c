package dev.partita.api.gpu;

import com.fasterxml.jackson.annotation.JsonFormat;
import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.partita.api.MigSlot;
import dev.partita.api.node.GpuNode;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One card, as NVML describes it. It has as many components as a GpuNode has fields for a card, since Jackson reads and
 * writes it as it stands; code makes one of a {@link GpuProduct} and a {@link GpuTopology}.
 *
 * @param index NVML's index on the node, from 0
 * @param minor number of its device node, {@code /dev/nvidia<minor>}; -1 of an opaque card, which has none
 * @param uuid {@code GPU-…}; of an opaque card {@code OPAQUE-…}
 * @param productName as in {@link GpuProduct}
 * @param model as in {@link GpuProduct}
 * @param brand as in {@link GpuProduct}
 * @param architecture as in {@link GpuProduct}
 * @param cudaComputeCapability as in {@link GpuProduct}
 * @param memoryBytes device memory in bytes, before any reserve
 * @param reserved what of it is kept from shares; null if that is nothing
 * @param pciBusId as in {@link GpuTopology}
 * @param pcieRoot as in {@link GpuTopology}
 * @param numaNode as in {@link GpuTopology}
 * @param nvlinkDomain as in {@link GpuTopology}
 * @param nvlinkPeers as in {@link GpuTopology}
 * @param migProfiles which MIG instances the card can be cut into; none where it cannot, or where neither the node's
 *        plugin may do that nor somebody else has
 * @param staticMigInstances the MIG instances that somebody else made of the card; while there is one, the card is
 *        offered as these and in no other way
 * @param memoryEnforcement who holds shares of the card to their memory; null where the node's plugin does not say, or
 *        in a word that is not known here
 * @param opaque of a card that a file on its node lists; null for one of NVIDIA's driver
 * @param servedBy other device plugins that hand out the same card; none where kubelet knows of none
 * @param health whether the card can be used
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Gpu(
    @JsonPropertyDescription("NVML's index of the card on the node, from 0.")
    @Min(0) @Max(Integer.MAX_VALUE) int index,
    @JsonPropertyDescription("Number of its device node, /dev/nvidiaN; -1 of an opaque card.")
    @Min(-1) @Max(Integer.MAX_VALUE) int minor,
    @JsonPropertyDescription("GPU-…; of an opaque card OPAQUE-….") String uuid,
    @JsonPropertyDescription("The vendor's name of the product, such as NVIDIA H200.") String productName,
    @JsonPropertyDescription("Its short name, by which classes are called, such as h200.") String model,
    @JsonPropertyDescription("NVML's name of the brand, such as Nvidia.") String brand,
    @JsonPropertyDescription("Such as Hopper.") String architecture,
    @JsonPropertyDescription("Such as 9.0.") String cudaComputeCapability,
    @JsonPropertyDescription("Device memory in bytes, before any reserve.") long memoryBytes,
    @JsonPropertyDescription("What of the memory is kept from shares.") @Nullable GpuReserve reserved,
    @JsonPropertyDescription("Domain:bus:device.function, such as 0000:1b:00.0.") @Nullable String pciBusId,
    @JsonPropertyDescription("PCIe root complex, such as pci0000:17.") @Nullable String pcieRoot,
    @JsonPropertyDescription("NUMA node of the card, where it is known.") @Min(-1) @Max(Integer.MAX_VALUE)
    @Nullable Integer numaNode,
    @JsonPropertyDescription("Cards with the same value reach each other over NVLink.") @Nullable String nvlinkDomain,
    @JsonPropertyDescription("Cards of the node to which its NVLinks lead directly, and not over switches.")
    @JsonInclude(JsonInclude.Include.NON_EMPTY) List<NvlinkPeer> nvlinkPeers,
    @JsonPropertyDescription("Which MIG instances the card can be cut into, where the node's plugin may do that or somebody else has.")
    @JsonInclude(JsonInclude.Include.NON_EMPTY) List<MigProfile> migProfiles,
    @JsonPropertyDescription("MIG instances that somebody else made of the card. While there is one, the card is offered as these alone.")
    @JsonInclude(JsonInclude.Include.NON_EMPTY) List<StaticMigInstance> staticMigInstances,
    @JsonPropertyDescription("Who holds shares of the card to their memory: the interception library alone, the driver too, or nobody.")
    @JsonFormat(with = JsonFormat.Feature.READ_UNKNOWN_ENUM_VALUES_AS_NULL)
    @Nullable MemoryEnforcement memoryEnforcement,
    @JsonPropertyDescription("Of a card that a file on the node lists: what claims have of it is only counted.")
    @Nullable OpaqueKind opaque,
    @JsonPropertyDescription("Other device plugins of the node that hand out the same card. New claims are kept off it.")
    @JsonInclude(JsonInclude.Include.NON_EMPTY) List<OtherServer> servedBy,
    @JsonPropertyDescription("Whether the card can be used.") GpuHealth health) {

  @SuppressWarnings("ConstantValue") // Jackson hands in null for what a document leaves out
  public Gpu {
    uuid = uuid == null ? "" : uuid;
    productName = productName == null ? "" : productName;
    model = model == null ? "" : model;
    health = health == null ? GpuHealth.HEALTHY : health;
    nvlinkPeers = nvlinkPeers == null ? List.of() : List.copyOf(nvlinkPeers);
    migProfiles = migProfiles == null ? List.of() : List.copyOf(migProfiles);
    staticMigInstances = staticMigInstances == null ? List.of() : List.copyOf(staticMigInstances);
    servedBy = servedBy == null ? List.of() : List.copyOf(servedBy);
  }

  /** A card of which nothing is reserved, and no MIG instances are made. */
  public Gpu(
      int index,
      int minor,
      String uuid,
      GpuProduct product,
      long memoryBytes,
      GpuTopology topology,
      GpuHealth health) {
    this(
        index, minor, uuid, product.productName(), product.model(), product.brand(), product.architecture(),
        product.cudaComputeCapability(), memoryBytes, null, topology.pciBusId(), topology.pcieRoot(),
        topology.numaNode(), topology.nvlinkDomain(), topology.nvlinkPeers(), List.of(), List.of(), null, null,
        List.of(), health);
  }

  /** The same card, of which something is reserved. */
  public Gpu withReserved(@Nullable GpuReserve reserve) {
    return with(reserve, topology(), migProfiles, staticMigInstances, memoryEnforcement, opaque, servedBy, health);
  }

  /** The same card with other MIG profiles. */
  public Gpu withMigProfiles(List<MigProfile> profiles) {
    return with(reserved, topology(), profiles, staticMigInstances, memoryEnforcement, opaque, servedBy, health);
  }

  /** The same card, of which somebody else made these MIG instances. */
  public Gpu withStaticMigInstances(List<StaticMigInstance> instances) {
    return with(reserved, topology(), migProfiles, instances, memoryEnforcement, opaque, servedBy, health);
  }

  /** The same card, whose shares are held to their memory by that. */
  public Gpu withMemoryEnforcement(@Nullable MemoryEnforcement by) {
    return with(reserved, topology(), migProfiles, staticMigInstances, by, opaque, servedBy, health);
  }

  /** The same card, plugged in and linked otherwise. */
  public Gpu withTopology(GpuTopology other) {
    return with(reserved, other, migProfiles, staticMigInstances, memoryEnforcement, opaque, servedBy, health);
  }

  /** The same card in another state of health. */
  public Gpu withHealth(GpuHealth now) {
    return with(reserved, topology(), migProfiles, staticMigInstances, memoryEnforcement, opaque, servedBy, now);
  }

  /** The same as an opaque card, which nobody holds to anything. */
  public Gpu asOpaque(OpaqueKind kind) {
    return with(reserved, topology(), List.of(), List.of(), MemoryEnforcement.None, kind, servedBy, health);
  }

  /** Whether it is known by a file of its node alone. */
  @JsonIgnore
  public boolean isOpaque() {
    return opaque != null;
  }

  /** The same card, which these hand out as well. */
  public Gpu withServedBy(List<OtherServer> others) {
    return with(reserved, topology(), migProfiles, staticMigInstances, memoryEnforcement, opaque, others, health);
  }

  private Gpu with(
      @Nullable GpuReserve reserve,
      GpuTopology place,
      List<MigProfile> profiles,
      List<StaticMigInstance> instances,
      @Nullable MemoryEnforcement by,
      @Nullable OpaqueKind kind,
      List<OtherServer> others,
      GpuHealth state) {
    return new Gpu(
        index, minor, uuid, productName, model, brand, architecture, cudaComputeCapability, memoryBytes, reserve,
        place.pciBusId(), place.pcieRoot(), place.numaNode(), place.nvlinkDomain(), place.nvlinkPeers(), profiles,
        instances, by, kind, others, state);
  }

  /** What is the same for all cards of its product. */
  public GpuProduct product() {
    return new GpuProduct(productName, model, brand, architecture, cudaComputeCapability);
  }

  /** Where it is plugged in, and which cards its NVLinks lead to. */
  public GpuTopology topology() {
    return new GpuTopology(pciBusId, pcieRoot, numaNode, nvlinkDomain, nvlinkPeers);
  }

  /** Whether somebody else has cut it into MIG instances: then Partita makes and ends none, and gives away these. */
  @JsonIgnore
  public boolean isCutByHand() {
    return !staticMigInstances.isEmpty();
  }

  /** The MIG instance that somebody else made there; empty if there is none. */
  public Optional<StaticMigInstance> staticMigInstance(MigSlot slot) {
    return staticMigInstances.stream().filter(instance -> instance.slot().equals(Optional.of(slot))).findFirst();
  }

  /** The profile of an instance, if there can be one at that place. */
  public Optional<MigProfile> migProfile(MigSlot slot) {
    return migProfiles.stream()
        .filter(profile -> profile.label().equals(slot.profile()) && profile.mayStartAt(slot.start())).findFirst();
  }
}
