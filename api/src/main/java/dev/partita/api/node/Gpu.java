package dev.partita.api.node;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.partita.api.MigSlot;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One card, as NVML describes it.
 *
 * @param index NVML's index on the node, from 0
 * @param minor number of its device node, {@code /dev/nvidia<minor>}
 * @param uuid {@code GPU-…}
 * @param productName such as "NVIDIA H200"
 * @param model short name: {@link dev.partita.api.Driver#modelOf}
 * @param brand such as "Nvidia"
 * @param architecture such as "Hopper"
 * @param cudaComputeCapability such as "9.0"
 * @param memoryBytes device memory in bytes, before any reserve
 * @param reserved what of it is not sold to shares; null if that is nothing
 * @param pciBusId domain:bus:device.function, such as 0000:1b:00.0; null if not known
 * @param pcieRoot PCIe root complex, such as pci0000:17; null if not known
 * @param numaNode NUMA node; null if not known
 * @param nvlinkDomain cards with the same value reach each other over NVLink; null without NVLink
 * @param nvlinkPeers cards of the node to which its NVLinks lead directly; none where they all lead to switches, over
 *        which every card of the domain is as near as any other
 * @param migProfiles which MIG instances the node's plugin can make of the card; none where the card or the plugin
 *        cannot
 * @param health whether the card can be used
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Gpu(
    int index,
    int minor,
    String uuid,
    String productName,
    String model,
    String brand,
    String architecture,
    String cudaComputeCapability,
    @JsonPropertyDescription("Device memory in bytes, before any reserve.") long memoryBytes,
    @JsonPropertyDescription("What of the memory is not sold to shares.") @Nullable GpuReserve reserved,
    @Nullable String pciBusId,
    @Nullable String pcieRoot,
    @Nullable Integer numaNode,
    @Nullable String nvlinkDomain,
    @JsonPropertyDescription("Cards of the node to which its NVLinks lead directly, and not over switches.")
    @JsonInclude(JsonInclude.Include.NON_EMPTY) List<NvlinkPeer> nvlinkPeers,
    @JsonPropertyDescription("Which MIG instances the node's plugin can make of the card.")
    @JsonInclude(JsonInclude.Include.NON_EMPTY) List<MigProfile> migProfiles,
    GpuHealth health) {

  @SuppressWarnings("ConstantValue") // Jackson hands in null for what a document leaves out
  public Gpu {
    nvlinkPeers = nvlinkPeers == null ? List.of() : List.copyOf(nvlinkPeers);
    migProfiles = migProfiles == null ? List.of() : List.copyOf(migProfiles);
  }

  /** A card of which nothing is reserved, no MIG instances are made, and no NVLink leads to another one directly. */
  public Gpu(
      int index,
      int minor,
      String uuid,
      String productName,
      String model,
      String brand,
      String architecture,
      String cudaComputeCapability,
      long memoryBytes,
      @Nullable String pciBusId,
      @Nullable String pcieRoot,
      @Nullable Integer numaNode,
      @Nullable String nvlinkDomain,
      GpuHealth health) {
    this(
        index, minor, uuid, productName, model, brand, architecture, cudaComputeCapability, memoryBytes, null, pciBusId,
        pcieRoot,
        numaNode, nvlinkDomain, List.of(), List.of(), health);
  }

  /** The same card with other MIG profiles. */
  public Gpu withMigProfiles(List<MigProfile> profiles) {
    return new Gpu(
        index, minor, uuid, productName, model, brand, architecture, cudaComputeCapability, memoryBytes, reserved,
        pciBusId, pcieRoot,
        numaNode, nvlinkDomain, nvlinkPeers, profiles, health);
  }

  /** The same card with other NVLinks that lead to cards directly. */
  public Gpu withNvlinkPeers(List<NvlinkPeer> peers) {
    return new Gpu(
        index, minor, uuid, productName, model, brand, architecture, cudaComputeCapability, memoryBytes, reserved,
        pciBusId, pcieRoot,
        numaNode, nvlinkDomain, peers, migProfiles, health);
  }

  /** The same card in another state of health. */
  public Gpu withHealth(GpuHealth now) {
    return new Gpu(
        index, minor, uuid, productName, model, brand, architecture, cudaComputeCapability, memoryBytes, reserved,
        pciBusId, pcieRoot,
        numaNode, nvlinkDomain, nvlinkPeers, migProfiles, now);
  }

  /** The profile of an instance, if the card offers it at that place. */
  public Optional<MigProfile> migProfile(MigSlot slot) {
    return migProfiles.stream()
        .filter(profile -> profile.label().equals(slot.profile()) && profile.mayStartAt(slot.start())).findFirst();
  }

  /**
   * The memory that shares can be made of, in bytes: without what the driver keeps, and without what the node's spec
   * or, where that says nothing, its plugin reserves besides, and as many percent of that as the node sells. Never
   * negative.
   */
  public long sellableBytes(GpuNodeSpec spec) {
    long driver = reserved == null ? 0 : reserved.driverBytes();
    long besides =
        spec.reservedMemory() != null ? spec.reservedMemoryBytes() : reserved == null ? 0 : reserved.configuredBytes();
    long own = Math.max(0, memoryBytes - Math.max(0, driver) - Math.max(0, besides));
    return own / 100 * spec.soldPercent() + own % 100 * spec.soldPercent() / 100;
  }
}
