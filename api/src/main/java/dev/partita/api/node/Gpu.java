package dev.partita.api.node;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
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
 * @param pciBusId domain:bus:device.function, such as 0000:1b:00.0; null if not known
 * @param pcieRoot PCIe root complex, such as pci0000:17; null if not known
 * @param numaNode NUMA node; null if not known
 * @param nvlinkDomain cards with the same value reach each other over NVLink; null without NVLink
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
    @Nullable String pciBusId,
    @Nullable String pcieRoot,
    @Nullable Integer numaNode,
    @Nullable String nvlinkDomain,
    GpuHealth health) {}
