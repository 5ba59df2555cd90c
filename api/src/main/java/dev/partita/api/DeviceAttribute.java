package dev.partita.api;

/**
 * Names of device attributes and capacities in our ResourceSlices. Unqualified ones belong to the driver's domain; they
 * are named as NVIDIA's own DRA driver names them where it has one.
 */
public final class DeviceAttribute {
  /** "gpu", or "mig" for a MIG instance. */
  public static final String TYPE = "type";

  /** "whole", "shared" or "mig": see {@link DeviceMode}. */
  public static final String MODE = "mode";

  /**
   * UUID of the card, also where the device is a MIG instance of it, which gets one of its own only when it is made.
   */
  public static final String UUID = "uuid";
  public static final String PRODUCT_NAME = "productName";

  /** Short model name, as in the model's DeviceClass: see {@link Driver#modelOf}. */
  public static final String MODEL = "model";

  public static final String BRAND = "brand";
  public static final String ARCHITECTURE = "architecture";

  /** Semantic version, such as 9.0.0. */
  public static final String CUDA_COMPUTE_CAPABILITY = "cudaComputeCapability";

  /** Semantic version, such as 580.95.5. */
  public static final String DRIVER_VERSION = "driverVersion";

  /** Semantic version, such as 13.0.0. */
  public static final String CUDA_DRIVER_VERSION = "cudaDriverVersion";

  public static final String INDEX = "index";
  public static final String MINOR = "minor";
  public static final String PCI_BUS_ID = "pciBusID";
  public static final String PCIE_ROOT = "resource.kubernetes.io/pcieRoot";
  public static final String NUMA_NODE = "resource.kubernetes.io/numaNode";

  /** Cards with the same value reach each other over NVLink. */
  public static final String NVLINK_DOMAIN = "nvlinkDomain";

  /** Profile of a MIG instance, such as 1g.18gb. */
  public static final String PROFILE = "profile";

  /** First memory slice of a MIG instance's placement, from 0. */
  public static final String PLACEMENT = "placement";

  /** Capacity: bytes of device memory. */
  public static final String MEMORY = "memory";

  /** Capacity of a shared device: percent of one card's compute, 0 to 100 in steps of 1. */
  public static final String CORES = "cores";

  /** Capacity of a MIG instance: streaming multiprocessors. */
  public static final String MULTIPROCESSORS = "multiprocessors";

  private DeviceAttribute() {}
}
