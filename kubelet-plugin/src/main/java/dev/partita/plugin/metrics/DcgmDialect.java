package dev.partita.plugin.metrics;

import static dev.partita.serving.metrics.Family.gauge;

import dev.partita.api.Driver;
import dev.partita.plugin.nvml.CardFigure;
import dev.partita.serving.metrics.Family;
import dev.partita.serving.metrics.Samples;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.stream.Stream;

/**
 * The names and labels of NVIDIA's dcgm-exporter (4.x), so that its dashboards have data. A card that is shared is
 * split by container, which dcgm-exporter cannot: memory and utilization stand once for each container of a share, and
 * once without a pod for what is left of the card, so that sums are the card's. What belongs to no container, such as
 * power, has the labels of the container that has the whole card, or else none. Its counters are told as gauges, since
 * their names do not end as those of counters must; rate() takes both.
 */
final class DcgmDialect implements Dialect {
  private static final double MIB = 1 << 20;
  private static final double MEGA = 1e6;
  private static final double MILLI = 1e-3;
  private static final double HUNDRED = 100;
  private static final String[] LABELS =
      {"gpu", "UUID", "pci_bus_id", "device", "modelName", "Hostname", "DCGM_FI_DRIVER_VERSION", "namespace", "pod",
        "container", "dra_claim_namespace", "dra_claim_name", "dra_driver_name", "dra_pool_name", "dra_device_name"};

  private static final Family UTILIZATION = gauge("DCGM_FI_DEV_GPU_UTIL", "GPU utilization (in %).", LABELS);
  private static final Family USED = gauge("DCGM_FI_DEV_FB_USED", "Framebuffer memory used (in MiB).", LABELS);
  private static final Family XID = gauge("DCGM_FI_DEV_XID_ERRORS", "Value of the last XID error encountered.", LABELS);
  private static final Family FREE = gauge("DCGM_FI_DEV_FB_FREE", "Framebuffer memory free (in MiB).", LABELS);

  private record Whole(Family family, CardFigure figure, double unit) {}

