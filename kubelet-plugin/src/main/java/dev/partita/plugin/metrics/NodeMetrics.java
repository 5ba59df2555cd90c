package dev.partita.plugin.metrics;

import static dev.partita.serving.metrics.Family.gauge;

import dev.partita.api.Driver;
import dev.partita.api.gpu.Gpu;
import dev.partita.api.node.GpuNodeSpec;
import dev.partita.plugin.checkpoint.Checkpoint;
import dev.partita.plugin.claim.CdiName;
import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.grant.Grant;
import dev.partita.plugin.inventory.Inventory;
import dev.partita.plugin.nvml.CardFigure;
import dev.partita.plugin.nvml.ProcessSample;
import dev.partita.plugin.nvml.Samples;
import dev.partita.plugin.podresources.ContainerRef;
import dev.partita.plugin.podresources.ProcessContainers;
import dev.partita.plugin.resize.Recalls;
import dev.partita.plugin.usage.UseTotals;
import dev.partita.plugin.usage.measure.ShareRef;
import dev.partita.plugin.usage.verdict.CoreUse;
import dev.partita.plugin.usage.verdict.ProcessUse;
import dev.partita.plugin.usage.verdict.ShareUse;
import dev.partita.plugin.xid.XidCounts;
import dev.partita.serving.metrics.Family;
import dev.partita.serving.metrics.Source;
import java.io.IOException;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Tells Prometheus of the node, in our own names and in those of others. */
public final class NodeMetrics implements Source {
  private static final double MILLIS = 1e-3;

  /** While an upgrade replaces a node's plugin there are two of them. */
  private static final String NODE = "node";
  private static final Family CLAIMS =
      gauge("partita_plugin_prepared_claims", "Claims of which there is a record.", NODE);
  private static final Family CHECKPOINT = gauge("partita_plugin_checkpoint_bytes", "Size of all these records.", NODE);
  private static final Family NVML_AGE = gauge("partita_plugin_nvml_reading_age_seconds",
      "How old NVML's figures are: more than a few seconds where the driver does not answer.", NODE);

  private static final Family UNSET_LIMITS = gauge("partita_plugin_unset_driver_limits",
      "Memory limits of pods that the driver has refused to set: only the interception library holds these pods.",
      NODE);

  private static final Family RECALLS = Family.counter("partita_plugin_memory_recalls_total",
      "Times since the plugin started that a claim was asked for memory that it was lent, by how that ended: it was"
          + " returned, its processes were killed for it after the grace, or it was needed no more.",
      NODE, "outcome");

  private final NodeState state;
  private final UseTotals totals;
  private final DriverFigures driver;
  private final InstantSource clock;
  private final List<Dialect> dialects;

  /**
   * What is told of.
   *
   * @param node the node's name
   * @param inventory the last reading of the cards
   * @param spec the node's settings
   * @param checkpoint the prepared claims
   * @param shares the last reading of what they use
   * @param containers who has them
   * @param xids of the cards
   * @param unsetLimits memory limits of pods that the driver has refused
   */
  public record NodeState(
      String node,
      Supplier<Inventory> inventory,
      Supplier<GpuNodeSpec> spec,
      Checkpoint checkpoint,
      Shares shares,
      Containers containers,
      XidCounts xids,
      IntSupplier unsetLimits) {}

  /**
   * Where the last reading of the shares comes from.
   *
   * @param uses what they are used for
   * @param coreUses whether they keep to their core limits
   * @param recalls what they have been lent and is asked back
   */
  public record Shares(
      Supplier<Map<ShareRef, ShareUse>> uses,
      Supplier<Map<ShareRef, CoreUse>> coreUses,
      Recalls recalls) {}

  /**
   * Where it comes from which container has a device, and in which one a process runs.
   *
   * @param byDevice which have a device, by its CDI id
   * @param running in which of some containers a process runs, by its pid
   */
  public record Containers(Supplier<Map<String, List<ContainerRef>>> byDevice, ProcessContainers running) {}

  /**
   * Made once.
   *
   * @param figures what NVML measures of the cards
   * @param samples what processes use of them
   * @param others whose names are told, too
   */
  public NodeMetrics(
      NodeState state,
      UseTotals totals,
      Supplier<Map<String, Map<CardFigure, Double>>> figures,
      Samples samples,
      Set<OtherNames> others,
      InstantSource clock) {
    this.state = state;
    this.totals = totals;
    this.driver = new DriverFigures(figures, samples, clock);
    this.clock = clock;
    this.dialects =
        Stream.concat(Stream.of(new OwnDialect()), others.stream().sorted().map(OtherNames::dialect)).toList();
  }

  /** Every family that is ever told, by whose names it has. */
  public static Map<String, List<Family>> families() {
    Map<String, List<Family>> families = new TreeMap<>();
    families.put("Partita",
        Stream
            .concat(Stream.of(CLAIMS, CHECKPOINT, NVML_AGE, UNSET_LIMITS, RECALLS),
                new OwnDialect().families().stream())
            .toList());
    for (OtherNames other : OtherNames.values()) {
      families.put(other.whose(), other.dialect().families());
    }
    return families;
  }

