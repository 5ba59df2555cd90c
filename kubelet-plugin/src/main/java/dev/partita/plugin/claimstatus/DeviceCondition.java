package dev.partita.plugin.claimstatus;

/**
 * What the plugin says of a claim's device. The constants are spelt as they are in the claim's status, as are those of
 * {@link Reason}.
 */
public enum DeviceCondition {
  Ready,
  WithinMemoryLimit,
  CoreLimitEnforced,
  WithinCoreLimit;

  /** Why a condition is as it is. */
  public enum Reason {
    Prepared,
    WithinLimit,
    OverheadBeyondLimit,
    LimitExceeded,
    LedgerBypassed,
    Enforced,
    SeveralCards,
    NoEvents,
    EventFailed,
    TooManyStreams,
    CaptureStateUnknown,
    Other,
    CoreLimitExceeded,
    NotMeasured
  }
}
