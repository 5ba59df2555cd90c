package dev.partita.controller.inventory;

import dev.partita.api.DeviceName;
import dev.partita.api.Driver;
import dev.partita.api.MigSlot;
import dev.partita.api.device.AttributeValue;
import dev.partita.api.device.CapacityName;
import dev.partita.api.device.DeviceAttribute;
import dev.partita.api.gpu.Gpu;
import dev.partita.api.gpu.GpuHealth;
import dev.partita.api.gpu.MigProfile;
import dev.partita.api.gpu.StaticMigInstance;
import dev.partita.api.node.GpuNode;
import dev.partita.api.node.GpuNodeSpec.PublishedMode;
import dev.partita.api.node.GpuNodeSpec;
import dev.partita.api.node.GpuNodeStatus;
import dev.partita.api.node.HeldClaim;
import dev.partita.api.node.HeldDevice;
import dev.partita.controller.inventory.Capacity.RequestPolicy;
import io.fabric8.kubernetes.api.model.Condition;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Reads from GpuNodes which devices their cards are offered as, with which attributes and capacities. For one thread.
 */
final class HostReader {
  /** Smallest share of memory, in bytes. */
  static final long MEMORY_MIN = 1L << 20;

  static final int CORES_TOTAL = 100;

  /** Bytes that no card has, and that can be multiplied by a percentage. */
  private static final long MOST_MEMORY = 1L << 50;

  private static final int MAX_TAINT_VALUE = 63;

  private static final String NO_SCHEDULE = "NoSchedule";
  private static final String NO_EXECUTE = "NoExecute";

  private final SharedValues shared = new SharedValues();

  /**
   * Reads one node.
   *
   * @param rules the DeviceTaintRules about it
   */
  GpuHost read(GpuNode node, List<TaintRules.Rule> rules) {
    String name = node.getMetadata().getName();
    GpuNodeSpec spec = Objects.requireNonNullElse(node.getSpec(), GpuNodeSpec.DEFAULT);
    GpuNodeStatus status = node.getStatus();
    List<Card> cards = new ArrayList<>();
    List<Device> devices = new ArrayList<>();
    if (status != null) {
      Set<Integer> seen = new HashSet<>();
      List<Gpu> gpus = status.gpus().stream().sorted(Comparator.comparingInt(Gpu::index)).toList();
      for (Gpu gpu : gpus) {
        if (gpu.index() < 0 || gpu.memoryBytes() <= 0 || gpu.uuid().isEmpty() || gpu.model().isEmpty()
            || !seen.add(gpu.index())) {
          continue; // nothing that a device could be made of
        }
        MigGeometry mig = shared.derived(gpu.migProfiles(), MigGeometry::of);
        Card card = new Card(new CardKey(name, gpu.index()), gpu, spec.allocatableBytes(gpu), mig,
            status.otherDriversOf(gpu.uuid()));
        cards.add(card);
        if (spec.allocator() == GpuNodeSpec.Allocator.Unknown || spec.withhold().contains(gpu.uuid())
            || card.isServedElsewhere()) {
          continue; // what is taken of it still counts
        }
        List<Device.Taint> ofCard = shared.one(taints(gpu, gpu.health(), spec));
        Function<DeviceName, List<Device.Taint>> published = device -> published(gpu, device, ofCard, spec);
        Function<DeviceName, List<Device.Taint>> taints =
            rules.isEmpty()
                ? published
                : device -> shared.one(TaintRules.with(published.apply(device), device, rules));
        if (gpu.isOpaque()) {
          share(card, status, new DeviceName.Opaque(gpu.index()), taints).ifPresent(devices::add);
          continue; // it is offered in no other way
        }
        if (gpu.isCutByHand()) {
          devices.addAll(instances(card, status, taints)); // whatever the spec says: nothing else can be had of it
          if (spec.publishesInstanceShares()) {
            devices.addAll(instanceShares(card, status, spec, taints));
          }
          continue;
        }
        for (PublishedMode mode : new java.util.TreeSet<>(spec.publishedModes())) {
          switch (mode) {
            case Whole -> devices.add(whole(card, status, taints));
            case Shared -> share(card, status, new DeviceName.Shared(gpu.index()), taints).ifPresent(devices::add);
            case Mig -> devices.addAll(instances(card, status, taints));
            case MigShared -> {} // of instances that somebody else has made
            case Unknown -> {}
          }
        }
      }
    }
    List<HeldClaim> held =
        status == null ? List.of() : status.held().stream().map(claim -> asAllocated(claim, spec)).toList();
    return new GpuHost(name, spec.allocator(), unready(node), cards, devices, held);
  }

