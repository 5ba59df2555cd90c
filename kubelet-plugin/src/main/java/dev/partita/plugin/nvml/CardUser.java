package dev.partita.plugin.nvml;

import java.util.OptionalInt;

/**
 * A process that NVML lists on a card, whether or not NVML says what it holds.
 *
 * @param pid in the pid namespace of this process
 * @param gpuInstance the driver's number of the MIG instance that it uses; empty if it uses none, or NVML does not say
 */
public record CardUser(long pid, OptionalInt gpuInstance) {}
