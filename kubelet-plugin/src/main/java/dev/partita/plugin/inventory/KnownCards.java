package dev.partita.plugin.inventory;

import dev.partita.api.DeviceName;
import dev.partita.api.gpu.Gpu;
import dev.partita.api.gpu.GpuHealth;
import dev.partita.api.gpu.GpuProduct;
import dev.partita.api.gpu.GpuReserve;
import dev.partita.api.gpu.GpuTopology;
import dev.partita.api.gpu.MemoryEnforcement;
import dev.partita.api.gpu.NvlinkPeer;
import dev.partita.api.gpu.OpaqueKind;
import dev.partita.api.gpu.StaticMigInstance;
import dev.partita.plugin.diagnosis.HealthOfCards;
import dev.partita.plugin.nvml.CardReading.Card;
import dev.partita.plugin.nvml.CardReading;
import dev.partita.plugin.nvml.XidEvent;
import dev.partita.plugin.opaque.OpaqueCards;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Turns readings into the node's cards. A card keeps its index, and with it the names of its devices, for as long as it
 * is known. When one card falls off the bus NVML renumbers the others, and that must not give claims other cards.
 */
final class KnownCards {
  private static final int NO_MINOR = -1;

  private final CardPolicy policy;
  private final Map<String, Integer> indexOf = new TreeMap<>();
  private final Map<String, Gpu> lastSeen = new TreeMap<>();
  private final HealthOfCards health;
  private final Set<String> missing = new HashSet<>();

  KnownCards(CardPolicy policy) {
    this(policy, new HealthOfCards());
  }

  KnownCards(CardPolicy policy, HealthOfCards health) {
    this.policy = policy;
    this.health = health;
  }

  /** Tells which indexes the cards had before this process started. */
  void remember(List<Gpu> earlier) {
    earlier.forEach(gpu -> indexOf.putIfAbsent(gpu.uuid(), gpu.index()));
  }

  /** Tells which index a card had at some time before; another one may have it by now. */
  void remember(String uuid, int index) {
    if (!indexOf.containsValue(index)) {
      indexOf.putIfAbsent(uuid, index);
    }
  }

  /**
   * Makes a card unhealthy until the error is over.
   *
   * @return whether it was not already, for the same error
   */
  boolean blame(XidEvent event) {
    return health.blame(event, missing.contains(event.card()));
  }

  /** The driver is not there: all cards are gone. */
  void gone() {
    health.allGone();
  }

  /** The same on a node where no claim has a MIG instance. */
  List<Gpu> update(CardReading reading, PciTopology topology) {
    return update(reading, topology, Optional.of(ClaimedInstances.NONE));
  }

  /**
   * The cards by index: those that answered, and those seen before that did not, as unhealthy.
   *
   * @param claimed which MIG instances claims have; empty if that is not known
   */
  List<Gpu> update(CardReading reading, PciTopology topology, Optional<ClaimedInstances> claimed) {
    Map<String, String> domains = NvlinkDomains.of(reading.cards());
    Set<String> present = new HashSet<>();
    Map<String, Integer> indexByBusId = new HashMap<>();
    for (Card card : reading.cards()) {
      present.add(card.uuid());
      int index = indexOf.computeIfAbsent(card.uuid(), uuid -> freeIndex(card.index()));
      card.topology().pciBusId().ifPresent(id -> indexByBusId.put(id, index));
    }
    Map<String, StaticInstances> staticInstances = new HashMap<>();
    for (Card card : reading.cards()) {
      List<StaticMigInstance> earlier =
          Optional.ofNullable(lastSeen.get(card.uuid())).map(Gpu::staticMigInstances).orElse(List.of());
      StaticInstances instances = StaticInstances.of(card, claimed, earlier);
      staticInstances.put(card.uuid(), instances);
      lastSeen.put(card.uuid(), describe(card, topology, domains.get(card.uuid()), peers(card, indexByBusId))
          .withMigProfiles(policy.mig() || !instances.offered().isEmpty() ? card.mig().profiles() : List.of())
          .withStaticMigInstances(instances.offered()));
    }
    missing.clear();
    missing.addAll(lastSeen.keySet());
    missing.removeAll(present);
    Map<String, GpuHealth> ofPresent = new HashMap<>();
    reading.cards().forEach(card -> ofPresent.put(card.uuid(),
        health.ofPresent(card, offersInstances(staticInstances.getOrDefault(card.uuid(), StaticInstances.NONE)))));
    List<Gpu> gpus = new ArrayList<>();
    for (Gpu gpu : lastSeen.values()) {
      gpus.add(
          gpu.withHealth(
              Optional.ofNullable(ofPresent.get(gpu.uuid()))
                  .orElseGet(() -> health.ofAbsent(gpu.uuid(), gpu.index(), reading.faults()))));
    }
    health.keep();
    gpus.sort(Comparator.comparingInt(Gpu::index));
    return gpus;
  }

