package dev.partita.plugin.metrics;

import static dev.partita.serving.metrics.Family.gauge;

import dev.partita.api.gpu.GpuHealth;
import dev.partita.plugin.claimstatus.DeviceCondition.Reason;
import dev.partita.plugin.nvml.CardFigure;
import dev.partita.plugin.usage.verdict.CoreState;
import dev.partita.plugin.usage.verdict.CoreUse;
import dev.partita.plugin.usage.verdict.MemoryState;
import dev.partita.plugin.usage.verdict.ShareUse;
import dev.partita.plugin.usage.verdict.UsageWords;
import dev.partita.serving.metrics.Family;
import dev.partita.serving.metrics.Samples;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;

/** Partita's own names. Bytes, seconds, hertz and ratios from 0 to 1, as Prometheus has them. */
final class OwnDialect implements Dialect {
  private static final double NANOS = 1e-9;
  private static final double MILLIS = 1e-3;
  private static final double PERCENT = 0.01;
  private static final String[] CARD = {"node", "uuid", "gpu", "model"};
  private static final String[] DEVICE =
      {"node", "uuid", "gpu", "model", "namespace", "claim", "device", "share", "pod", "container"};

  private static final Family CARD_DETAILS =
      card("details", "1 for each card, with what does not change.", "product", "pci_bus_id", "driver_version");
  private static final Family CARD_HEALTHY =
      card("healthy", "Whether the card can be used; the reason if not.", "reason");
  private static final Family CARD_MEMORY = card("memory_bytes", "The card's memory.");
  private static final Family CARD_ALLOCATABLE =
      card("memory_allocatable_bytes",
          "Memory that shares may have together: without reserves, times what the node offers.");
  private static final Family CARD_ALLOCATED =
      card("memory_allocated_bytes", "Memory that prepared claims have, whether they use it or not.");
  private static final Family CARD_CORES =
      card("cores_allocated_ratio", "Part of the card's time that prepared claims have: 1 for a whole card.");
  private static final Family CARD_CLAIMS = card("devices", "Devices of claims that are prepared on the card.");

  private static final Family ECC_ERRORS = Family.counter("partita_card_ecc_errors_total",
      "Errors of the card's memory (dram) and of the memory within its chip (sram) since its last reset; of cards with"
          + " ECC.",
      with(CARD, "memory", "error"));
  private static final Family REMAPPED_ROWS = Family.counter("partita_card_remapped_rows_total",
      "Rows of memory that spare ones have replaced, by the kind of error before it; of cards that can.",
      with(CARD, "error"));
  private static final Family XID_ERRORS = Family.counter("partita_card_xid_errors_total",
      "XID errors since the plugin started, by their number, whoever is to blame.", with(CARD, "xid"));
  private static final Family NVLINK_ERRORS = Family.counter("partita_card_nvlink_errors_total",
      "Errors of all the card's NVLinks since its last reset, by what they are; of cards with NVLinks.",
      with(CARD, "error"));

  private static final Map<CardFigure, Family> FIGURES = new EnumMap<>(CardFigure.class);

  static {
    for (CardFigure figure : CardFigure.values()) {
      FIGURES.put(figure, family(figure));
    }
  }

