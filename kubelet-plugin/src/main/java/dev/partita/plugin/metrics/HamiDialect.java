package dev.partita.plugin.metrics;

import static dev.partita.serving.metrics.Family.gauge;

import dev.partita.plugin.nvml.CardFigure;
import dev.partita.plugin.podresources.ContainerRef;
import dev.partita.serving.metrics.Family;
import dev.partita.serving.metrics.Samples;
import java.util.List;
import java.util.Map;

/**
 * The names and labels of HAMi's monitor and scheduler (2.10), so that its dashboards have data. Where HAMi calls
 * percent a ratio, so does this.
 */
final class HamiDialect implements Dialect {
  private static final String[] GPU = {"node", "device_uuid", "device_index", "device_type"};
  private static final String[] CONTAINER = {"namespace", "pod", "container", "vdevice_index", "device_uuid"};

  private static final Family HOST_USED =
      gauge("hami_host_gpu_memory_used_bytes", "Memory of the card in use.", GPU);
  private static final Family HOST_UTILIZATION =
      gauge("hami_host_gpu_utilization_ratio", "Percent of the time in which a kernel ran.", GPU);
  private static final Family LIMIT = gauge("hami_gpu_memory_limit_bytes", "Memory that can be allocated.", GPU);
  private static final Family CORE_LIMIT = gauge("hami_gpu_core_limit_ratio", "Percent that can be allocated.", GPU);
  private static final Family ALLOCATED = gauge("hami_gpu_memory_allocated_bytes", "Memory that is allocated.", "node",
      "device_uuid", "device_index", "device_cores", "device_type");
  private static final Family SHARED = gauge("hami_gpu_shared_count", "Containers that share the card.", GPU);
  private static final Family CORES =
      gauge("hami_gpu_core_allocated_ratio", "Percent of the card that is allocated.", GPU);
  private static final Family ALLOCATED_RATIO =
      gauge("hami_node_gpu_memory_allocated_ratio", "Percent of the memory that is allocated.", GPU);
  private static final Family USED =
      gauge("hami_vgpu_memory_used_bytes", "Memory that the container's processes hold.", CONTAINER);
  private static final Family DEVICE_LIMIT =
      gauge("hami_vgpu_memory_limit_bytes", "Memory that the container may have.", CONTAINER);
  private static final Family DEVICE_USED =
      gauge("hami_container_device_memory_bytes", "Memory that the container's processes hold.", CONTAINER);
  private static final Family DEVICE_UTILIZATION = gauge("hami_container_device_utilization_ratio",
      "Percent of the card's time that the container's processes have.", CONTAINER);
  private static final Family CONTEXT =
      gauge("hami_vgpu_memory_context_bytes", "What contexts and modules take together.", CONTAINER);
  private static final Family BUFFER =
      gauge("hami_vgpu_memory_buffer_bytes", "What the container's processes have allocated.", CONTAINER);

  @Override
  public List<Family> families() {
    return List.of(HOST_USED, HOST_UTILIZATION, LIMIT, CORE_LIMIT, ALLOCATED, SHARED, CORES, ALLOCATED_RATIO, USED,
        DEVICE_LIMIT, DEVICE_USED, DEVICE_UTILIZATION, CONTEXT, BUFFER);
  }

  @Override
  public void write(NodeSnapshot node, Samples into) {
    Map<ContainerRef, List<String>> cardsOf = node.cardsOfContainers();
    for (NodeSnapshot.Card card : node.cardsOfDriver()) {
      String uuid = card.gpu().uuid();
      String index = String.valueOf(card.gpu().index());
      String type = card.gpu().productName();
      String[] gpu = {node.node(), uuid, index, type};
      card.figure(CardFigure.MEMORY_USED_BYTES).ifPresent(bytes -> into.put(HOST_USED, bytes, gpu));
      card.figure(CardFigure.UTILIZATION_PERCENT).ifPresent(percent -> into.put(HOST_UTILIZATION, percent, gpu));
      into.put(LIMIT, card.allocatable(), gpu);
      into.put(CORE_LIMIT, 100, gpu);
      into.put(ALLOCATED, card.allocatedBytes(), node.node(), uuid, index, String.valueOf(card.allocatedCores()),
          type);
      into.put(SHARED, card.sharers(), gpu);
      into.put(CORES, card.allocatedCores(), gpu);
      into.put(ALLOCATED_RATIO, card.allocatable() == 0 ? 0 : 100.0 * card.allocatedBytes() / card.allocatable(), gpu);
      card.devices().forEach(device -> write(device, cardsOf, into));
    }
  }

  /** Shares that a container has of one card are one device of it, as they are for the interception library. */
  private static void write(
      NodeSnapshot.Device device,
      Map<ContainerRef, List<String>> cardsOf,
      Samples into) {
    device.containers().forEach(
        container -> into.add(DEVICE_LIMIT, (double) device.memoryBytes(), labels(device, container, cardsOf)));
    device.parts().forEach(
        part -> part.container().ifPresent(container -> write(part, labels(device, container, cardsOf), into)));
  }

  private static String[] labels(
      NodeSnapshot.Device device,
      ContainerRef container,
      Map<ContainerRef, List<String>> cardsOf) {
    String card = device.grant().card().uuid();
    return new String[]{container.namespace(), container.pod(), container.container(),
      String.valueOf(cardsOf.getOrDefault(container, List.of(card)).indexOf(card)), card};
  }

  private static void write(NodeSnapshot.Part part, String[] labels, Samples into) {
    part.corePercent().ifPresent(percent -> into.add(DEVICE_UTILIZATION, percent, labels));
    into.add(USED, (double) part.bytes(), labels);
    into.add(DEVICE_USED, (double) part.bytes(), labels);
    into.add(CONTEXT, (double) part.overheadBytes(), labels);
    into.add(BUFFER, (double) part.ledgerBytes(), labels);
  }
}
