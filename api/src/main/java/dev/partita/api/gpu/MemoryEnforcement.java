package dev.partita.api.gpu;

/** Who holds the shares of a card to their memory. */
public enum MemoryEnforcement {
  /** The interception library in their containers. */
  Interception,
  /**
   * The library, and besides it the driver, by a limit on the cgroup of each of their pods (NVML's
   * nvmlDeviceSetMemoryLimits, driver 615 and later): that counts what gets round the library, too.
   */
  Driver,
  /** Nobody: of an opaque card shares are what the books say, and nothing stops a program that takes more. */
  None
}