  /** A node that offers more than its cards have reports what a share may hold of the card: more of it is allocated. */
  private static HeldClaim asAllocated(HeldClaim claim, GpuNodeSpec spec) {
    return new HeldClaim(
        claim.claimUid(),
        claim.namespace(),
        claim.name(),
        claim.reason(),
        claim.devices().stream().map(device -> asAllocated(device, spec.allocatablePercent())).toList(),
        claim.since());
  }

  private static HeldDevice asAllocated(HeldDevice device, int percent) {
    boolean byMps = device.kind() == HeldDevice.Kind.Mps;
    if (!byMps && device.kind() != HeldDevice.Kind.Share) {
      return device;
    }
    long bytes = device.memoryBytes() == null ? 0 : Math.clamp(device.memoryBytes(), 0, MOST_MEMORY);
    int cores = device.cores() == null ? 0 : Math.clamp(device.cores(), 0, CORES_TOTAL);
    long allocated = bytes / 100 * percent + bytes % 100 * percent / 100;
    return byMps ? HeldDevice.mps(device.uuid(), allocated, cores) : HeldDevice.share(device.uuid(), allocated, cores);
  }

  /** Why the node's cards cannot be handed out; empty if they can. */
  static Optional<String> unready(GpuNode node) {
    if (node.getMetadata().getDeletionTimestamp() != null) {
      return Optional.of("the GpuNode is being deleted");
    }
    GpuNodeStatus status = node.getStatus();
    if (status == null) {
      return Optional.of("the node's plugin has not reported yet");
    }
    if (status.isReady()) {
      return Optional.empty();
    }
    return Optional.of(
        status.conditions().stream()
            .filter(c -> GpuNode.READY.equals(c.getType()))
            .map(HostReader::words)
            .findFirst()
            .orElse("the node's plugin has not reported yet"));
  }

  private static String words(Condition ready) {
    @Nullable String message = ready.getMessage();
    @Nullable String reason = ready.getReason();
    return message != null && !message.isBlank() ? message : reason != null ? reason : "the GpuNode is not Ready";
  }

  private Device whole(Card card, GpuNodeStatus status, Function<DeviceName, List<Device.Taint>> taints) {
    Capacity memory = new Capacity(card.gpu().memoryBytes(), Optional.empty());
    DeviceName name = new DeviceName.Whole(card.key().index());
    return device(card, new DeviceAttribute.Source(status, card.gpu(), name, Optional.empty()),
        Map.of(CapacityName.MEMORY, memory), taints);
  }

  private Optional<Device> share(
      Card card,
      GpuNodeStatus status,
      DeviceName name,
      Function<DeviceName, List<Device.Taint>> taints) {
    long memory = card.allocatableMemory();
    if (memory < MEMORY_MIN) {
      return Optional.empty(); // the reserve leaves nothing to share
    }
    Map<String, Capacity> capacities =
        Map.of(
            CapacityName.MEMORY,
            new Capacity(memory, Optional.of(new RequestPolicy(memory, MEMORY_MIN, memory, OptionalLong.empty()))),
            CapacityName.CORES,
            new Capacity(CORES_TOTAL, Optional.of(new RequestPolicy(0, 0, CORES_TOTAL, OptionalLong.of(1)))));
    return Optional
        .of(device(card, new DeviceAttribute.Source(status, card.gpu(), name, Optional.empty()), capacities, taints));
  }

  /**
   * The smallest profile first, and of one that placement first which leaves most for others: kube-scheduler takes the
   * first that fits.
   */
  private List<Device> instances(Card card, GpuNodeStatus status, Function<DeviceName, List<Device.Taint>> taints) {
    List<Device> devices = new ArrayList<>();
    for (MigGeometry.Kind kind : card.mig().kinds()) {
      List<MigSlot> slots = new ArrayList<>();
      kind.placements().forEach(placement -> slots.add(new MigSlot(kind.label(), placement.start())));
      slots.removeIf(slot -> card.gpu().isCutByHand() && card.gpu().staticMigInstance(slot).isEmpty());
      slots.sort(Comparator.comparingInt((MigSlot slot) -> -card.mig().room(List.of(slot))));
      for (MigSlot slot : slots) {
        Map<String, Capacity> capacities =
            Map.of(
                CapacityName.MEMORY, new Capacity(kind.profile().memoryBytes(), Optional.empty()),
                CapacityName.MULTIPROCESSORS,
                new Capacity(Math.max(0, kind.profile().multiprocessors()), Optional.empty()));
        DeviceName name = new DeviceName.Mig(card.key().index(), slot);
        devices.add(device(
            card, new DeviceAttribute.Source(status, card.gpu(), name, Optional.of(kind.profile())), capacities,
            taints));
      }
    }
    return devices;
  }

