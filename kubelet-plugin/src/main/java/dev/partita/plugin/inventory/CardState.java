package dev.partita.plugin.inventory;

import dev.partita.api.node.GpuHealth;
import java.util.Objects;

/** Whether a card can be used, where a user is told: a GpuNode knows no third state. */
public enum CardState {
  HEALTHY,
  UNHEALTHY,
  /** Nobody can tell, since NVML does not answer. */
  UNKNOWN;

  /** What a card's health in the GpuNode means. */
  public static CardState of(GpuHealth health) {
    if (health.state() == GpuHealth.State.Healthy) {
      return HEALTHY;
    }
    return Objects.equals(health.reason(), CardReason.NvmlDoesNotAnswer.name()) ? UNKNOWN : UNHEALTHY;
  }
}
