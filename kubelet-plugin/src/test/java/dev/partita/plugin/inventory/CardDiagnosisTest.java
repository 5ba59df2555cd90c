package dev.partita.plugin.inventory;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.node.GpuHealth;
import dev.partita.plugin.nvml.CardSigns;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class CardDiagnosisTest {
  private final CardDiagnosis diagnosis = new CardDiagnosis();

  @Test
  void nothingIsWrongWithACardOfWhichNvmlTellsNothing() {
    assertThat(diagnosis.of("a", CardSigns.WELL, 0)).isEmpty();
    assertThat(diagnosis.of("a", fabric(CardSigns.Fabric.COMPLETED), 0)).isEmpty();
  }

  @Test
  void anNvswitchMachineWithoutFabricManagerIsNamedWithTheErrorThatProgramsGetAndTheMend() {
    for (CardSigns.Fabric state : Set.of(CardSigns.Fabric.NOT_STARTED, CardSigns.Fabric.IN_PROGRESS)) {
      GpuHealth health = diagnosis.of("a", fabric(state), 0).orElseThrow();
      assertThat(health.reason()).isEqualTo("FabricNotReady");
      assertThat(health.message()).contains("802", "system not yet initialized", "nvidia-fabricmanager");
    }
  }

  @Test
  void aCardThatTheFabricWasSetUpWithoutIsNamedApart() {
    GpuHealth health = diagnosis.of("a", fabric(CardSigns.Fabric.FAILED), 0).orElseThrow();
    assertThat(health.reason()).isEqualTo("FabricFailed");
    assertThat(health.message()).contains("802", "journalctl -u nvidia-fabricmanager");
  }

  @Test
  void memoryThatCannotBeMendedIsWorseThanMemoryThatAResetMends() {
    assertThat(reason(rows(0, CardSigns.Rows.PENDING))).isEqualTo("RowRemappingPending");
    assertThat(reason(rows(1, CardSigns.Rows.PENDING))).isEqualTo("UncorrectableEccErrors");
    assertThat(reason(rows(1, CardSigns.Rows.FAILED))).isEqualTo("RowRemappingFailed");
    assertThat(CardReason.RowRemappingPending.state()).isEqualTo(CardState.DEGRADED);
    assertThat(CardReason.RowRemappingFailed.state()).isEqualTo(CardState.UNHEALTHY);
  }

  @Test
  void aSlowdownCountsOnceItHasLastedAMinuteAndIsOverOnceItHasBeenOverForAMinute() {
    assertThat(after(0, CardSigns.Brake.THERMAL)).isEmpty();
    assertThat(after(59, CardSigns.Brake.THERMAL)).isEmpty();
    assertThat(after(60, CardSigns.Brake.THERMAL)).contains("ThermalSlowdown");
    assertThat(after(70)).contains("ThermalSlowdown");
    assertThat(after(80, CardSigns.Brake.THERMAL)).as("it was over for a moment only").contains("ThermalSlowdown");
    assertThat(after(90)).contains("ThermalSlowdown");
    assertThat(after(149)).contains("ThermalSlowdown");
    assertThat(after(150)).isEmpty();
  }

  @Test
  void aSlowdownThatComesForMomentsNeverCounts() {
    for (int second = 0; second < 600; second += 10) {
      Optional<String> reason = second % 60 < 50 ? after(second, CardSigns.Brake.POWER) : after(second);
      assertThat(reason).isEmpty();
    }
  }

  private Optional<String> after(long seconds, CardSigns.Brake... brakes) {
    CardSigns signs = new CardSigns(0, 0, CardSigns.Rows.GOOD, CardSigns.Fabric.NONE, Set.of(brakes));
    return diagnosis.of("a", signs, Duration.ofSeconds(seconds).toNanos()).map(health -> "" + health.reason());
  }

  private String reason(CardSigns signs) {
    return "" + diagnosis.of("a", signs, 0).orElseThrow().reason();
  }

  private static CardSigns rows(long errors, CardSigns.Rows rows) {
    return new CardSigns(errors, 0, rows, CardSigns.Fabric.NONE, Set.of());
  }

  private static CardSigns fabric(CardSigns.Fabric state) {
    return new CardSigns(0, 0, CardSigns.Rows.GOOD, state, Set.of());
  }
}
