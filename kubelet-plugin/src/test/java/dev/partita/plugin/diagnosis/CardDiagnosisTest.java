package dev.partita.plugin.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.gpu.GpuHealth;
import dev.partita.plugin.nvml.CardReading;
import dev.partita.plugin.nvml.CardSigns;
import dev.partita.plugin.nvml.NvmlException;
import dev.partita.plugin.nvml.XidEvent;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CardDiagnosisTest {
  private final CardDiagnosis diagnosis = new CardDiagnosis();

  @Test
  void nothingIsWrongWithACardOfWhichNvmlTellsNothing() {
    assertThat(diagnosis.of("a", CardSigns.WELL, 0)).isEmpty();
    assertThat(diagnosis.of("a", fabric(CardSigns.Fabric.COMPLETED), 0)).isEmpty();
  }

  @Test
  void aCardThatNvmlTellsThePrivilegedAloneIsNotSaidToBeLost() {
    CardReading.Fault refused =
        new CardReading.Fault(1, NvmlException.NO_PERMISSION, "nvmlDeviceGetMemoryInfo: Insufficient Permissions (4)");
    CardReading.Fault lost = new CardReading.Fault(0, NvmlException.GPU_IS_LOST, "GPU is lost");
    GpuHealth health = CardDiagnosis.ofAbsent(1, List.of(lost, refused));
    assertThat(health.reason()).isEqualTo("NvmlDoesNotAnswer");
    assertThat(health.message()).contains("Insufficient Permissions", "MIG mode", "plugin.privileged=true");
    assertThat(CardDiagnosis.ofAbsent(0, List.of(lost, refused)).reason()).isEqualTo("GpuIsLost");
    assertThat(CardDiagnosis.ofAbsent(0, List.of(refused)).reason()).as("the only one that does not answer")
        .isEqualTo("NvmlDoesNotAnswer");
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

  @ParameterizedTest
  @CsvSource({
    "RESET, GpuResetRequired, UNHEALTHY, reset it (nvidia-smi --gpu-reset)",
    "BUS_RESET, GpuResetRequired, UNHEALTHY, PCIe bus",
    "REBOOT, NodeRebootRequired, UNHEALTHY, reboot",
    "DRAIN_P2P, PeerToPeerDrainRequired, UNHEALTHY, end all programs that reach memory of other cards",
    "DRAIN_AND_RESET, DrainAndResetRequired, DEGRADED, let what runs on it end",
    "OTHER, RecoveryRequired, UNHEALTHY, nvidia-smi -q"})
  void whatTheDriverAsksForIsNamedAndWhatToDo(
      CardSigns.Recovery recovery,
      CardReason reason,
      CardState state,
      String words) {
    GpuHealth health = diagnosis.of("a", asked(recovery), 0).orElseThrow();
    assertThat(health.reason()).isEqualTo(reason.name());
    assertThat(CardState.of(health)).isEqualTo(state);
    assertThat(health.message()).contains(words);
  }

  @Test
  void aDriverThatAsksForNothingOrDoesNotTellSaysNothingWrong() {
    assertThat(diagnosis.of("a", asked(CardSigns.Recovery.NONE), 0)).isEmpty();
    assertThat(diagnosis.of("a", asked(CardSigns.Recovery.NOT_TOLD), 0)).isEmpty();
  }

  @Test
  void ofSeveralThingsToDoTheGreatestIsNamed() {
    assertThat(reason(wrongAll(CardSigns.Rows.FAILED, CardSigns.Recovery.REBOOT))).isEqualTo("RowRemappingFailed");
    assertThat(reason(wrongAll(CardSigns.Rows.GOOD, CardSigns.Recovery.REBOOT))).isEqualTo("NodeRebootRequired");
    assertThat(reason(wrongAll(CardSigns.Rows.GOOD, CardSigns.Recovery.RESET))).isEqualTo("FabricNotReady");
    CardSigns pending =
        new CardSigns(0, 0, CardSigns.Rows.PENDING, CardSigns.Fabric.NONE, Set.of(), CardSigns.Recovery.RESET);
    assertThat(reason(pending)).isEqualTo("GpuResetRequired");
  }

  @Test
  void anXidErrorSaysWhatTheDriverAsksForOrElseWhatIsToBeDoneAboutSuchAnError() {
    XidEvent nvlink = new XidEvent("a", 74);
    assertThat(CardDiagnosis.ofXid(nvlink, CardSigns.Recovery.NOT_TOLD).message())
        .startsWith("the driver reported XID 74; an NVLink has failed");
    assertThat(CardDiagnosis.ofXid(nvlink, CardSigns.Recovery.REBOOT).message())
        .startsWith("the driver reported XID 74; the driver asks to start the machine anew");
  }

  private static CardSigns wrongAll(CardSigns.Rows rows, CardSigns.Recovery recovery) {
    return new CardSigns(1, 1, rows, CardSigns.Fabric.NOT_STARTED, Set.of(), recovery);
  }

  private Optional<String> after(long seconds, CardSigns.Brake... brakes) {
    CardSigns signs =
        new CardSigns(0, 0, CardSigns.Rows.GOOD, CardSigns.Fabric.NONE, Set.of(brakes), CardSigns.Recovery.NONE);
    return diagnosis.of("a", signs, Duration.ofSeconds(seconds).toNanos()).map(health -> "" + health.reason());
  }

  private String reason(CardSigns signs) {
    return "" + diagnosis.of("a", signs, 0).orElseThrow().reason();
  }

  private static CardSigns rows(long errors, CardSigns.Rows rows) {
    return new CardSigns(errors, 0, rows, CardSigns.Fabric.NONE, Set.of(), CardSigns.Recovery.NOT_TOLD);
  }

  private static CardSigns fabric(CardSigns.Fabric state) {
    return new CardSigns(0, 0, CardSigns.Rows.GOOD, state, Set.of(), CardSigns.Recovery.NOT_TOLD);
  }

  private static CardSigns asked(CardSigns.Recovery recovery) {
    return new CardSigns(0, 0, CardSigns.Rows.GOOD, CardSigns.Fabric.NONE, Set.of(), recovery);
  }
}
