package dev.partita.plugin.nvml.jna;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.IntByReference;
import com.sun.jna.ptr.LongByReference;
import dev.partita.plugin.nvml.CardFigure;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** Asks NVML for a card's figures; those that the card or the driver does not tell are left out. */
final class NvmlFigures {
  private static final int CLOCK_SM = 1; // NVML_CLOCK_SM
  private static final int CLOCK_MEMORY = 2; // NVML_CLOCK_MEM
  private static final int TEMPERATURE_GPU = 0; // NVML_TEMPERATURE_GPU
  private static final double HERTZ = 1e6; // clocks are in MHz
  private static final double WATTS = 1e-3; // power is in mW
  private static final double JOULES = 1e-3; // energy is in mJ

  /** NVML_FI_DEV_NVLINK_…_ERROR_COUNT_TOTAL and NVML_FI_DEV_MEMORY_TEMP. */
  private static final Map<CardFigure, Integer> FIELDS = new EnumMap<>(
      Map.of(CardFigure.MEMORY_TEMPERATURE_CELSIUS, 82, CardFigure.NVLINK_CRC_FLIT_ERRORS, 38,
          CardFigure.NVLINK_CRC_DATA_ERRORS, 45, CardFigure.NVLINK_REPLAYS,
          52, CardFigure.NVLINK_RECOVERIES, 59));

  private NvmlFigures() {}

  static Map<CardFigure, Double> of(NvmlCalls nvml, Pointer device) {
    Map<CardFigure, Double> figures = new EnumMap<>(CardFigure.class);
    Memory memory = NvmlCalls.zeros(24); // nvmlMemory_t: total, free, used
    if (nvml.answers(new String[]{"nvmlDeviceGetMemoryInfo"}, device, memory)) {
      figures.put(CardFigure.MEMORY_FREE_BYTES, (double) memory.getLong(8));
      figures.put(CardFigure.MEMORY_USED_BYTES, (double) memory.getLong(16));
    }
    Memory rates = NvmlCalls.zeros(8); // nvmlUtilization_t: gpu, memory
    if (nvml.answers(new String[]{"nvmlDeviceGetUtilizationRates"}, device, rates)) {
      figures.put(CardFigure.UTILIZATION_PERCENT, (double) rates.getInt(0));
      figures.put(CardFigure.MEMORY_UTILIZATION_PERCENT, (double) rates.getInt(4));
    }
    IntByReference value = new IntByReference();
    IntByReference period = new IntByReference();
    if (nvml.answers(new String[]{"nvmlDeviceGetEncoderUtilization"}, device, value, period)) {
      figures.put(CardFigure.ENCODER_PERCENT, (double) value.getValue());
    }
    if (nvml.answers(new String[]{"nvmlDeviceGetDecoderUtilization"}, device, value, period)) {
      figures.put(CardFigure.DECODER_PERCENT, (double) value.getValue());
    }
    if (nvml.answers(new String[]{"nvmlDeviceGetPowerUsage"}, device, value)) {
      figures.put(CardFigure.POWER_WATTS, value.getValue() * WATTS);
    }
    LongByReference total = new LongByReference();
    if (nvml.answers(new String[]{"nvmlDeviceGetTotalEnergyConsumption"}, device, total)) {
      figures.put(CardFigure.ENERGY_JOULES, total.getValue() * JOULES);
    }
    if (nvml.answers(new String[]{"nvmlDeviceGetPcieReplayCounter"}, device, value)) {
      figures.put(CardFigure.PCIE_REPLAYS, (double) value.getValue());
    }
    if (nvml.answers(new String[]{"nvmlDeviceGetTemperature"}, device, TEMPERATURE_GPU, value)) {
      figures.put(CardFigure.TEMPERATURE_CELSIUS, (double) value.getValue());
    }
    if (nvml.answers(new String[]{"nvmlDeviceGetClockInfo"}, device, CLOCK_SM, value)) {
      figures.put(CardFigure.SM_CLOCK_HERTZ, value.getValue() * HERTZ);
    }
    if (nvml.answers(new String[]{"nvmlDeviceGetClockInfo"}, device, CLOCK_MEMORY, value)) {
      figures.put(CardFigure.MEMORY_CLOCK_HERTZ, value.getValue() * HERTZ);
    }
    NvmlHealth health = new NvmlHealth(nvml, device);
    health.errors(NvmlHealth.CORRECTED, NvmlHealth.DRAM)
        .ifPresent(errors -> figures.put(CardFigure.ECC_DRAM_CORRECTED, (double) errors));
    health.errors(NvmlHealth.UNCORRECTED, NvmlHealth.DRAM)
        .ifPresent(errors -> figures.put(CardFigure.ECC_DRAM_UNCORRECTED, (double) errors));
    health.errors(NvmlHealth.CORRECTED, NvmlHealth.SRAM)
        .ifPresent(errors -> figures.put(CardFigure.ECC_SRAM_CORRECTED, (double) errors));
    health.errors(NvmlHealth.UNCORRECTED, NvmlHealth.SRAM)
        .ifPresent(errors -> figures.put(CardFigure.ECC_SRAM_UNCORRECTED, (double) errors));
    health.remappedRows().ifPresent(rows -> {
      figures.put(CardFigure.REMAPPED_ROWS_CORRECTABLE, (double) rows.correctable());
      figures.put(CardFigure.REMAPPED_ROWS_UNCORRECTABLE, (double) rows.uncorrectable());
      figures.put(CardFigure.ROW_REMAPPING_FAILED, rows.failed() ? 1.0 : 0.0);
    });
    Map<Integer, Long> fields = NvmlFields.read(nvml, device, List.copyOf(FIELDS.values()));
    FIELDS.forEach((figure, field) -> {
      Long told = fields.get(field);
      if (told != null) {
        figures.put(figure, (double) told);
      }
    });
    return figures;
  }
}
