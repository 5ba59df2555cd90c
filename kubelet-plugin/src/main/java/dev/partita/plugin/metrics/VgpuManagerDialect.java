package dev.partita.plugin.metrics;

import static dev.partita.serving.metrics.Family.gauge;

import dev.partita.api.gpu.GpuHealth;
import dev.partita.plugin.nvml.CardFigure;
import dev.partita.plugin.podresources.ContainerRef;
import dev.partita.serving.metrics.Family;
import dev.partita.serving.metrics.Samples;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;

/**
 * The names and labels of vgpu-manager's device-monitor (main of August 2026), for dashboards that were made for it: of
 * cards, of what is allocated of them, and of containers. MIG instances and its own settings are left out.
 */
final class VgpuManagerDialect implements Dialect {
  private static final int ALL = 100;
  private static final String[] PHYSICAL = {"node", "device_idx", "device_uuid", "device_type", "pci_bus_id",
    "minor_num", "mig_enabled", "capability", "numa_node"};
  private static final String[] VGPU = {"node", "device_idx", "device_uuid", "device_type"};
  private static final String[] CONTAINER =
      {"pod_namespace", "pod_name", "container_name", "vdevice_idx", "device_uuid", "node"};

  private static final Family MEMORY =
      gauge("physical_gpu_device_total_memory_in_bytes", "Memory of the card.", PHYSICAL);
  private static final Family MEMORY_USED =
      gauge("physical_gpu_device_memory_usage_in_bytes", "Memory of the card in use.", PHYSICAL);
  private static final Family MEMORY_PERCENT =
      gauge("physical_gpu_device_memory_utilization_percent", "Percent of the memory in use.", PHYSICAL);
  private static final Family CORE_PERCENT = gauge("physical_gpu_device_core_utilization_percent",
      "Percent of the time in which a kernel ran.", PHYSICAL);
  private static final Family HEALTH =
      gauge("physical_gpu_device_health_status", "Whether the card can be used.", PHYSICAL);

  private static final Family TOTAL_CORES =
      gauge("vgpu_device_total_cores_number", "Percent of the card that can be allocated.", VGPU);
  private static final Family ASSIGNED_CORES =
      gauge("vgpu_device_assigned_cores_number", "Percent of the card that is allocated.", VGPU);
  private static final Family CONTAINERS =
      gauge("vgpu_device_current_shared_containers_number", "Containers that share the card.", VGPU);
  private static final Family TOTAL_MEMORY =
      gauge("vgpu_device_total_memory_in_bytes", "Memory that can be allocated.", VGPU);
  private static final Family TOTAL_PHYSICAL =
      gauge("vgpu_device_total_physical_memory_in_bytes", "The card's own part of it.", VGPU);
  private static final Family ASSIGNED_MEMORY =
      gauge("vgpu_device_assigned_memory_in_bytes", "Memory that is allocated.", VGPU);
  private static final Family ASSIGNED_PHYSICAL =
      gauge("vgpu_device_assigned_physical_memory_in_bytes", "The card's own part of it.", VGPU);

  private static final Family LIMIT =
      gauge("container_vgpu_device_memory_limit_in_bytes", "Memory that the container may have.", CONTAINER);
  private static final Family PHYSICAL_LIMIT = gauge("container_vgpu_device_physical_memory_limit_in_bytes",
      "What of it may be on the card.", CONTAINER);
  private static final Family USED =
      gauge("container_vgpu_device_memory_usage_in_bytes", "Memory that its processes hold.", CONTAINER);
  private static final Family PHYSICAL_USED = gauge("container_vgpu_device_physical_memory_usage_in_bytes",
      "What of it is on the card.", CONTAINER);
  private static final Family USED_PERCENT = gauge("container_vgpu_device_memory_utilization_percent",
      "Percent of its memory that its processes hold.", CONTAINER);
  private static final Family CORES = gauge("container_vgpu_device_core_utilization_percent",
      "Percent of the card's time that its processes have.", CONTAINER);