  @Override
  public void collect(dev.partita.serving.metrics.Samples into) {
    List<PreparedClaim> prepared = prepared();
    into.put(CLAIMS, prepared.size(), state.node());
    into.put(CHECKPOINT, checkpointSize(), state.node());
    into.put(UNSET_LIMITS, state.unsetLimits().getAsInt(), state.node());
    state.shares().recalls().ended().forEach(
        (outcome, count) -> into.put(RECALLS, count, state.node(), outcome.name().toLowerCase(Locale.ROOT)));
    if (!(state.inventory().get() instanceof Inventory.Cards cards)) {
      return;
    }
    Set<String> shared = new TreeSet<>();
    prepared.stream().flatMap(claim -> claim.grants().stream()).filter(grant -> grant.share().isPresent())
        .forEach(grant -> shared.add(grant.card().uuid()));
    DriverFigures.Reading reading = driver.read(shared);
    into.put(NVML_AGE, (clock.instant().toEpochMilli() - reading.at().toEpochMilli()) * MILLIS, state.node());
    NodeSnapshot snapshot = snapshot(cards, prepared, reading);
    dialects.forEach(dialect -> dialect.write(snapshot, into));
  }

  private List<PreparedClaim> prepared() {
    try {
      return state.checkpoint().readAll();
    } catch (IOException e) {
      throw new IllegalStateException("the records of prepared claims: " + e, e);
    }
  }

  private long checkpointSize() {
    try {
      return state.checkpoint().size();
    } catch (IOException e) {
      throw new IllegalStateException("the size of the records of prepared claims: " + e, e);
    }
  }

  private NodeSnapshot snapshot(Inventory.Cards cards, List<PreparedClaim> prepared, DriverFigures.Reading reading) {
    GpuNodeSpec spec = state.spec().get();
    Map<String, List<NodeSnapshot.Device>> devices = devices(prepared, reading);
    List<NodeSnapshot.Card> all = new ArrayList<>();
    for (Gpu gpu : cards.gpus()) {
      all.add(new NodeSnapshot.Card(gpu, spec.allocatableBytes(gpu),
          reading.figures().getOrDefault(gpu.uuid(), Map.of()), state.xids().of(gpu.uuid()),
          devices.getOrDefault(gpu.uuid(), List.of())));
    }
    return new NodeSnapshot(state.node(), Driver.poolOf(state.node()), cards.driverVersion().orElse(""), all);
  }

  private Map<String, List<NodeSnapshot.Device>> devices(
      List<PreparedClaim> prepared,
      DriverFigures.Reading reading) {
    Map<ShareRef, ShareUse> uses = state.shares().uses().get();
    Map<ShareRef, CoreUse> coreUses = state.shares().coreUses().get();
    Map<ShareRef, Recalls.OfShare> recalls = state.shares().recalls().current();
    Map<String, List<ContainerRef>> containers = prepared.isEmpty() ? Map.of() : state.containers().byDevice().get();
    Map<String, List<NodeSnapshot.Device>> devices = new HashMap<>();
    for (PreparedClaim claim : prepared) {
      for (Grant grant : claim.grants()) {
        List<ContainerRef> those = containers.getOrDefault(CdiName.idOf(claim.claim(), grant), List.of());
        ShareRef ref = new ShareRef(claim.claim().uid(), grant.shareKey());
        Optional<ShareUse> use = Optional.ofNullable(uses.get(ref));
        devices.computeIfAbsent(grant.card().uuid(), card -> new ArrayList<>())
            .add(new NodeSnapshot.Device(claim, grant, those, use,
                use.map(u -> parts(u, those, reading.samples())).orElse(List.of()),
                Optional.ofNullable(coreUses.get(ref)),
                recalls.getOrDefault(ref, Recalls.OfShare.NOTHING), totals.of(ref)));
      }
    }
    return devices;
  }

  /** One for each container that has the share, and another one for processes that cannot be told apart. */
  private List<NodeSnapshot.Part> parts(
      ShareUse use,
      List<ContainerRef> containers,
      Map<String, List<ProcessSample>> samples) {
    Map<Optional<ContainerRef>, List<ProcessUse>> processes = new LinkedHashMap<>();
    containers.forEach(container -> processes.put(Optional.of(container), new ArrayList<>()));
    if (containers.isEmpty()) {
      processes.put(Optional.empty(), new ArrayList<>());
    }
    for (ProcessUse process : use.processes()) {
      Optional<ContainerRef> its =
          containers.size() == 1
              ? Optional.of(containers.getFirst())
              : state.containers().running().of(process.pid(), containers);
      processes.computeIfAbsent(its, container -> new ArrayList<>()).add(process);
    }
    return processes.entrySet().stream().map(part -> new NodeSnapshot.Part(part.getKey(), part.getValue(),
        corePercent(part.getValue(), samples.get(use.share().card())))).toList();
  }

  private static OptionalDouble corePercent(List<ProcessUse> processes, @Nullable List<ProcessSample> ofCard) {
    if (ofCard == null) {
      return OptionalDouble.empty();
    }
    return OptionalDouble.of(processes.stream()
        .mapToInt(process -> ofCard.stream().filter(sample -> sample.pid() == process.pid())
            .mapToInt(ProcessSample::smPercent).sum())
        .sum());
  }
}
