package dev.partita.plugin.leftover;

import dev.partita.api.gpu.Gpu;
import dev.partita.api.gpu.GpuHealth;
import dev.partita.cdi.CdiSpec;
import dev.partita.cdi.ContainerEdits;
import dev.partita.cdi.DeviceNode;
import dev.partita.cdi.Mount;
import dev.partita.cdi.driver.DriverFile;
import dev.partita.cdi.driver.DriverFiles;
import dev.partita.cdi.driver.DriverNode;
import dev.partita.cdi.driver.GraphicsFile;
import dev.partita.plugin.claim.PreparedClaim.Phase;
import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.grant.Grant;
import dev.partita.plugin.inventory.Inventory;
import dev.partita.plugin.prepare.ClaimRewriter;
import dev.partita.plugin.store.ClaimStore;
import java.io.IOException;
import java.nio.file.Files;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has CDI specs of prepared claims written anew, when they are missing, name other files than the driver has now (whose
 * names have its version in them), lack one of its device nodes, or name another one than it or a card has now. Kubelet
 * starts a container that ended again without asking for its claim: that must not fail after an upgrade of the driver,
 * or after a reboot, which takes specs and usage regions along, and must give no container another one's card. Where
 * the driver may have been loaded anew, or a card reset, the claims' time slices are set again, and their MIG instances
 * made again.
 */
public final class SpecRenewal {
  private static final Logger LOG = LoggerFactory.getLogger(SpecRenewal.class);

  private final Supplier<Inventory> inventory;
  private final ClaimStore store;
  private final ClaimRewriter rewriter;
  private final Set<String> failed = ConcurrentHashMap.newKeySet(); // UUIDs of cards that were not well since
  private @Nullable DriverFiles looked;
  private Map<String, Integer> nodes = Map.of(); // minor numbers of cards by UUID, at the last look

  public SpecRenewal(Supplier<Inventory> inventory, ClaimStore store, ClaimRewriter rewriter) {
    this.inventory = inventory;
    this.store = store;
    this.rewriter = rewriter;
  }

  /** Takes note of cards that are not well now: they may be reset before the next look. */
  public void cardsWereRead() {
    if (inventory.get() instanceof Inventory.Cards cards) {
      cards.gpus().stream().filter(gpu -> !isWell(gpu)).map(Gpu::uuid).forEach(failed::add);
    }
  }

  /**
   * Looks if the driver's files or the cards' device nodes are others than at the last look, if no driver answered
   * since, or if a card is well again.
   */
  public void lookIfDriverChanged() throws IOException {
    switch (inventory.get()) {
      case Inventory.NoCards _ -> looked = null;
      case Inventory.Cards cards when !cards.files().equals(Optional.ofNullable(looked))
          || !nodesOf(cards).equals(nodes) -> look();
      case Inventory.Cards cards -> restore(recovered(cards));
    }
  }

  /** Looks at all specs. */
  void look() throws IOException {
    if (!(inventory.get() instanceof Inventory.Cards cards)) {
      looked = null;
      return;
    }
    Optional<DriverFiles> driver = cards.files();
    boolean maybeLoadedAnew = looked == null;
    for (PreparedClaim record : store.checkpoint().readAll()) {
      if (record.phase() == Phase.COMPLETED && !record.grants().isEmpty()
          && (driver.isPresent() || isOpaque(record))) {
        renewIfStale(record, driver, cards);
      }
    }
    Set<String> recovered = recovered(cards);
    restore(maybeLoadedAnew ? cards.gpus().stream().map(Gpu::uuid).collect(Collectors.toSet()) : recovered);
    looked = driver.orElse(null);
    nodes = nodesOf(cards);
  }

  private static Map<String, Integer> nodesOf(Inventory.Cards cards) {
    return cards.gpus().stream().filter(gpu -> !gpu.isOpaque()).collect(Collectors.toMap(Gpu::uuid, Gpu::minor));
  }

  /** Cards that were not well and are again. */
  private Set<String> recovered(Inventory.Cards cards) {
    Set<String> recovered =
        cards.gpus().stream().filter(SpecRenewal::isWell).map(Gpu::uuid).collect(Collectors.toSet());
    recovered.retainAll(failed);
    failed.removeAll(recovered);
    return recovered;
  }

  private static boolean isWell(Gpu gpu) {
    return gpu.health().state() == GpuHealth.State.Healthy;
  }

  /**
   * Has the driver do again what it was told for claims: one that was loaded anew has forgotten it, which it cannot be
   * while a plugin has it open, and so has a card that was reset.
   *
   * @param ofCards UUIDs
   */
  private void restore(Set<String> ofCards) throws IOException {
    Set<String> left = new HashSet<>(ofCards);
    for (PreparedClaim record : left.isEmpty() ? List.<PreparedClaim>of() : store.checkpoint().readAll()) {
      for (Grant grant : record.grants()) {
        if (grant.use().timeSlicing().isPresent() && left.remove(grant.card().uuid())) {
          setTimeSlice(record, grant);
        }
      }
      Set<String> cut = record.grants().stream().filter(grant -> grant.use().made().isPresent())
          .map(grant -> grant.card().uuid()).filter(ofCards::contains).collect(Collectors.toSet());
      if (record.phase() == Phase.COMPLETED && !cut.isEmpty()) {
        makeInstances(record, cut);
      }
    }
  }

