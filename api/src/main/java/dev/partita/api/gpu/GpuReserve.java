package dev.partita.api.gpu;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;

/**
 * Memory of a card that is kept from shares.
 *
 * @param driverBytes what the driver keeps for itself, as NVML says: CUDA never gives it to anybody
 * @param configuredBytes what the node's plugin was told to keep besides; the node's spec can say otherwise
 */
@JsonIgnoreProperties(ignoreUnknown = true)
public record GpuReserve(
    @JsonPropertyDescription("What the driver keeps for itself, in bytes.") long driverBytes,
    @JsonPropertyDescription("What the node's plugin was told to keep besides, in bytes; spec.reservedMemory takes its place.") long configuredBytes) {}
