package dev.partita.plugin.claimstatus;

/** The reason of an event that the plugin makes on a claim. The constants are spelt as in the event. */
public enum EventReason {
  Prepared(false),
  PrepareFailed(true),
  Released(false),
  Resized(false),
  ResizeWaits(true),
  MemoryRecalled(true),
  MpsDaemonEnded(true),
  GpuUnhealthy(true),
  GpuHealthy(false),
  LimitExceeded(true),
  LedgerBypassed(true),
  CoreLimitExceeded(true),
  ProcessKilled(true),
  TooManyLocks(true),
  UsageRegionGrown(true);

  private final boolean warning;

  EventReason(boolean warning) {
    this.warning = warning;
  }

  boolean isWarning() {
    return warning;
  }
}