  private static final Family DEVICE_MEMORY =
      device("partita_device_memory_limit_bytes", "Memory that the device's containers may have.", "strategy");
  private static final Family SHARE_PHYSICAL = device("partita_share_memory_physical_limit_bytes",
      "What of the limit may be on the card; less where the node or the claim oversubscribes.");
  private static final Family SHARE_MEMORY_LENT = device("partita_share_memory_lent_bytes",
      "What of the limit no claim has, and is taken back when one needs it; of shares that may grow.");
  private static final Family SHARE_MEMORY_RECALLED = device("partita_share_memory_recalled_bytes",
      "What a share was lent that a claim needs now, and that has not come back yet; of shares that may grow.");
  private static final Family SHARE_RECALL_OVERDUE = device("partita_share_memory_recall_overdue_seconds",
      "How long the grace is over in which a share was to give back what it was lent; 0 within it, or if nothing is asked back.");
  private static final Family SHARE_USED = device("partita_share_memory_used_bytes",
      "Memory of the card that the share's processes hold, by NVML: allocations and overhead.");
  private static final Family SHARE_PEAK = device("partita_share_memory_peak_bytes",
      "The most that they held at any look since the plugin started.");
  private static final Family SHARE_LEDGER = device("partita_share_memory_ledger_bytes",
      "Memory that the share's ledger has granted to processes that live.");
  private static final Family SHARE_OVERHEAD = device("partita_share_memory_overhead_bytes",
      "Memory that contexts and modules of its processes take, by estimate.");
  private static final Family SHARE_PROCESSES =
      device("partita_share_processes", "Processes that hold some of the share.");
  private static final Family SHARE_CORE_LIMIT = device("partita_share_core_limit_ratio",
      "Part of the card's time that it is limited to; 0 for no limit.");
  private static final Family SHARE_CORE_USE = device("partita_share_core_use_ratio",
      "Part of the card's time that its processes have, by NVML's last samples.");
  private static final Family SHARE_CORE_SECONDS = Family.counter("partita_share_core_seconds_total",
      "The card's time that its processes had since the plugin started; only of cards with core limits.", DEVICE);
  private static final Family SHARE_THROTTLED = Family.counter("partita_share_throttled_seconds_total",
      "Time that launches waited for the core limit, over all threads; the container's own word.", DEVICE);
  private static final Family SHARE_LENT = Family.counter("partita_share_core_lent_seconds_total",
      "The card's time that is set aside for the share and that others had, since the plugin started.", DEVICE);
  private static final Family SHARE_BORROWED = Family.counter("partita_share_core_borrowed_seconds_total",
      "The card's time that its processes had beyond what is set aside, since the plugin started; none with a hard"
          + " limit.",
      DEVICE);
  private static final Family SHARE_REFUSED = Family.counter("partita_share_allocations_refused_total",
      "Allocations that the quota did not allow, since the share was prepared; the container's own word.", DEVICE);
  private static final Family SHARE_REPAIRS = Family.counter("partita_share_repairs_total",
      "Times that the usage region was found wrong and mended; the container's own word.", DEVICE);
  private static final Family SHARE_MEMORY_HOLDS = device("partita_share_within_memory_limit",
      "Whether its processes keep to the memory limit, by NVML; the reason of the claim's condition.", "reason");
  private static final Family SHARE_WITHIN_CORES = device("partita_share_within_core_limit",
      "Whether its processes keep to a hard core limit, by NVML; the reason of the claim's condition.", "reason");
  private static final Family SHARE_CORES_HOLD = device("partita_share_core_limit_enforced",
      "Whether what its processes launch is limited; the reason of the claim's condition.", "reason");

  @Override
  public List<Family> families() {
    return Stream.concat(
        Stream.of(CARD_DETAILS, CARD_HEALTHY, CARD_MEMORY, CARD_ALLOCATABLE, CARD_ALLOCATED, CARD_CORES, CARD_CLAIMS),
        Stream.concat(FIGURES.values().stream().distinct(),
            Stream.of(XID_ERRORS, DEVICE_MEMORY, SHARE_PHYSICAL, SHARE_MEMORY_LENT, SHARE_MEMORY_RECALLED,
                SHARE_RECALL_OVERDUE, SHARE_USED, SHARE_PEAK, SHARE_LEDGER, SHARE_OVERHEAD, SHARE_PROCESSES,
                SHARE_CORE_LIMIT, SHARE_CORE_USE, SHARE_CORE_SECONDS, SHARE_THROTTLED, SHARE_LENT,
                SHARE_BORROWED, SHARE_REFUSED, SHARE_REPAIRS, SHARE_MEMORY_HOLDS, SHARE_WITHIN_CORES,
                SHARE_CORES_HOLD)))
        .toList();
  }

  @Override
  public void write(NodeSnapshot node, Samples into) {
    for (NodeSnapshot.Card card : node.cards()) {
      String[] labels =
          {node.node(), card.gpu().uuid(), String.valueOf(card.gpu().index()), card.gpu().model()};
      into.put(CARD_DETAILS, 1, with(labels, card.gpu().productName(),
          card.gpu().pciBusId() == null ? "" : card.gpu().pciBusId(),
          card.gpu().isOpaque() ? "" : node.driverVersion()));
      boolean healthy = card.gpu().health().state() == GpuHealth.State.Healthy;
      String reason = card.gpu().health().reason();
      into.put(CARD_HEALTHY, healthy ? 1 : 0, with(labels, reason == null ? "" : reason));
      into.put(CARD_MEMORY, card.gpu().memoryBytes(), labels);
      into.put(CARD_ALLOCATABLE, card.allocatable(), labels);
      into.put(CARD_ALLOCATED, card.allocatedBytes(), labels);
      into.put(CARD_CORES, card.allocatedCores() * PERCENT, labels);
      into.put(CARD_CLAIMS, card.devices().size(), labels);
      card.xids().counts().forEach((xid, count) -> into.put(XID_ERRORS, count, with(labels, String.valueOf(xid))));
      card.figures().forEach((figure, value) -> {
        into.put(Objects.requireNonNull(FIGURES.get(figure)), value * unit(figure), with(labels, kind(figure)));
      });
      card.devices().forEach(device -> write(labels, device, into));
    }
  }

