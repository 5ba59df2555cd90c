package dev.partita.plugin.inventory;

import dev.partita.api.node.Gpu;
import dev.partita.api.node.GpuHealth;
import dev.partita.api.node.GpuReserve;
import dev.partita.api.node.GpuTopology;
import dev.partita.api.node.MemoryEnforcement;
import dev.partita.api.node.NvlinkPeer;
import dev.partita.plugin.nvml.CardReading;
import dev.partita.plugin.nvml.CardReading.Card;
import dev.partita.plugin.nvml.NvmlException;
import dev.partita.plugin.nvml.XidEvent;
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
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Turns readings into the node's cards. A card keeps its index, and with it the names of its devices, for as long as it
 * is known. When one card falls off the bus NVML renumbers the others, and that must not give claims other cards.
 */
final class KnownCards {
  /**
   * The health of a card whose MIG mode is on while this plugin makes no instances: CUDA sees nothing of such a card
   * but its instances.
   */
  private static final GpuHealth MIG_MODE_IS_ON =
      GpuHealth.unhealthy(
          CardReason.MigModeIsOn.name(),
          "its MIG mode is on: nvidia-smi -i N -mig 0 on the node makes it usable, or plugin.mig=true offers its instances");

  private final CardPolicy policy;
  private final Map<String, Integer> indexOf = new TreeMap<>();
  private final Map<String, Gpu> lastSeen = new TreeMap<>();
  private final Map<String, Blame> blamed = new TreeMap<>();
  private final Set<String> missing = new HashSet<>();
  private final Set<String> cutByOthers = new HashSet<>();
  private final CardDiagnosis diagnosis = new CardDiagnosis();
  private final FlapDamping damping;
  private final LongSupplier nanos;

  /**
   * A card that had a fatal error.
   *
   * @param gone whether it has not answered since
   */
  private record Blame(XidEvent event, boolean gone) {}

  KnownCards(CardPolicy policy) {
    this(policy, FlapDamping.History.NONE, System::nanoTime);
  }

  /**
   * The same.
   *
   * @param flaps keeps which cards became unhealthy
   * @param nanos a clock that cannot be set
   */
  KnownCards(CardPolicy policy, FlapDamping.History flaps, LongSupplier nanos) {
    this.policy = policy;
    this.nanos = nanos;
    this.damping = new FlapDamping(flaps, nanos.getAsLong());
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
   * Makes a card unhealthy until it has gone and come back, as it does when it is reset.
   *
   * @return whether it was not already, for the same error
   */
  boolean blame(XidEvent event) {
    // the event of a card that fell off the bus may come after that was seen
    boolean gone = missing.contains(event.card());
    Blame earlier = blamed.put(event.card(), new Blame(event, gone));
    return earlier == null || earlier.event().xid() != event.xid() || (earlier.gone() && !gone);
  }

  /** The driver is not there: all cards are gone. */
  void gone() {
    blamed.replaceAll((uuid, blame) -> new Blame(blame.event(), true));
  }

  /** The cards by index: those that answered, and those seen before that did not, as unhealthy. */
  List<Gpu> update(CardReading reading, PciTopology topology) {
    Map<String, String> domains = NvlinkDomains.of(reading.cards());
    Set<String> present = new HashSet<>();
    Map<String, Integer> indexByBusId = new HashMap<>();
    for (Card card : reading.cards()) {
      present.add(card.uuid());
      int index = indexOf.computeIfAbsent(card.uuid(), uuid -> freeIndex(card.index()));
      card.topology().pciBusId().ifPresent(id -> indexByBusId.put(id, index));
    }
    for (Card card : reading.cards()) {
      lastSeen.put(card.uuid(), describe(card, topology, domains.get(card.uuid()), peers(card, indexByBusId)));
    }
    cutByOthers.clear();
    reading.cards().stream().filter(card -> card.mig().on() && !policy.mig()).map(Card::uuid).forEach(cutByOthers::add);
    missing.clear();
    missing.addAll(lastSeen.keySet());
    missing.removeAll(present);
    long now = nanos.getAsLong();
    Map<String, GpuHealth> wrong = new HashMap<>();
    reading.cards()
        .forEach(card -> diagnosis.of(card.uuid(), card.signs(), now).ifPresent(w -> wrong.put(card.uuid(), w)));
    List<Gpu> gpus = new ArrayList<>();
    for (Gpu gpu : lastSeen.values()) {
      GpuHealth ofPresent = wrong.getOrDefault(gpu.uuid(), GpuHealth.HEALTHY);
      GpuHealth health =
          present.contains(gpu.uuid()) ? healthOfPresent(gpu, ofPresent) : healthOfAbsent(gpu, reading.faults());
      gpus.add(gpu.withHealth(damping.update(gpu.uuid(), health, now)));
    }
    damping.keep(now);
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
        .withMigProfiles(policy.mig() ? card.mig().profiles() : List.of())
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

  /** Of a card that answers; {@code signs} is what NVML says of it. An XID error ends when the card has been gone. */
  private GpuHealth healthOfPresent(Gpu gpu, GpuHealth signs) {
    Blame blame = blamed.get(gpu.uuid());
    if (blame != null && !blame.gone()) {
      XidEvent event = blame.event();
      return GpuHealth.unhealthy(event.reason(), "the driver reported " + event.reason() + "; " + event.mend());
    }
    blamed.remove(gpu.uuid());
    return cutByOthers.contains(gpu.uuid()) ? MIG_MODE_IS_ON : signs;
  }

  private GpuHealth healthOfAbsent(Gpu gpu, List<CardReading.Fault> faults) {
    GpuHealth missing = healthOfMissing(gpu, faults);
    Blame blame = blamed.computeIfPresent(gpu.uuid(), (uuid, known) -> new Blame(known.event(), true));
    return blame == null
        ? missing
        : GpuHealth.unhealthy(
            blame.event().reason(), "the driver reported " + blame.event().reason() + "; " + missing.message());
  }

  private static GpuHealth healthOfMissing(Gpu gpu, List<CardReading.Fault> faults) {
    for (CardReading.Fault fault : faults) {
      if (fault.code() == NvmlException.RESET_REQUIRED && (faults.size() == 1 || fault.index() == gpu.index())) {
        return GpuHealth.unhealthy(CardReason.GpuResetRequired.name(),
            "NVML says that the card must be reset: " + fault.message());
      }
    }
    String detail = faults.isEmpty() ? "NVML no longer lists it" : faults.getFirst().message();
    return GpuHealth.unhealthy(CardReason.GpuIsLost.name(), "the card does not answer: " + detail);
  }
}
