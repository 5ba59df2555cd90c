package dev.partita.plugin.nvml;

import java.nio.file.Path;
import java.util.OptionalLong;

/**
 * Limits how much of a card's memory the processes of a cgroup, and of those below it, may have together. NVML 615 has
 * that (nvmlDeviceSetMemoryLimits_v1), for root, cgroup v2 and cards without MIG. A limit goes with its cgroup. For one
 * thread at a time.
 */
public interface MemoryLimitControl {
  /** Lifts a limit: NVML_DEVICE_MEMORY_LIMIT_MAX, as an unsigned number. */
  long NO_LIMIT = -1;

  /**
   * The limit that there is, in bytes.
   *
   * @param card the card's UUID
   * @param cgroup its folder
   * @return empty if there is none
   */
  OptionalLong memoryLimit(String card, Path cgroup) throws NvmlException;

  /**
   * Sets it. An allocation beyond it is out of memory; what is held already stays.
   *
   * @param bytes no more than the card has, or {@link #NO_LIMIT}
   */
  void limitMemory(String card, Path cgroup, long bytes) throws NvmlException;
}