  private static void write(String[] card, NodeSnapshot.Device device, Samples into) {
    String[] share = with(card, device.claim().namespace(), device.claim().name(), device.grant().device(),
        device.grant().shareKey());
    String[] labels = with(share, device.pod(), device.container());
    into.put(DEVICE_MEMORY, device.memoryBytes(), with(labels, strategy(device)));
    device.grant().share().ifPresent(limits -> {
      into.put(SHARE_PHYSICAL, limits.physicalBytes(), labels);
      limits.growth().ifPresent(growth -> {
        into.put(SHARE_MEMORY_LENT, growth.lentBytes(), labels);
        into.put(SHARE_MEMORY_RECALLED, device.recall().bytes(), labels);
        into.put(SHARE_RECALL_OVERDUE, device.recall().overdue().toMillis() * MILLIS, labels);
      });
      into.put(SHARE_CORE_LIMIT, limits.limitsCores() ? limits.cores() * PERCENT : 0, labels);
    });
    device.parts().forEach(part -> write(part, with(share, device.pod(part), device.container(part)), into));
    device.use().ifPresent(use -> write(labels, device, use, into));
    device.coreUse().ifPresent(use -> {
      switch (use) {
        case CoreUse.Within _ -> into.put(SHARE_WITHIN_CORES, 1, with(labels, Reason.WithinLimit.name()));
        case CoreUse.Exceeded _ -> into.put(SHARE_WITHIN_CORES, 0, with(labels, Reason.CoreLimitExceeded.name()));
        case CoreUse.NotLimited _,CoreUse.Watched _,CoreUse.Untold _ -> {}
      }
    });
  }

  private static void write(NodeSnapshot.Part part, String[] labels, Samples into) {
    part.corePercent().ifPresent(percent -> into.put(SHARE_CORE_USE, percent * PERCENT, labels));
    into.put(SHARE_USED, part.bytes(), labels);
    into.put(SHARE_OVERHEAD, part.overheadBytes(), labels);
    into.put(SHARE_PROCESSES, part.processes().size(), labels);
  }

  private static void write(String[] labels, NodeSnapshot.Device device, ShareUse use, Samples into) {
    into.put(SHARE_PEAK, device.total().peakBytes(), labels);
    into.put(SHARE_LEDGER, use.ledger().grantedBytes(), labels);
    into.put(SHARE_CORE_SECONDS, device.total().gpuNanos() * NANOS, labels);
    into.put(SHARE_THROTTLED, device.total().ledger().throttledNanos() * NANOS, labels);
    into.put(SHARE_LENT, device.total().lending().lentNanos() * NANOS, labels);
    into.put(SHARE_BORROWED, device.total().lending().borrowedNanos() * NANOS, labels);
    into.put(SHARE_REFUSED, device.total().ledger().refused(), labels);
    into.put(SHARE_REPAIRS, device.total().ledger().repairs(), labels);
    into.put(SHARE_MEMORY_HOLDS, use.memory() instanceof MemoryState.Held ? 1 : 0,
        with(labels, UsageWords.reason(use.memory()).name()));
    switch (use.cores()) {
      case CoreState.Unused _ -> {}
      case CoreState.Enforced _ -> into.put(SHARE_CORES_HOLD, 1, with(labels, Reason.Enforced.name()));
      case CoreState.NotEnforced not -> into.put(SHARE_CORES_HOLD, 0, with(labels, not.reason().name()));
    }
  }

  private static String strategy(NodeSnapshot.Device device) {
    return device.grant().use().getClass().getSimpleName();
  }

  private static Family card(String name, String help, String... more) {
    return gauge("partita_card_" + name, help, with(CARD, more));
  }

  private static Family device(String name, String help, String... more) {
    return gauge(name, help, with(DEVICE, more));
  }

