package dev.partita.plugin.nvml;

/** What NVML measures of a card. */
public enum CardFigure {
  /** Bytes in use, by whomever. */
  MEMORY_USED_BYTES,
  /** Bytes that are free. */
  MEMORY_FREE_BYTES,
  /** Percent of the last sample period in which a kernel ran. */
  UTILIZATION_PERCENT,
  /** Percent of the last sample period in which memory was read or written. */
  MEMORY_UTILIZATION_PERCENT,
  /** Percent of the last sample period in which the encoder worked. */
  ENCODER_PERCENT,
  /** Percent of the last sample period in which the decoder worked. */
  DECODER_PERCENT,
  /** Percent of the time since the last asking in which any program was at work on the card. */
  ENGINE_PERCENT,
  /** Percent of that time in which tensor cores computed. */
  TENSOR_PERCENT,
  /** Percent of the memory's bandwidth that was used in that time. */
  DRAM_PERCENT,
  /** Watts drawn. */
  POWER_WATTS,
  /** Degrees Celsius of the chip. */
  TEMPERATURE_CELSIUS,
  /** Joules drawn since the driver was loaded. */
  ENERGY_JOULES,
  /** Degrees Celsius of the memory. */
  MEMORY_TEMPERATURE_CELSIUS,
  /** Hertz of the multiprocessors' clock. */
  SM_CLOCK_HERTZ,
  /** Hertz of the memory's clock. */
  MEMORY_CLOCK_HERTZ,
  /** Errors of the memory's chips that were corrected, since the last reset. */
  ECC_DRAM_CORRECTED,
  /** Those that could not be corrected. */
  ECC_DRAM_UNCORRECTED,
  /** Errors of the memory within the chip, such as caches and registers, that were corrected, since the last reset. */
  ECC_SRAM_CORRECTED,
  /** Those that could not be corrected. */
  ECC_SRAM_UNCORRECTED,
  /** Rows of memory that were replaced by spare ones after errors that could be corrected. */
  REMAPPED_ROWS_CORRECTABLE,
  /** Those after errors that could not be corrected. */
  REMAPPED_ROWS_UNCORRECTABLE,
  /** 1 if a row could not be replaced. */
  ROW_REMAPPING_FAILED,
  /** Transmissions over PCIe that were repeated, since the last reset. */
  PCIE_REPLAYS,
  /** Flow control units with a wrong checksum, on all its NVLinks since the last reset. */
  NVLINK_CRC_FLIT_ERRORS,
  /** Data with a wrong checksum, likewise. */
  NVLINK_CRC_DATA_ERRORS,
  /** Transmissions that were repeated, likewise. */
  NVLINK_REPLAYS,
  /** Links that had to be set up anew, likewise. */
  NVLINK_RECOVERIES
}
