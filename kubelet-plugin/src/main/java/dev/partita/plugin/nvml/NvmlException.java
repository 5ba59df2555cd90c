package dev.partita.plugin.nvml;

/** NVML refused a call, or the library cannot be used. */
public final class NvmlException extends Exception {
  private static final long serialVersionUID = 1L;

  /** The card fell off the bus, NVML_ERROR_GPU_IS_LOST. */
  public static final int GPU_IS_LOST = 15;

  /** NVML did not come back in time, NVML_ERROR_TIMEOUT. */
  public static final int TIMEOUT = 10;

  /** The card must be reset, NVML_ERROR_RESET_REQUIRED. */
  public static final int RESET_REQUIRED = 16;

  /** There is no such card or instance, NVML_ERROR_NOT_FOUND. */
  public static final int NOT_FOUND = 6;

  /** Only who is privileged is told that, NVML_ERROR_NO_PERMISSION. */
  public static final int NO_PERMISSION = 4;

  /** The card or the driver cannot do that, NVML_ERROR_NOT_SUPPORTED. */
  public static final int NOT_SUPPORTED = 3;

  /** The kernel's part of the driver is not loaded, NVML_ERROR_DRIVER_NOT_LOADED. */
  public static final int DRIVER_NOT_LOADED = 9;

  private final int code;

  /**
   * @param function the NVML function, or what was tried
   * @param code nvmlReturn_t, or 0 if the library itself could not be used
   * @param description NVML's own words
   */
  public NvmlException(String function, int code, String description) {
    super(function + ": " + description + (code == 0 ? "" : " (" + code + ")"));
    this.code = code;
  }

  /** nvmlReturn_t; 0 if the library itself could not be used. */
  public int code() {
    return code;
  }
}
