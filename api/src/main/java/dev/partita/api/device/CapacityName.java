package dev.partita.api.device;

/** Names of the capacities of devices in our ResourceSlices; they belong to the driver's domain. */
public final class CapacityName {
  /** Bytes of device memory. */
  public static final String MEMORY = "memory";

  /** Of a shared device: percent of one card's compute, 0 to 100 in steps of 1. */
  public static final String CORES = "cores";

  /** Of a MIG instance: streaming multiprocessors. */
  public static final String MULTIPROCESSORS = "multiprocessors";

  private CapacityName() {}
}