  private void makeInstances(PreparedClaim record, Set<String> cards) {
    Optional<String> problem = renew(record); // takes one that is there as it is
    if (problem.isPresent()) {
      failed.addAll(cards); // with the next look again
      LOG.warn("claim {}: its MIG instances cannot be made again: {}", record.claim(), problem.get());
    }
  }

  private void setTimeSlice(PreparedClaim record, Grant grant) {
    try {
      if (!rewriter.setTimeSlice(record, grant)) { // what counts on its card, whichever claim asks for it
        failed.add(grant.card().uuid()); // the next look reads other records of the card
      }
    } catch (IOException | IllegalStateException e) {
      failed.add(grant.card().uuid()); // with the next look again
      LOG.warn("card {}: its time slice cannot be set anew: {}", grant.card().uuid(), e.toString());
    }
  }

  private void renewIfStale(PreparedClaim record, Optional<DriverFiles> driver, Inventory.Cards cards)
      throws IOException {
    String id = record.claim().uid();
    if (isOnPresentNodes(record, cards) && hasRegions(record) && store.metadata().hasAll(record)
        && store.cdi().readIfValid(id).map(spec -> isOpaque(record) || names(spec, driver.orElseThrow()))
            .orElse(false)) {
      return;
    }
    renew(record).ifPresentOrElse(
        problem -> LOG.warn(
            "claim {}: its CDI spec, a usage region or its device metadata is missing, or the spec names files or device nodes of another driver or another card, and it cannot be written anew: {}",
            record.claim(), problem),
        () -> LOG.info(
            "claim {}: its CDI spec, a usage region or its device metadata was missing, or the spec named files or device nodes of another driver or another card; all has been written anew for driver {}",
            record.claim(), driver.map(DriverFiles::version).orElse("none")));
  }

  /** Why that cannot be done; the others are looked at all the same. */
  private Optional<String> renew(PreparedClaim record) {
    try {
      return rewriter.renew(record);
    } catch (IOException | IllegalStateException e) {
      return Optional.of(e.toString());
    }
  }

  /** Whether the device nodes that its containers get are its cards': a reload of the driver renumbers them. */
  private static boolean isOnPresentNodes(PreparedClaim record, Inventory.Cards cards) {
    return record.grants().stream().filter(grant -> !grant.isOpaque())
        .allMatch(grant -> cards.byUuid(grant.card().uuid())
            .filter(gpu -> gpu.minor() == grant.card().minor() && cards.hasNode(gpu)).isPresent());
  }

  /** Whether containers get nothing of the driver by it. */
  private static boolean isOpaque(PreparedClaim record) {
    return record.grants().stream().allMatch(Grant::isOpaque);
  }

  /** Whether all of its shares have what a container mounts, without which none begins. */
  private boolean hasRegions(PreparedClaim record) {
    return record.grants().stream().filter(grant -> grant.share().isPresent())
        .allMatch(grant -> Files.exists(store.folders().usageFile(record.claim().uid(), grant.shareKey())));
  }

  /**
   * Whether the spec names every file and device node of the driver that all containers get, and none for graphics that
   * is not there.
   */
  static boolean names(CdiSpec spec, DriverFiles driver) {
    List<ContainerEdits> edits =
        Stream.concat(Stream.of(spec.containerEdits()), spec.devices().stream().map(device -> device.containerEdits()))
            .toList();
    List<Mount> mounts = edits.stream().map(ContainerEdits::mounts).flatMap(List::stream).toList();
    List<DeviceNode> nodes = edits.stream().map(ContainerEdits::deviceNodes).flatMap(List::stream).toList();
    Set<String> mounted = mounts.stream().map(Mount::hostPath).collect(Collectors.toSet());
    Set<String> graphics = driver.graphics().stream().map(DriverFile::hostPath).collect(Collectors.toSet());
    return driver.mounted().map(DriverFile::hostPath).allMatch(mounted::contains)
        && mounts.stream().filter(mount -> GraphicsFile.isAt(mount.containerPath())).map(Mount::hostPath)
            .allMatch(graphics::contains)
        && driver.controlNodes().stream().allMatch(node -> nodes.stream().anyMatch(its -> isNow(its, node)))
        && driver.cardNodes().values().stream().allMatch(
            node -> nodes.stream().filter(its -> its.path().equals(node.path())).allMatch(its -> isNow(its, node)));
  }

  /** The kernel gives nvidia-uvm a number that is free, and its node is made when a program first needs it. */
  private static boolean isNow(DeviceNode node, DriverNode now) {
    return node.path().equals(now.path()) && node.major() == now.major() && node.minor() == now.minor();
  }
}