  private static final List<Whole> OF_THE_CARD = List.of(
      new Whole(gauge("DCGM_FI_DEV_SM_CLOCK", "SM clock frequency (in MHz).", LABELS), CardFigure.SM_CLOCK_HERTZ,
          MEGA),
      new Whole(gauge("DCGM_FI_DEV_MEM_CLOCK", "Memory clock frequency (in MHz).", LABELS),
          CardFigure.MEMORY_CLOCK_HERTZ, MEGA),
      new Whole(gauge("DCGM_FI_DEV_GPU_TEMP", "GPU temperature (in C).", LABELS), CardFigure.TEMPERATURE_CELSIUS, 1),
      new Whole(gauge("DCGM_FI_DEV_MEMORY_TEMP", "Memory temperature (in C).", LABELS),
          CardFigure.MEMORY_TEMPERATURE_CELSIUS, 1),
      new Whole(gauge("DCGM_FI_DEV_POWER_USAGE", "Power draw (in W).", LABELS), CardFigure.POWER_WATTS, 1),
      new Whole(gauge("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "Total energy consumption since boot (in mJ).", LABELS),
          CardFigure.ENERGY_JOULES, MILLI),
      new Whole(gauge("DCGM_FI_DEV_PCIE_REPLAY_COUNTER", "Total number of PCIe retries.", LABELS),
          CardFigure.PCIE_REPLAYS, 1),
      new Whole(gauge("DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS",
          "Number of remapped rows for uncorrectable errors.", LABELS), CardFigure.REMAPPED_ROWS_UNCORRECTABLE, 1),
      new Whole(gauge("DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS",
          "Number of remapped rows for correctable errors.", LABELS), CardFigure.REMAPPED_ROWS_CORRECTABLE, 1),
      new Whole(gauge("DCGM_FI_DEV_ROW_REMAP_FAILURE", "Whether remapping of rows has failed.", LABELS),
          CardFigure.ROW_REMAPPING_FAILED, 1),
      new Whole(gauge("DCGM_FI_DEV_MEM_COPY_UTIL", "Memory utilization (in %).", LABELS),
          CardFigure.MEMORY_UTILIZATION_PERCENT, 1),
      new Whole(gauge("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "Ratio of time the graphics engine is active.", LABELS),
          CardFigure.ENGINE_PERCENT, HUNDRED),
      new Whole(gauge("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", "Ratio of cycles the tensor (HMMA) pipe is active.", LABELS),
          CardFigure.TENSOR_PERCENT, HUNDRED),
      new Whole(gauge("DCGM_FI_PROF_DRAM_ACTIVE",
          "Ratio of cycles the device memory interface is active sending or receiving data.", LABELS),
          CardFigure.DRAM_PERCENT, HUNDRED),
      new Whole(gauge("DCGM_FI_DEV_ENC_UTIL", "Encoder utilization (in %).", LABELS), CardFigure.ENCODER_PERCENT, 1),
      new Whole(gauge("DCGM_FI_DEV_DEC_UTIL", "Decoder utilization (in %).", LABELS), CardFigure.DECODER_PERCENT, 1));

  @Override
  public List<Family> families() {
    return Stream.concat(Stream.of(UTILIZATION, USED, FREE, XID), OF_THE_CARD.stream().map(Whole::family)).toList();
  }

  @Override
  public void write(NodeSnapshot node, Samples into) {
    for (NodeSnapshot.Card card : node.cardsOfDriver()) {
      String[] whole = card.devices().stream()
          .filter(device -> device.grant().share().isEmpty() && device.grant().mig().isEmpty() && device.takes()
              && device.grant().use().timeSlicing().isEmpty())
          .findFirst().map(device -> labels(node, card, device, device.pod(), device.container()))
          .orElseGet(() -> labels(node, card, Stream.of("", "", "", "", "", "", "", "")));
      into.put(XID, card.xids().last(), whole);
      for (Whole of : OF_THE_CARD) {
        card.figure(of.figure()).ifPresent(value -> into.put(of.family(), value / of.unit(), whole));
      }
      double used = 0;
      double percent = 0;
      double free = 0;
      for (NodeSnapshot.Device device : card.devices().stream().filter(its -> its.use().isPresent()).toList()) {
        double left = Math.max(0, device.physicalBytes() - device.use().orElseThrow().bytes());
        into.add(FREE, left / MIB, labels(node, card, device, device.pod(), device.container()));
        free += left;
        for (NodeSnapshot.Part part : device.parts()) {
          String[] labels = labels(node, card, device, device.pod(part), device.container(part));
          into.add(USED, part.bytes() / MIB, labels);
          used += part.bytes();
          part.corePercent().ifPresent(value -> into.add(UTILIZATION, value, labels));
          percent += part.corePercent().orElse(0);
        }
      }
      rest(card, CardFigure.MEMORY_USED_BYTES, used).ifPresent(value -> into.add(USED, value / MIB, whole));
      rest(card, CardFigure.MEMORY_FREE_BYTES, free).ifPresent(value -> into.add(FREE, value / MIB, whole));
      rest(card, CardFigure.UTILIZATION_PERCENT, percent).ifPresent(value -> into.add(UTILIZATION, value, whole));
    }
  }

  private static OptionalDouble rest(NodeSnapshot.Card card, CardFigure figure, double told) {
    OptionalDouble all = card.figure(figure);
    return all.isPresent() ? OptionalDouble.of(Math.max(0, all.getAsDouble() - told)) : all;
  }

  private static String[] labels(
      NodeSnapshot node,
      NodeSnapshot.Card card,
      NodeSnapshot.Device device,
      String pod,
      String container) {
    return labels(node, card, Stream.of(device.containers().isEmpty() ? "" : device.claim().namespace(), pod,
        container, device.claim().namespace(), device.claim().name(), Driver.NAME, node.pool(),
        device.grant().device()));
  }

  /** @param whose the labels from the namespace on; empty ones for what of the card is nobody's */
  private static String[] labels(NodeSnapshot node, NodeSnapshot.Card card, Stream<String> whose) {
    String busId = card.gpu().pciBusId();
    Stream<String> ofCard = Stream.of(String.valueOf(card.gpu().index()), card.gpu().uuid(),
        busId == null ? "" : "0000" + busId.toUpperCase(Locale.ROOT), "nvidia" + card.gpu().minor(),
        card.gpu().productName(), node.node(), node.driverVersion());
    return Stream.concat(ofCard, whose).toArray(String[]::new);
  }
}
