package dev.partita.plugin.inventory;

/** Why a GpuNode is ready or not. The constants are spelt as in its condition. */
public enum NodeReason {
  GpusFound,
  NoGpus,
  NoDriver,
  NvmlFailed,
  NvmlDoesNotAnswer,
  NotRead
}
