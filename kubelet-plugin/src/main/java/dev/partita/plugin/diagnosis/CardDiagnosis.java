package dev.partita.plugin.diagnosis;

import dev.partita.api.gpu.GpuHealth;
import dev.partita.plugin.nvml.CardReading;
import dev.partita.plugin.nvml.CardSigns;
import dev.partita.plugin.nvml.NvmlException;
import dev.partita.plugin.nvml.XidEvent;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Says what is wrong with a card by what NVML tells of it, the worst first. What heals clears by itself: NVML no longer
 * tells it.
 */
final class CardDiagnosis {
  /**
   * The health of a card whose MIG mode is on, of which nobody can have an instance: CUDA sees nothing of such a card
   * but its instances.
   */
  static final GpuHealth MIG_MODE_IS_ON =
      GpuHealth.unhealthy(
          CardReason.MigModeIsOn.name(),
          "its MIG mode is on, and it has no instance with one compute instance of all of it: nvidia-smi mig -i N -cgi PROFILE -C on the node makes one, nvidia-smi -i N -mig 0, while no plugin runs on the node, makes the card usable as a whole, and plugin.mig=true has Partita cut it");

  private final Map<String, Map<CardSigns.Brake, LastingSign>> brakes = new HashMap<>();

  /**
   * What is wrong with the card; empty if nothing is.
   *
   * @param card its UUID
   * @param nanos now, by a clock that cannot be set: the hardware slows a card down for a moment now and then, so only
   *        what lasts counts
   */
  Optional<GpuHealth> of(String card, CardSigns signs, long nanos) {
    Map<CardSigns.Brake, LastingSign> ofCard =
        brakes.computeIfAbsent(card, c -> new EnumMap<>(CardSigns.Brake.class));
    boolean hot = lasts(ofCard, CardSigns.Brake.THERMAL, signs, nanos);
    boolean braked = lasts(ofCard, CardSigns.Brake.POWER, signs, nanos);
    if (signs.rows() == CardSigns.Rows.FAILED) {
      return wrong(
          CardReason.RowRemappingFailed,
          "a faulty row of its memory could not be remapped: have the card replaced (nvidia-smi -q -d ROW_REMAPPER)");
    }
    Optional<GpuHealth> asked = asked(signs.recovery());
    if (signs.recovery() == CardSigns.Recovery.REBOOT) {
      return asked;
    }
    if (signs.fabric() == CardSigns.Fabric.NOT_STARTED || signs.fabric() == CardSigns.Fabric.IN_PROGRESS) {
      return wrong(
          CardReason.FabricNotReady,
          "the NVSwitch fabric that it is part of is not set up, so every CUDA program fails with error 802 (system not yet initialized): start nvidia-fabricmanager on the node, in the driver's version (systemctl enable --now nvidia-fabricmanager)");
    }
    if (signs.fabric() == CardSigns.Fabric.FAILED) {
      return wrong(
          CardReason.FabricFailed,
          "the NVSwitch fabric was set up without it, so CUDA programs fail on it with error 802 (system not yet initialized): see what the fabric manager says of it (journalctl -u nvidia-fabricmanager, nvidia-smi -q), reset the card, and have it looked at if that does not help");
    }
    if (signs.dramErrors() > 0 || signs.sramErrors() > 0) {
      return wrong(
          CardReason.UncorrectableEccErrors,
          "uncorrectable ECC errors " + (signs.sramErrors() > 0 ? "in its caches" : "in its memory")
              + " since its last reset: reset it (nvidia-smi --gpu-reset), and have it replaced if they come again (nvidia-smi -q -d ECC)");
    }
    if (asked.isPresent()) {
      return asked;
    }
    if (signs.rows() == CardSigns.Rows.PENDING) {
      return wrong(
          CardReason.RowRemappingPending,
          "a faulty row of its memory will be remapped with the next reset: reset the card once it is idle (nvidia-smi --gpu-reset)");
    }
    if (hot) {
      return wrong(
          CardReason.ThermalSlowdown,
          "it has been too hot for a minute, so its hardware slows it down: look at fans and airflow (nvidia-smi -q -d TEMPERATURE,PERFORMANCE)");
    }
    return braked
        ? wrong(
            CardReason.PowerBrake,
            "the machine has braked its power for a minute, so it is slow: look at the power supply (nvidia-smi -q -d POWER,PERFORMANCE)")
        : Optional.empty();
  }

