package dev.partita.plugin.inventory;

/** Why a condition of a GpuNode is as it is. The constants are spelt as in it. */
public enum NodeReason {
  GpusFound,
  FilesUsed,
  WrongCards,
  NoGpus,
  NoDriver,
  NvmlFailed,
  NvmlDoesNotAnswer,
  NotRead
}
