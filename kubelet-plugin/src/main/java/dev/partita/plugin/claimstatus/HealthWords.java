package dev.partita.plugin.claimstatus;

import dev.partita.api.gpu.GpuHealth;
import dev.partita.plugin.diagnosis.CardState;
import dev.partita.plugin.grant.Grant;
import dev.partita.plugin.nvml.XidEvent;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Says how well a device's card is: the condition {@code Healthy}, and {@code Ready}, which follows it. A device whose
 * card is unhealthy is not ready, however well it was prepared; one whose card is only degraded is.
 */
final class HealthWords {
  private HealthWords() {}

  /**
   * The conditions.
   *
   * @param health empty if nothing is known: then there is no {@code Healthy}
   */
  static List<DeviceNotes.Note> notes(Grant grant, String nodeName, Optional<GpuHealth> health) {
    String share = ClaimWords.message(grant, nodeName);
    DeviceNotes.Note ready = DeviceNotes.Note.holds(DeviceCondition.Ready, DeviceCondition.Reason.Prepared, share);
    if (health.isEmpty()) {
      return List.of(ready);
    }
    String card = grant.card().productName() + " (" + grant.card().uuid() + ")";
    String why = Objects.requireNonNullElse(health.get().message(), "");
    DeviceCondition.Reason reason = reason(health.get());
    return switch (CardState.of(health.get())) {
      case HEALTHY -> List.of(
          ready,
          DeviceNotes.Note.holds(DeviceCondition.Healthy, reason, "nothing is known to be wrong with " + card));
      case DEGRADED -> List.of(ready, DeviceNotes.Note.fails(DeviceCondition.Healthy, reason, card + ": " + why));
      case UNHEALTHY -> List.of(
          DeviceNotes.Note.fails(
              DeviceCondition.Ready, DeviceCondition.Reason.CardUnhealthy, share + "; the card is unhealthy: " + why),
          DeviceNotes.Note.fails(DeviceCondition.Healthy, reason, card + ": " + why));
      case UNKNOWN -> List.of(
          DeviceNotes.Note.unknown(
              DeviceCondition.Ready, DeviceCondition.Reason.CardHealthUnknown,
              share + "; nobody can tell whether the card works: " + why),
          DeviceNotes.Note.unknown(DeviceCondition.Healthy, reason, card + ": " + why));
    };
  }

  /** The health's reason as a condition may say it: without spaces, and the same for every XID error. */
  private static DeviceCondition.Reason reason(GpuHealth health) {
    if (health.state() == GpuHealth.State.Healthy) {
      return DeviceCondition.Reason.CardHealthy;
    }
    String reason = Objects.requireNonNullElse(health.reason(), "");
    return XidEvent.isReason(reason)
        ? DeviceCondition.Reason.XidError
        : Stream.of(DeviceCondition.Reason.values()).filter(one -> one.name().equals(reason)).findFirst()
            .orElse(DeviceCondition.Reason.CardUnhealthy);
  }
}
