package dev.partita.plugin.inventory;

import dev.partita.api.Driver;
import dev.partita.api.node.Gpu;
import dev.partita.api.node.GpuHealth;
import dev.partita.plugin.nvml.CardReading;
import dev.partita.plugin.nvml.CardReading.Card;
import dev.partita.plugin.nvml.NvmlException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Turns readings into the node's cards. A card keeps its index, and so the names of its devices, as long as it is known: NVML
 * renumbers the others when one falls off the bus, and claims must not change cards by that.
 */
final class KnownCards {
  private final Map<String, Integer> indexOf = new TreeMap<>();
  private final Map<String, Gpu> lastSeen = new TreeMap<>();

  /** Tells which indexes the cards had before this process started. */
  void remember(List<Gpu> earlier) {
    earlier.forEach(gpu -> indexOf.putIfAbsent(gpu.uuid(), gpu.index()));
  }

  /** The cards by index: those that answered, and those seen before that did not, as unhealthy. */
  List<Gpu> update(CardReading reading, PciTopology topology) {
    Map<String, String> domains = NvlinkDomains.of(reading.cards());
    Set<String> present = new HashSet<>();
    for (Card card : reading.cards()) {
      present.add(card.uuid());
      lastSeen.put(card.uuid(), describe(card, topology, domains.get(card.uuid())));
    }
    List<Gpu> gpus = new ArrayList<>();
    for (Gpu gpu : lastSeen.values()) {
      gpus.add(present.contains(gpu.uuid()) ? gpu : withHealth(gpu, healthOfMissing(gpu, reading.faults())));
    }
    gpus.sort(Comparator.comparingInt(Gpu::index));
    return gpus;
  }

  private Gpu describe(Card card, PciTopology topology, @Nullable String nvlinkDomain) {
    return new Gpu(
        indexOf.computeIfAbsent(card.uuid(), uuid -> freeIndex(card.index())),
        card.minor(),
        card.uuid(),
        card.name(),
        Driver.modelOf(card.name()),
        card.brand(),
        card.architecture(),
        card.computeCapability(),
        card.memoryBytes(),
        card.pciBusId().orElse(null),
        card.pciBusId().flatMap(topology::pcieRoot).orElse(null),
        card.pciBusId().flatMap(topology::numaNode).or(card::numaNode).orElse(null),
        nvlinkDomain,
        GpuHealth.HEALTHY);
  }

  private int freeIndex(int wanted) {
    int index = wanted;
    while (indexOf.containsValue(index)) {
      index++;
    }
    return index;
  }

  private static GpuHealth healthOfMissing(Gpu gpu, List<CardReading.Fault> faults) {
    for (CardReading.Fault fault : faults) {
      if (fault.code() == NvmlException.RESET_REQUIRED && (faults.size() == 1 || fault.index() == gpu.index())) {
        return GpuHealth.unhealthy("GpuResetRequired", "NVML says that the card must be reset: " + fault.message());
      }
    }
    String detail = faults.isEmpty() ? "NVML no longer lists it" : faults.getFirst().message();
    return GpuHealth.unhealthy("GpuIsLost", "the card does not answer: " + detail);
  }

  private static Gpu withHealth(Gpu gpu, GpuHealth health) {
    return new Gpu(
        gpu.index(),
        gpu.minor(),
        gpu.uuid(),
        gpu.productName(),
        gpu.model(),
        gpu.brand(),
        gpu.architecture(),
        gpu.cudaComputeCapability(),
        gpu.memoryBytes(),
        gpu.pciBusId(),
        gpu.pcieRoot(),
        gpu.numaNode(),
        gpu.nvlinkDomain(),
        health);
  }
}
