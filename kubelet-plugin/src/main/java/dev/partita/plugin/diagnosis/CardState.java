package dev.partita.plugin.diagnosis;

import dev.partita.api.gpu.GpuHealth;
import java.util.Optional;

/** What a card's health means for who has the card. A GpuNode knows only whether it gets new claims. */
public enum CardState {
  HEALTHY,
  /** It works, but slower, or it is to be reset when it is idle. It gets no new claims. */
  DEGRADED,
  /** Programs on it fail, or may get wrong results. */
  UNHEALTHY,
  /** Nobody can tell, since NVML does not answer. */
  UNKNOWN;

  /** What a card's health in the GpuNode means. */
  public static CardState of(GpuHealth health) {
    return health.state() == GpuHealth.State.Healthy
        ? HEALTHY
        : Optional.ofNullable(health.reason()).flatMap(CardReason::named).map(CardReason::state).orElse(UNHEALTHY);
  }
}
