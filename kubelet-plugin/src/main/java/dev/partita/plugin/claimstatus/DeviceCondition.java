package dev.partita.plugin.claimstatus;

/**
 * A condition of a claim's device. The constants are spelt as in the claim's status, and so are those of
 * {@link Reason}.
 */
public enum DeviceCondition {
  Ready,
  Healthy,
  WithinMemoryLimit,
  MemoryLimitEnforced,
  MemoryLent,
  CoreLimitEnforced,
  WithinCoreLimit,
  InstanceMade,
  InstanceFailed;

  /** Why a condition is as it is. */
  public enum Reason {
    Prepared,
    CardUnhealthy,
    CardHealthUnknown,
    CardHealthy,
    XidError,
    GpuIsLost,
    GpuResetRequired,
    NodeRebootRequired,
    PeerToPeerDrainRequired,
    DrainAndResetRequired,
    RecoveryRequired,
    MigModeIsOn,
    MigInstanceIsGone,
    NvmlDoesNotAnswer,
    FabricNotReady,
    FabricFailed,
    RowRemappingFailed,
    UncorrectableEccErrors,
    RowRemappingPending,
    ThermalSlowdown,
    PowerBrake,
    NoGpus,
    NoDriver,
    NvmlFailed,
    WithinLimit,
    OverheadBeyondLimit,
    LimitExceeded,
    LedgerBypassed,
    Enforced,
    NoEvents,
    EventFailed,
    TooManyStreams,
    CaptureStateUnknown,
    Other,
    CoreLimitExceeded,
    NotMeasured,
    Lent,
    NothingLent,
    NotEnforced,
    Made,
    CannotBeMade
  }
}
