package dev.partita.plugin.diagnosis;

import java.util.Optional;
import java.util.stream.Stream;

/**
 * Why a card is unhealthy, besides XID errors ({@link dev.partita.plugin.nvml.XidEvent#reason}). The constants are
 * spelt as in the GpuNode.
 */
public enum CardReason {
  GpuIsLost(CardState.UNHEALTHY),
  GpuResetRequired(CardState.UNHEALTHY),
  NodeRebootRequired(CardState.UNHEALTHY),
  PeerToPeerDrainRequired(CardState.UNHEALTHY),
  DrainAndResetRequired(CardState.DEGRADED),
  RecoveryRequired(CardState.UNHEALTHY),
  MigModeIsOn(CardState.UNHEALTHY),
  MigInstanceIsGone(CardState.UNHEALTHY),
  NvmlDoesNotAnswer(CardState.UNKNOWN),
  FabricNotReady(CardState.UNHEALTHY),
  FabricFailed(CardState.UNHEALTHY),
  RowRemappingFailed(CardState.UNHEALTHY),
  UncorrectableEccErrors(CardState.UNHEALTHY),
  RowRemappingPending(CardState.DEGRADED),
  ThermalSlowdown(CardState.DEGRADED),
  PowerBrake(CardState.DEGRADED);

  private final CardState state;

  CardReason(CardState state) {
    this.state = state;
  }

  /** What that means for who has the card. */
  public CardState state() {
    return state;
  }

  /** The reason that is spelt so; empty for that of an XID error. */
  static Optional<CardReason> named(String name) {
    return Stream.of(values()).filter(reason -> reason.name().equals(name)).findFirst();
  }
}
