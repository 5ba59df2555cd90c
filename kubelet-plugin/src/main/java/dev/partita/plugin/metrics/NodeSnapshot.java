package dev.partita.plugin.metrics;

import dev.partita.api.gpu.Gpu;
import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.grant.BookedShare;
import dev.partita.plugin.grant.CardIdentity;
import dev.partita.plugin.grant.ClaimRef;
import dev.partita.plugin.grant.Grant;
import dev.partita.plugin.grant.Share;
import dev.partita.plugin.nvml.CardFigure;
import dev.partita.plugin.podresources.ContainerRef;
import dev.partita.plugin.resize.Recalls;
import dev.partita.plugin.usage.UseTotals;
import dev.partita.plugin.usage.verdict.CoreUse;
import dev.partita.plugin.usage.verdict.ProcessUse;
import dev.partita.plugin.usage.verdict.ShareUse;
import dev.partita.plugin.xid.XidCounts;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.LongSummaryStatistics;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;

/**
 * The node as one scrape sees it.
 *
 * @param node its name
 * @param pool of its devices
 * @param driverVersion empty without a driver that answers
 * @param cards by index
 */
record NodeSnapshot(String node, String pool, String driverVersion, List<Card> cards) {
  NodeSnapshot {
    cards = List.copyOf(cards);
  }

  /** The cards of NVIDIA's driver, which are all that other systems have names for. */
  List<Card> cardsOfDriver() {
    return cards.stream().filter(card -> !card.gpu().isOpaque()).toList();
  }

  /** UUIDs of the cards that each container has, in the order in which CUDA numbers them there. */
  Map<ContainerRef, List<String>> cardsOfContainers() {
    Map<ContainerRef, List<String>> cardsOf = new HashMap<>();
    cardsOfDriver().stream()
        .sorted(Comparator.comparing(card -> CardIdentity.of(card.gpu()), CardIdentity.CUDA_ORDER))
        .forEach(card -> card.containers().forEach(
            container -> cardsOf.computeIfAbsent(container, its -> new ArrayList<>()).add(card.gpu().uuid())));
    return cardsOf;
  }

  /**
   * A card.
   *
   * @param allocatable bytes of it that shares may have together
   * @param figures what NVML measures of it
   * @param xids its XID errors
   * @param devices what is prepared on it
   */
  record Card(
      Gpu gpu,
      long allocatable,
      Map<CardFigure, Double> figures,
      XidCounts.OfCard xids,
      List<Device> devices) {
    Card {
      devices = List.copyOf(devices);
    }

    OptionalDouble figure(CardFigure which) {
      Double value = figures.get(which);
      return value == null ? OptionalDouble.empty() : OptionalDouble.of(value);
    }

    /** Bytes of it that prepared claims have, without what is lent; claims that have it in turn have the same ones. */
    long allocatedBytes() {
      return ofClaims(device -> device.memoryBytes() - device.lentBytes());
    }

    /** What of that may be on the card. */
    long allocatedPhysicalBytes() {
      return ofClaims(device -> device.physicalBytes() - device.lentBytes());
    }

    private long ofClaims(ToLongFunction<Device> bytes) {
      Map<Boolean, LongSummaryStatistics> byTurns = devices.stream().filter(Device::takes)
          .collect(Collectors.partitioningBy(device -> device.grant().use().timeSlicing().isPresent(),
              Collectors.summarizingLong(bytes)));
      return Objects.requireNonNull(byTurns.get(false)).getSum()
          + Math.max(0, Objects.requireNonNull(byTurns.get(true)).getMax());
    }

    /** The containers that have something of it. */
    List<ContainerRef> containers() {
      return devices.stream().flatMap(device -> device.containers().stream()).distinct().toList();
    }

    /** How many those are; what is prepared for a container that is not known yet counts as one. */
    long sharers() {
      return containers().size() + devices.stream().filter(device -> device.containers().isEmpty()).count();
    }

    /** Percent of its time that prepared claims have: 100 for a whole card, nothing for MIG instances. */
    int allocatedCores() {
      return devices.stream().filter(Device::takes).mapToInt(Device::cores).sum();
    }
  }

  /**
   * A prepared device of a claim.
   *
   * @param containers those that have it, as kubelet tells
   * @param use what a share is used for; empty for what is no share
   * @param parts of that use, by container; together they are all of it
   * @param coreUse whether a share keeps to its core limit; empty for what is no share
   * @param recall what it has been lent and is asked back
   * @param total its use over time
   */
  record Device(
      PreparedClaim prepared,
      Grant grant,
      List<ContainerRef> containers,
      Optional<ShareUse> use,
      List<Part> parts,
      Optional<CoreUse> coreUse,
      Recalls.OfShare recall,
      UseTotals.Total total) {
    Device {
      containers = List.copyOf(containers);
      parts = List.copyOf(parts);
    }

    ClaimRef claim() {
      return prepared.claim();
    }

    /** Whether others cannot have it meanwhile. */
    boolean takes() {
      return grant.use().held(grant.card()).isPresent();
    }

    long memoryBytes() {
      return grant.use().memoryBytes(grant.card());
    }

    long lentBytes() {
      return grant.share().map(Share::lentBytes).orElse(0L);
    }

    /** What of the memory may be on the card. */
    long physicalBytes() {
      return grant.share().map(Share::physicalBytes).orElseGet(this::memoryBytes);
    }

    int cores() {
      if (grant.use() instanceof BookedShare booked) {
        return booked.cores();
      }
      boolean all = takes() && grant.mig().isEmpty() && grant.use().timeSlicing().isEmpty();
      return grant.share().map(Share::cores).orElse(all ? 100 : 0);
    }

    /** The pod that has it; empty where it is several or not known. */
    String pod() {
      List<String> pods = containers.stream().map(ContainerRef::pod).distinct().toList();
      return pods.size() == 1 ? pods.getFirst() : "";
    }

    /** The container that has it; empty where it is several or not known. */
    String container() {
      return containers.size() == 1 ? containers.getFirst().container() : "";
    }

    /** The pod of a part of its use, or else of all of it. */
    String pod(Part part) {
      return part.container().map(ContainerRef::pod).orElseGet(this::pod);
    }

    /** The container of a part of its use, or else of all of it. */
    String container(Part part) {
      return part.container().map(ContainerRef::container).orElseGet(this::container);
    }
  }

  /**
   * What the processes of one container use of a share.
   *
   * @param container empty for processes of which that is not known
   * @param corePercent of the card's time that they have now; empty if nobody tells
   */
  record Part(Optional<ContainerRef> container, List<ProcessUse> processes, OptionalDouble corePercent) {
    Part {
      processes = List.copyOf(processes);
    }

    /** Bytes of the card that they hold, by NVML. */
    long bytes() {
      return processes.stream().mapToLong(ProcessUse::bytes).sum();
    }

    /** What their contexts and modules take. */
    long overheadBytes() {
      return processes.stream().mapToLong(ProcessUse::overheadBytes).sum();
    }

    /** What the ledger has granted to them. */
    long ledgerBytes() {
      return processes.stream().mapToLong(ProcessUse::ledgerBytes).sum();
    }
  }
}
