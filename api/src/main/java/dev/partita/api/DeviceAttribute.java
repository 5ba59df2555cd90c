package dev.partita.api;

/**
 * Names of device attributes and capacities in our ResourceSlices. Unqualified ones belong to the driver's domain; they are
 * named as NVIDIA's own DRA driver names them where it has one.
 */
public final class DeviceAttribute {
  /** "gpu" ("mig" will follow). */
  public static final String TYPE = "type";

  /** "whole" or "shared": see {@link DeviceMode}. */
  public static final String MODE = "mode";

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

  /** Capacity: bytes of device memory. */
  public static final String MEMORY = "memory";

  /** Capacity of a shared device: percent of one card's compute, 0 to 100 in steps of 1. */
  public static final String CORES = "cores";

  private DeviceAttribute() {}
}
