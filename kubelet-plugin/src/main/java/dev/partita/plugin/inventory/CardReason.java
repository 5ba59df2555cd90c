package dev.partita.plugin.inventory;

/**
 * Why a card is unhealthy, besides XID errors ({@link dev.partita.plugin.nvml.XidEvent#reason}). The constants are
 * spelt as in the GpuNode.
 */
public enum CardReason {
  GpuIsLost,
  GpuResetRequired,
  MigModeIsOn,
  NvmlDoesNotAnswer
}