  /**
   * Of each instance that somebody else made and that can be told from the others by its UUID, and of those that are
   * gone, which claims may still have.
   */
  private List<Device> instanceShares(
      Card card,
      GpuNodeStatus status,
      GpuNodeSpec spec,
      Function<DeviceName, List<Device.Taint>> taints) {
    List<Device> devices = new ArrayList<>();
    for (StaticMigInstance instance : card.gpu().staticMigInstances()) {
      Optional<MigSlot> slot = instance.slot();
      Optional<MigProfile> profile = slot.flatMap(card.gpu()::migProfile);
      long memory = profile.map(its -> spec.allocatableBytes(card.gpu(), its)).orElse(0L);
      if (slot.isEmpty() || memory < MEMORY_MIN || (!instance.hasOwnUuid() && instance.isHealthy())
          || !card.gpu().staticMigInstance(slot.get()).equals(Optional.of(instance))) {
        continue;
      }
      DeviceName name = new DeviceName.MigShared(card.key().index(), slot.get());
      devices.add(device(card, new DeviceAttribute.Source(status, card.gpu(), name, profile), Map.of(
          CapacityName.MEMORY,
          new Capacity(memory, Optional.of(new RequestPolicy(memory, MEMORY_MIN, memory, OptionalLong.empty())))),
          taints));
    }
    return devices;
  }

  private Device device(
      Card card,
      DeviceAttribute.Source source,
      Map<String, Capacity> capacities,
      Function<DeviceName, List<Device.Taint>> taints) {
    SortedMap<String, AttributeValue> values = new TreeMap<>();
    DeviceAttribute.allOf(source).forEach((key, value) -> values.put(key, shared.one(value)));
    return new Device(
        source.name(),
        card,
        SortedArrayMap.of(values, shared),
        shared.one(SortedArrayMap.of(new TreeMap<>(capacities), shared)),
        taints.apply(source.name()));
  }

  /** The taints of a device: its card's, and what is wrong with the very instance, should its card be well. */
  private List<Device.Taint> published(Gpu gpu, DeviceName name, List<Device.Taint> ofCard, GpuNodeSpec spec) {
    return isWell(gpu.health())
        ? name.instance().flatMap(gpu::staticMigInstance).filter(instance -> !isWell(instance.health()))
            .map(instance -> shared.one(taints(gpu, instance.health(), spec))).orElse(ofCard)
        : ofCard;
  }

  private static boolean isWell(@Nullable GpuHealth health) {
    return health == null || health.state() == GpuHealth.State.Healthy;
  }

  /**
   * What keeps claims off a card or an instance: that the card is cordoned comes first, for it is meant so. By
   * NoExecute Kubernetes' device taint eviction ends the pods that have the device.
   */
  private static List<Device.Taint> taints(Gpu gpu, @Nullable GpuHealth health, GpuNodeSpec spec) {
    List<Device.Taint> taints = new ArrayList<>();
    if (spec.cordoned().contains(gpu.uuid())) {
      taints.add(new Device.Taint(Driver.CORDON_TAINT, "", NO_SCHEDULE));
    }
    if (health != null && !isWell(health)) {
      String effect = spec.evictsFrom(Objects.requireNonNullElse(health.reason(), "")) ? NO_EXECUTE : NO_SCHEDULE;
      taints.add(new Device.Taint(Driver.HEALTH_TAINT, taintValue(health.reason()), effect));
    }
    return taints;
  }

  /** A taint's value is a label's: letters, digits and {@code -_.} within, at most 63. */
  private static String taintValue(@Nullable String reason) {
    String value = reason == null ? "" : reason.replaceAll("[^A-Za-z0-9_.-]", "-");
    value = value.length() > MAX_TAINT_VALUE ? value.substring(0, MAX_TAINT_VALUE) : value;
    return value.replaceAll("^[^A-Za-z0-9]+|[^A-Za-z0-9]+$", "");
  }
}
