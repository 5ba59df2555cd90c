package dev.partita.plugin.nvml;

import dev.partita.api.gpu.MigProfile;
import java.util.List;

/** Reads and changes the MIG instances of cards, and lists the processes on a card. For one thread at a time. */
public interface MigControl {
  /**
   * What is there now.
   *
   * @param card the card's UUID
   */
  MigState mig(String card) throws NvmlException;

  /**
   * Every process that is on the card or on one of its MIG instances, as far as this pid namespace sees it.
   *
   * @throws NvmlException if the driver does not tell of all
   */
  List<CardUser> users(String card) throws NvmlException;

  /**
   * Switches the card's MIG mode. All instances must be gone before it is switched off.
   *
   * @throws NvmlException if that does not take effect at once, for example since somebody uses the card; then nothing
   *         is left pending
   */
  void switchMig(String card, boolean on) throws NvmlException;

  /**
   * Makes a GPU instance at its place, and of it one compute instance that has all of it.
   *
   * @param profile the name, such as 1g.18gb
   * @param start first memory slice
   */
  void makeInstance(String card, String profile, int start) throws NvmlException;

  /**
   * Ends a GPU instance with its compute instances.
   *
   * @param gpuInstance the driver's number
   * @throws NvmlException if a process uses it
   */
  void endInstance(String card, int gpuInstance) throws NvmlException;

  /**
   * A card's MIG mode and GPU instances.
   *
   * @param on whether the mode is on; without it there are no instances
   */
  record MigState(boolean on, List<GpuInstance> instances) {
    public MigState {
      instances = List.copyOf(instances);
    }
  }

  /**
   * A GPU instance.
   *
   * @param id the driver's number
   * @param profile the name, such as 1g.18gb; empty for one that the driver has no name for
   * @param start first memory slice
   * @param size memory slices
   * @param computeInstances of it, by number
   */
  record GpuInstance(int id, String profile, int start, int size, List<ComputeInstance> computeInstances) {
    public GpuInstance {
      computeInstances = List.copyOf(computeInstances);
    }

    /** Whether it has one compute instance, which has all of it: what Partita gives to claims is so. */
    public boolean isUndivided() {
      return computeInstances.size() == 1 && computeInstances.getFirst().whole();
    }

    /** Its memory slices. */
    public MigProfile.Placement placement() {
      return new MigProfile.Placement(start, size);
    }
  }

  /**
   * A compute instance: what CUDA calls a device.
   *
   * @param id the driver's number within the GPU instance
   * @param whole whether it has all compute slices of the GPU instance
   * @param uuid {@code MIG-…}; empty if the driver does not tell
   */
  record ComputeInstance(int id, boolean whole, String uuid) {}
}
