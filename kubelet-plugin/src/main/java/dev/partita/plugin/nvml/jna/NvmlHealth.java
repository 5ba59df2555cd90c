package dev.partita.plugin.nvml.jna;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.IntByReference;
import com.sun.jna.ptr.LongByReference;
import dev.partita.plugin.nvml.CardSigns;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/** Asks NVML how well a card is; what the card or the driver does not tell is as on one that is well. */
record NvmlHealth(NvmlCalls nvml, Pointer device) {
  static final int FABRIC_BYTES = 28; // nvmlGpuFabricInfo_t: clusterUuid, status, cliqueId, state
  static final int FABRIC_STATUS = 16;
  static final int FABRIC_STATE = 24;
  static final int CORRECTED = 0; // NVML_MEMORY_ERROR_TYPE_CORRECTED
  static final int UNCORRECTED = 1; // NVML_MEMORY_ERROR_TYPE_UNCORRECTED
  private static final int VOLATILE = 0; // NVML_VOLATILE_ECC: since the driver was loaded or the card was reset
  static final int DRAM = 2; // NVML_MEMORY_LOCATION_DRAM
  static final int SRAM = 7; // NVML_MEMORY_LOCATION_SRAM
  private static final int RECOVERY_ACTION = 230; // NVML_FI_DEV_GET_GPU_RECOVERY_ACTION
  private static final long HW_THERMAL_SLOWDOWN = 0x40; // nvmlClocksEventReasonHwThermalSlowdown
  private static final long HW_POWER_BRAKE = 0x80; // nvmlClocksEventReasonHwPowerBrakeSlowdown

  CardSigns read() {
    return new CardSigns(errors(UNCORRECTED, DRAM).orElse(0), errors(UNCORRECTED, SRAM).orElse(0), rows(), fabric(),
        brakes(), recovery());
  }

  /** Errors of that type since the last reset; empty if the card has no ECC, or the driver does not tell. */
  OptionalLong errors(int type, int location) {
    LongByReference count = new LongByReference();
    return nvml.answers(new String[]{"nvmlDeviceGetMemoryErrorCounter"}, device, type, VOLATILE, location, count)
        ? OptionalLong.of(count.getValue())
        : OptionalLong.empty();
  }

  /**
   * Rows of memory that spare ones have replaced, or are to replace.
   *
   * @param correctable how many after errors that could be corrected
   * @param uncorrectable how many after errors that could not
   * @param pending whether some are replaced at the next reset only
   * @param failed whether one could not be replaced
   */
  record RemappedRows(long correctable, long uncorrectable, boolean pending, boolean failed) {}

  /** Empty if the card replaces no rows, or the driver does not tell. */
  Optional<RemappedRows> remappedRows() {
    IntByReference correctable = new IntByReference();
    IntByReference uncorrectable = new IntByReference();
    IntByReference pending = new IntByReference();
    IntByReference failed = new IntByReference();
    boolean told =
        nvml.answers(new String[]{"nvmlDeviceGetRemappedRows"}, device, correctable, uncorrectable, pending, failed);
    return told
        ? Optional.of(new RemappedRows(Integer.toUnsignedLong(correctable.getValue()),
            Integer.toUnsignedLong(uncorrectable.getValue()), pending.getValue() != 0, failed.getValue() != 0))
        : Optional.empty();
  }

  private CardSigns.Rows rows() {
    return remappedRows()
        .map(
            rows -> rows.failed()
                ? CardSigns.Rows.FAILED
                : rows.pending() ? CardSigns.Rows.PENDING : CardSigns.Rows.GOOD)
        .orElse(CardSigns.Rows.GOOD);
  }

  private CardSigns.Fabric fabric() {
    Memory fabric = NvmlCalls.zeros(FABRIC_BYTES);
    if (!nvml.answers(new String[]{"nvmlDeviceGetGpuFabricInfo"}, device, fabric)) {
      return CardSigns.Fabric.NONE;
    }
    return switch (fabric.getByte(FABRIC_STATE)) { // NVML_GPU_FABRIC_STATE_*
      case 1 -> CardSigns.Fabric.NOT_STARTED;
      case 2 -> CardSigns.Fabric.IN_PROGRESS;
      case NvmlNvlink.FABRIC_STATE_COMPLETED ->
          fabric.getInt(FABRIC_STATUS) == 0 ? CardSigns.Fabric.COMPLETED : CardSigns.Fabric.FAILED;
      default -> CardSigns.Fabric.NONE;
    };
  }

  private Set<CardSigns.Brake> brakes() {
    Set<CardSigns.Brake> brakes = EnumSet.noneOf(CardSigns.Brake.class);
    LongByReference reasons = new LongByReference();
    if (nvml.answers(
        new String[]{"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"}, device,
        reasons)) {
      if ((reasons.getValue() & HW_THERMAL_SLOWDOWN) != 0) {
        brakes.add(CardSigns.Brake.THERMAL);
      }
      if ((reasons.getValue() & HW_POWER_BRAKE) != 0) {
        brakes.add(CardSigns.Brake.POWER);
      }
    }
    return brakes;
  }

  private CardSigns.Recovery recovery() {
    Long action = NvmlFields.read(nvml, device, List.of(RECOVERY_ACTION)).get(RECOVERY_ACTION);
    if (action == null) {
      return CardSigns.Recovery.NOT_TOLD;
    }
    return switch (action.intValue()) { // NVML_GPU_RECOVERY_ACTION_*
      case 0 -> CardSigns.Recovery.NONE;
      case 1 -> CardSigns.Recovery.RESET;
      case 2, 7 -> CardSigns.Recovery.REBOOT; // of the node, of the system
      case 3 -> CardSigns.Recovery.DRAIN_P2P;
      case 4 -> CardSigns.Recovery.DRAIN_AND_RESET;
      case 5 -> CardSigns.Recovery.NONE; // RECOVER_IMEX_DOMAIN: of the links to other machines, nothing of the card
      case 6 -> CardSigns.Recovery.BUS_RESET;
      default -> CardSigns.Recovery.OTHER;
    };
  }
}