  private static Family family(CardFigure figure) {
    return switch (figure) {
      case MEMORY_USED_BYTES -> card("memory_used_bytes", "Memory in use, by whomever, as NVML says.");
      case MEMORY_FREE_BYTES -> card("memory_free_bytes", "Memory that is free, as NVML says.");
      case UTILIZATION_PERCENT -> card("utilization_ratio", "Part of the time in which a kernel ran.");
      case MEMORY_UTILIZATION_PERCENT ->
          card("memory_utilization_ratio", "Part of the time in which memory was read or written.");
      case ENCODER_PERCENT -> card("encoder_utilization_ratio", "Part of the time in which the encoder worked.");
      case DECODER_PERCENT -> card("decoder_utilization_ratio", "Part of the time in which the decoder worked.");
      case ENGINE_PERCENT -> card("engine_active_ratio",
          "Part of the time since the scrape before in which any program was at work on the card; from Hopper on.");
      case TENSOR_PERCENT -> card("tensor_active_ratio",
          "Part of that time in which tensor cores computed; from Hopper on.");
      case DRAM_PERCENT -> card("dram_active_ratio",
          "Part of the memory's bandwidth that was used in that time; from Hopper on.");
      case POWER_WATTS -> card("power_watts", "Power that the card draws.");
      case TEMPERATURE_CELSIUS -> card("temperature_celsius", "Temperature of the chip.");
      case ENERGY_JOULES -> Family.counter("partita_card_energy_joules_total",
          "Energy that the card has drawn since the driver was loaded.", CARD);
      case MEMORY_TEMPERATURE_CELSIUS -> card("memory_temperature_celsius", "Temperature of the memory.");
      case SM_CLOCK_HERTZ -> card("sm_clock_hertz", "Clock of the multiprocessors.");
      case MEMORY_CLOCK_HERTZ -> card("memory_clock_hertz", "Clock of the memory.");
      case ECC_DRAM_CORRECTED, ECC_DRAM_UNCORRECTED, ECC_SRAM_CORRECTED, ECC_SRAM_UNCORRECTED -> ECC_ERRORS;
      case REMAPPED_ROWS_CORRECTABLE, REMAPPED_ROWS_UNCORRECTABLE -> REMAPPED_ROWS;
      case ROW_REMAPPING_FAILED -> card("row_remapping_failed", "Whether a row of memory could not be replaced.");
      case PCIE_REPLAYS -> Family.counter("partita_card_pcie_replays_total",
          "Transmissions over PCIe that were repeated since the card's last reset.", CARD);
      case NVLINK_CRC_FLIT_ERRORS, NVLINK_CRC_DATA_ERRORS, NVLINK_REPLAYS, NVLINK_RECOVERIES -> NVLINK_ERRORS;
    };
  }

  /** The labels by which figures of one family are told apart. */
  private static String[] kind(CardFigure figure) {
    return switch (figure) {
      case ECC_DRAM_CORRECTED -> new String[]{"dram", "corrected"};
      case ECC_DRAM_UNCORRECTED -> new String[]{"dram", "uncorrected"};
      case ECC_SRAM_CORRECTED -> new String[]{"sram", "corrected"};
      case ECC_SRAM_UNCORRECTED -> new String[]{"sram", "uncorrected"};
      case REMAPPED_ROWS_CORRECTABLE -> new String[]{"corrected"};
      case REMAPPED_ROWS_UNCORRECTABLE -> new String[]{"uncorrected"};
      case NVLINK_CRC_FLIT_ERRORS -> new String[]{"crc_flit"};
      case NVLINK_CRC_DATA_ERRORS -> new String[]{"crc_data"};
      case NVLINK_REPLAYS -> new String[]{"replay"};
      case NVLINK_RECOVERIES -> new String[]{"recovery"};
      case MEMORY_USED_BYTES, MEMORY_FREE_BYTES, UTILIZATION_PERCENT, MEMORY_UTILIZATION_PERCENT, ENCODER_PERCENT,
          DECODER_PERCENT, ENGINE_PERCENT, TENSOR_PERCENT, DRAM_PERCENT, POWER_WATTS, TEMPERATURE_CELSIUS,
          SM_CLOCK_HERTZ, MEMORY_CLOCK_HERTZ, ENERGY_JOULES,
          MEMORY_TEMPERATURE_CELSIUS, ROW_REMAPPING_FAILED, PCIE_REPLAYS ->
          new String[0];
    };
  }

  private static double unit(CardFigure figure) {
    return switch (figure) {
      case UTILIZATION_PERCENT, MEMORY_UTILIZATION_PERCENT, ENCODER_PERCENT, DECODER_PERCENT, ENGINE_PERCENT,
          TENSOR_PERCENT, DRAM_PERCENT ->
          PERCENT;
      case MEMORY_USED_BYTES, MEMORY_FREE_BYTES, POWER_WATTS, TEMPERATURE_CELSIUS, SM_CLOCK_HERTZ, MEMORY_CLOCK_HERTZ,
          ECC_DRAM_CORRECTED, ECC_DRAM_UNCORRECTED, ECC_SRAM_CORRECTED, ECC_SRAM_UNCORRECTED,
          NVLINK_CRC_FLIT_ERRORS, NVLINK_CRC_DATA_ERRORS, NVLINK_REPLAYS, NVLINK_RECOVERIES, ENERGY_JOULES,
          MEMORY_TEMPERATURE_CELSIUS, REMAPPED_ROWS_CORRECTABLE, REMAPPED_ROWS_UNCORRECTABLE, ROW_REMAPPING_FAILED,
          PCIE_REPLAYS ->
          1;
    };
  }

  private static String[] with(String[] labels, String... more) {
    String[] all = Arrays.copyOf(labels, labels.length + more.length);
    System.arraycopy(more, 0, all, labels.length, more.length);
    return all;
  }
}