  @Override
  public List<Family> families() {
    return List.of(MEMORY, MEMORY_USED, MEMORY_PERCENT, CORE_PERCENT, HEALTH, TOTAL_CORES, ASSIGNED_CORES, CONTAINERS,
        TOTAL_MEMORY, TOTAL_PHYSICAL, ASSIGNED_MEMORY, ASSIGNED_PHYSICAL, LIMIT, PHYSICAL_LIMIT, USED, PHYSICAL_USED,
        USED_PERCENT, CORES);
  }

  @Override
  public void write(NodeSnapshot node, Samples into) {
    Map<ContainerRef, List<String>> cardsOf = node.cardsOfContainers();
    for (NodeSnapshot.Card card : node.cardsOfDriver()) {
      List<ContainerRef> containers = card.containers();
      physical(node, card, into);
      String[] vgpu =
          {node.node(), String.valueOf(card.gpu().index()), card.gpu().uuid(), card.gpu().productName()};
      into.put(TOTAL_CORES, ALL, vgpu);
      into.put(ASSIGNED_CORES, card.allocatedCores(), vgpu);
      into.put(CONTAINERS, containers.size(), vgpu);
      into.put(TOTAL_MEMORY, card.allocatable(), vgpu);
      into.put(TOTAL_PHYSICAL, Math.min(card.allocatable(), card.gpu().memoryBytes()), vgpu);
      into.put(ASSIGNED_MEMORY, card.allocatedBytes(), vgpu);
      into.put(ASSIGNED_PHYSICAL, card.allocatedPhysicalBytes(), vgpu);
      for (ContainerRef container : containers) {
        String[] labels = {container.namespace(), container.pod(), container.container(),
          String.valueOf(cardsOf.getOrDefault(container, List.of()).indexOf(card.gpu().uuid())), card.gpu().uuid(),
          node.node()};
        write(card, container, labels, into);
      }
    }
  }

  private static void physical(NodeSnapshot node, NodeSnapshot.Card card, Samples into) {
    boolean mig = card.devices().stream().anyMatch(device -> device.grant().mig().isPresent());
    String[] labels = {node.node(), String.valueOf(card.gpu().index()), card.gpu().uuid(), card.gpu().productName(),
      Objects.requireNonNullElse(card.gpu().pciBusId(), "").toLowerCase(Locale.ROOT),
      String.valueOf(card.gpu().minor()), String.valueOf(mig), card.gpu().cudaComputeCapability(),
      card.gpu().numaNode() == null ? "" : String.valueOf(card.gpu().numaNode())};
    into.put(MEMORY, card.gpu().memoryBytes(), labels);
    card.figure(CardFigure.MEMORY_USED_BYTES).ifPresent(bytes -> {
      into.put(MEMORY_USED, bytes, labels);
      into.put(MEMORY_PERCENT, Math.floor(ALL * bytes / card.gpu().memoryBytes()), labels);
    });
    card.figure(CardFigure.UTILIZATION_PERCENT).ifPresent(percent -> into.put(CORE_PERCENT, percent, labels));
    into.put(HEALTH, card.gpu().health().state() == GpuHealth.State.Healthy ? 1 : 0, labels);
  }

  /** Shares that a container has of one card are one device of it, as they are for the interception library. */
  private static void write(NodeSnapshot.Card card, ContainerRef container, String[] labels, Samples into) {
    List<NodeSnapshot.Device> its =
        card.devices().stream().filter(device -> device.containers().contains(container)).toList();
    long limit = its.stream().mapToLong(NodeSnapshot.Device::memoryBytes).sum();
    into.put(LIMIT, limit, labels);
    into.put(PHYSICAL_LIMIT, its.stream().mapToLong(NodeSnapshot.Device::physicalBytes).sum(), labels);
    List<NodeSnapshot.Part> parts = its.stream().flatMap(device -> device.parts().stream())
        .filter(part -> part.container().filter(container::equals).isPresent()).toList();
    if (parts.isEmpty()) {
      return;
    }
    long used = parts.stream().mapToLong(NodeSnapshot.Part::bytes).sum();
    into.put(USED, used, labels);
    into.put(PHYSICAL_USED, used, labels);
    into.put(USED_PERCENT, Math.floor((double) ALL * used / limit), labels);
    parts.forEach(part -> part.corePercent().ifPresent(percent -> into.add(CORES, percent, labels)));
  }
}