  /**
   * The health of a card with an XID error that is not over.
   *
   * @param recovery what the driver asks for; where that is something, it goes before what is to be done about any such
   *        error
   */
  static GpuHealth ofXid(XidEvent xid, CardSigns.Recovery recovery) {
    String what = asked(recovery).map(GpuHealth::message).orElse(xid.mend());
    return GpuHealth.unhealthy(xid.reason(), "the driver reported " + xid.reason() + "; " + what);
  }

  /**
   * The health of a card that does not answer.
   *
   * @param index of its devices
   * @param faults of the cards that do not answer
   */
  static GpuHealth ofAbsent(int index, List<CardReading.Fault> faults) {
    for (CardReading.Fault fault : faults) {
      boolean its = faults.size() == 1 || fault.index() == index;
      if (its && fault.code() == NvmlException.RESET_REQUIRED) {
        return GpuHealth.unhealthy(CardReason.GpuResetRequired.name(),
            "NVML says that the card must be reset: " + fault.message());
      }
      if (its && fault.code() == NvmlException.NO_PERMISSION) { // nvml.h: of a card in MIG mode
        return GpuHealth.unhealthy(CardReason.NvmlDoesNotAnswer.name(),
            "NVML tells the plugin nothing of the card (" + fault.message()
                + "): of one whose MIG mode is on it tells those alone who are privileged. Install with plugin.privileged=true, or switch its MIG mode off (while no plugin runs on the node: nvidia-smi -i N -mig 0)");
      }
    }
    String detail = faults.isEmpty() ? "NVML no longer lists it" : faults.getFirst().message();
    return GpuHealth.unhealthy(CardReason.GpuIsLost.name(), "the card does not answer: " + detail);
  }

  /** What the driver asks for; empty if that is nothing, or it does not tell. */
  private static Optional<GpuHealth> asked(CardSigns.Recovery recovery) {
    return switch (recovery) {
      case NOT_TOLD, NONE -> Optional.empty();
      case RESET ->
          wrong(
              CardReason.GpuResetRequired,
              "the driver asks for a reset of the card: end what runs on it, then reset it (nvidia-smi --gpu-reset)");
      case BUS_RESET ->
          wrong(
              CardReason.GpuResetRequired,
              "the driver asks for a reset of the card's PCIe bus: end what runs on it, then reset the bus, or start the machine anew");
      case REBOOT ->
          wrong(
              CardReason.NodeRebootRequired,
              "the driver asks to start the machine anew, since the error may have left the operating system inconsistent: drain the node (kubectl drain), then reboot it");
      case DRAIN_P2P ->
          wrong(
              CardReason.PeerToPeerDrainRequired,
              "the driver asks to end all programs that reach memory of other cards, and to switch off UVM persistence mode; it then says what else is to be done (GPU Recovery Action in nvidia-smi -q)");
      case DRAIN_AND_RESET ->
          wrong(
              CardReason.DrainAndResetRequired,
              "a part of the card, such as some of its memory, is out of use until its next reset: let what runs on it end, then reset it (nvidia-smi --gpu-reset)");
      case OTHER ->
          wrong(
              CardReason.RecoveryRequired,
              "the driver asks for something that this version does not know: see GPU Recovery Action in nvidia-smi -q");
    };
  }

  private static boolean lasts(
      Map<CardSigns.Brake, LastingSign> ofCard,
      CardSigns.Brake brake,
      CardSigns signs,
      long nanos) {
    return ofCard.computeIfAbsent(brake, b -> new LastingSign()).update(signs.brakes().contains(brake), nanos);
  }

  private static Optional<GpuHealth> wrong(CardReason reason, String message) {
    return Optional.of(GpuHealth.unhealthy(reason.name(), message));
  }
}
