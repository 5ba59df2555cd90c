package dev.partita.plugin.nvml;

import java.util.OptionalInt;

/**
 * What a process holds of a card.
 *
 * @param pid in the pid namespace of this process
 * @param bytes of device memory, with contexts and modules
 * @param gpuInstance the driver's number of the MIG instance that it uses; empty if it uses none, or NVML does not say
 */
public record ProcessMemory(long pid, long bytes, OptionalInt gpuInstance) {
  /** One that uses the card itself. */
  public ProcessMemory(long pid, long bytes) {
    this(pid, bytes, OptionalInt.empty());
  }
}
