package dev.partita.plugin.claimstatus;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.gpu.GpuHealth;
import dev.partita.plugin.diagnosis.CardReason;
import dev.partita.plugin.grant.CardIdentity;
import dev.partita.plugin.grant.Grant;
import dev.partita.plugin.grant.WholeCard;
import dev.partita.plugin.nvml.XidEvent;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class HealthWordsTest {
  @ParameterizedTest
  @EnumSource(CardReason.class)
  void everyReasonOfACardIsAConditionsReason(CardReason reason) {
    assertThat(healthy(GpuHealth.unhealthy(reason.name(), "why")).reason().name()).isEqualTo(reason.name());
  }

  @Test
  void everyXidErrorHasOneReasonAndItsNumberInTheMessage() {
    DeviceNotes.Note healthy = healthy(GpuHealth.unhealthy(new XidEvent("GPU-1", 79).reason(), "XID 79 came"));
    assertThat(healthy.reason()).isEqualTo(DeviceCondition.Reason.XidError);
    assertThat(healthy.message()).contains("GPU-1", "XID 79");
  }

  @Test
  void readyFollowsTheHealthOfTheCard() {
    assertThat(notes(GpuHealth.HEALTHY)).extracting(note -> note.type() + "=" + note.status())
        .containsExactly("Ready=True", "Healthy=True");
    assertThat(notes(GpuHealth.unhealthy("GpuIsLost", "gone"))).extracting(note -> note.type() + "=" + note.status())
        .containsExactly("Ready=False", "Healthy=False");
    assertThat(notes(GpuHealth.unhealthy("NvmlDoesNotAnswer", "silence")))
        .extracting(note -> note.type() + "=" + note.status()).containsExactly("Ready=Unknown", "Healthy=Unknown");
  }

  @Test
  void nothingIsSaidOfACardOfWhichNothingIsKnown() {
    assertThat(HealthWords.notes(grant(), "node", Optional.empty()))
        .extracting(note -> note.type() + "=" + note.status()).containsExactly("Ready=True");
  }

  private static DeviceNotes.Note healthy(GpuHealth health) {
    return notes(health).getLast();
  }

  private static List<DeviceNotes.Note> notes(GpuHealth health) {
    return HealthWords.notes(grant(), "node", Optional.of(health));
  }

  private static Grant grant() {
    return new Grant(
        List.of("gpu"), "gpu-0", Optional.empty(),
        new CardIdentity(0, 0, "GPU-1", "NVIDIA H200", 1L << 37, Optional.empty()),
        new WholeCard());
  }
}