  /** Whether claims can have instances of the card: those of somebody else, or such as Partita makes. */
  private boolean offersInstances(StaticInstances ofOthers) {
    return !ofOthers.offered().isEmpty() || (policy.mig() && !ofOthers.divided());
  }

  /** The opaque cards by index. */
  List<Gpu> opaque(OpaqueCards listed, PciTopology topology) {
    List<Gpu> gpus = new ArrayList<>();
    listed.byUuid().forEach((uuid, card) -> {
      int index = indexOf.computeIfAbsent(uuid, _ -> freeIndex(DeviceName.FIRST_OPAQUE));
      Optional<Integer> numa =
          card.numaNode().isPresent()
              ? Optional.of(card.numaNode().getAsInt())
              : card.pciBusId().flatMap(topology::numaNode);
      GpuTopology place = new GpuTopology(card.pciBusId().orElse(null),
          card.pciBusId().flatMap(topology::pcieRoot).orElse(null), numa.orElse(null), null);
      gpus.add(
          new Gpu(index, NO_MINOR, uuid, GpuProduct.named(card.productName(), card.vendor(), "", ""),
              card.memoryBytes(), place, GpuHealth.HEALTHY).asOpaque(new OpaqueKind(card.vendor(), card.serial())));
    });
    gpus.sort(Comparator.comparingInt(Gpu::index));
    return gpus;
  }

  private Gpu describe(Card card, PciTopology pci, @Nullable String nvlinkDomain, List<NvlinkPeer> nvlinkPeers) {
    Optional<String> busId = card.topology().pciBusId();
    GpuTopology topology =
        new GpuTopology(
            busId.orElse(null),
            busId.flatMap(pci::pcieRoot).orElse(null),
            busId.flatMap(pci::numaNode).or(card.topology()::numaNode).orElse(null),
            nvlinkDomain,
            nvlinkPeers);
    return new Gpu(
        Objects.requireNonNull(indexOf.get(card.uuid()), card.uuid()),
        card.minor(),
        card.uuid(),
        card.product(),
        card.memory().bytes(),
        topology,
        GpuHealth.HEALTHY)
        .withReserved(new GpuReserve(card.memory().reservedBytes(), policy.reserve().of(card.memory().bytes())))
        .withMemoryEnforcement(
            policy.driverLimits() && card.limitsMemory()
                ? MemoryEnforcement.Driver
                : MemoryEnforcement.Interception);
  }

  private static List<NvlinkPeer> peers(Card card, Map<String, Integer> indexByBusId) {
    Map<Integer, Integer> links = new TreeMap<>();
    for (String busId : card.topology().nvlink().peers()) {
      Integer index = indexByBusId.get(busId);
      if (index != null) {
        links.merge(index, 1, Integer::sum);
      }
    }
    return links.entrySet().stream().map(peer -> new NvlinkPeer(peer.getKey(), peer.getValue())).toList();
  }

  private int freeIndex(int wanted) {
    int index = wanted;
    while (indexOf.containsValue(index)) {
      index++;
    }
    return index;
  }
}
