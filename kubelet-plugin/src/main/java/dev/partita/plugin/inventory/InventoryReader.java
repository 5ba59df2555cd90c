package dev.partita.plugin.inventory;

import dev.partita.api.gpu.Gpu;
import dev.partita.cdi.driver.DriverFile;
import dev.partita.cdi.driver.DriverFiles;
import dev.partita.cdi.driver.DriverRoot;
import dev.partita.cdi.driver.DriverSearch;
import dev.partita.plugin.diagnosis.FlapFile;
import dev.partita.plugin.diagnosis.HealthOfCards;
import dev.partita.plugin.nvml.CardFigure;
import dev.partita.plugin.nvml.CardReader;
import dev.partita.plugin.nvml.CardReading;
import dev.partita.plugin.nvml.CardSamples;
import dev.partita.plugin.nvml.CardUser;
import dev.partita.plugin.nvml.MemoryLimitControl;
import dev.partita.plugin.nvml.MigControl;
import dev.partita.plugin.nvml.NvmlException;
import dev.partita.plugin.nvml.ProcessMemory;
import dev.partita.plugin.nvml.XidEvent;
import dev.partita.plugin.opaque.CardFiles;
import dev.partita.plugin.opaque.OpaqueCards;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds the driver and asks NVML. The library stays open from one reading to the next, as long as the driver is the
 * same.
 */
public final class InventoryReader implements AutoCloseable, MigControl, MemoryLimitControl {
  private static final Logger LOG = LoggerFactory.getLogger(InventoryReader.class);
  private static final String WHERE_TO_LOOK = "see dmesg and nvidia-smi on the node";

  /** Opens NVML from a file. */
  public interface Opener {
    CardReader open(Path library) throws NvmlException;
  }

  private final DriverRoot root;
  private final PciTopology topology;
  private final Opener opener;
  private final CardFiles cardFiles;
  private final KnownCards known;
  private final ClaimedInstances.Source claimed;
  private @Nullable Open open;
  private @Nullable Path lastLibrary;
  private boolean startAnew;

  /**
   * Guards the library. Whoever waits for events holds it for reading, and whoever closes the library takes it for
   * writing; both only under the monitor.
   */
  private final ReentrantReadWriteLock waiting = new ReentrantReadWriteLock();

  private record Open(Path library, CardReader reader) {}

  /**
   * @param root where the driver is
   * @param sysfs the folder that is /sys on the node
   * @param opener opens NVML
   */
  public InventoryReader(DriverRoot root, Path sysfs, Opener opener, CardPolicy policy) {
    this(root, sysfs, opener, CardFiles.NONE, new KnownCards(policy), () -> ClaimedInstances.NONE);
  }

  /**
   * Reads opaque cards and MIG instances of claims as well, and keeps for the next plugin which cards became unhealthy.
   *
   * @param cardFiles list opaque cards
   * @param flaps keeps which cards became unhealthy
   * @param claimed tells which MIG instances claims have
   */
  public InventoryReader(
      DriverRoot root,
      Path sysfs,
      Opener opener,
      CardFiles cardFiles,
      CardPolicy policy,
      FlapFile flaps,
      ClaimedInstances.Source claimed) {
    this(root, sysfs, opener, cardFiles, new KnownCards(policy, new HealthOfCards(flaps)), claimed);
  }

  private InventoryReader(
      DriverRoot root,
      Path sysfs,
      Opener opener,
      CardFiles cardFiles,
      KnownCards known,
      ClaimedInstances.Source claimed) {
    this.claimed = claimed;
    this.cardFiles = cardFiles;
    this.known = known;
    this.root = root;
    this.topology = new PciTopology(sysfs);
    this.opener = opener;
  }

  /** Tells which indexes the cards had before this process started. */
  public synchronized void remember(List<Gpu> earlier) {
    known.remember(earlier);
  }

  /** Tells which index a card had when a claim was prepared on it, should the reports not be known. */
  public synchronized void remember(String uuid, int index) {
    known.remember(uuid, index);
  }

  /** Reads the node now. */
  public synchronized Inventory read() {
    return withOpaque(readDriver());
  }

  /** The same with the opaque cards that the node's files list. */
  private Inventory withOpaque(Inventory ofDriver) {
    OpaqueCards opaque = cardFiles.read();
    if (!opaque.areListed()) {
      return ofDriver;
    }
    List<Gpu> listed = known.opaque(opaque, topology);
    return switch (ofDriver) {
      case Inventory.Cards cards ->
          new Inventory.Cards(cards.driver(), Stream.concat(cards.gpus().stream(), listed.stream()).toList(), opaque);
      case Inventory.NoCards none -> new Inventory.Cards(none, listed, opaque);
    };
  }

  private Inventory readDriver() {
    return switch (root.search()) {
      case DriverSearch.NotFound notFound -> {
        lastLibrary = null;
        closeLibrary();
        known.gone();
        yield withoutDriver(notFound.message());
      }
      case DriverSearch.Found found -> read(found.files());
    };
  }

  /** A node that has no card needs no driver; one that has some does. */
  private Inventory.NoCards withoutDriver(String message) {
    OptionalInt cards = topology.nvidiaCards();
    if (cards.isEmpty()) {
      return new Inventory.NoCards(NodeReason.NoDriver, message);
    }
    return cards.getAsInt() == 0
        ? new Inventory.NoCards(NodeReason.NoGpus,
            "no card of NVIDIA's on the node's PCI bus is for its driver; see lspci -k")
        : new Inventory.NoCards(NodeReason.NoDriver,
            "cards of NVIDIA's on the node's PCI bus: " + cards.getAsInt() + "; " + message);
  }

  /**
   * What processes hold of each card that tells now, by the card's UUID, as far as this pid namespace sees them; empty
   * without a driver that answers. Of a card that is not in it nobody knows who uses it.
   */
  public synchronized Map<String, List<ProcessMemory>> processes() {
    Path library = lastLibrary;
    if (library == null) {
      return Map.of();
    }
    try {
      return reader(library).processes();
    } catch (NvmlException e) {
      closeLibrary();
      LOG.debug("NVML does not say who uses the cards: {}", e.getMessage());
      return Map.of();
    }
  }

  /**
   * What processes used of a card's SMs, by its UUID: the newest sample of each, if it is newer than a time in NVML's
   * microseconds.
   */
  public synchronized CardSamples samples(String card, long newerThan) {
    Path library = lastLibrary;
    if (library == null) {
      return new CardSamples.NotTold("there is no driver that answers");
    }
    try {
      return new CardSamples.Told(reader(library).samples(card, newerThan));
    } catch (NvmlException e) {
      LOG.debug("NVML does not say who uses card {}: {}", card, e.getMessage());
      return new CardSamples.NotTold(
          e.code() == NvmlException.NOT_SUPPORTED
              ? "the card has no samples of processes; old cards and cards in MIG mode have none"
              : String.valueOf(e.getMessage()));
    }
  }

  /** What NVML measures of each card now, by the card's UUID; empty without a driver that answers. */
  public synchronized Map<String, Map<CardFigure, Double>> figures() {
    Path library = lastLibrary;
    if (library == null) {
      return Map.of();
    }
    try {
      return reader(library).figures();
    } catch (NvmlException e) {
      closeLibrary();
      LOG.debug("NVML does not tell figures of the cards: {}", e.getMessage());
      return Map.of();
    }
  }

  /**
   * Waits for a card's next XID error.
   *
   * @return empty if none came in that time
   * @throws NvmlException if there is nothing to wait for now
   */
  public Optional<XidEvent> awaitXid(Duration atMost) throws NvmlException {
    CardReader reader;
    synchronized (this) {
      Path library = lastLibrary;
      if (library == null) {
        throw new NvmlException("waiting for events", 0, "there is no driver that answers");
      }
      reader = reader(library);
      waiting.readLock().lock();
    }
    try {
      return reader.awaitXid(atMost);
    } finally {
      waiting.readLock().unlock();
    }
  }

  /**
   * Makes a card unhealthy, from the next reading on until the error is over.
   *
   * @return whether it was not already, for the same error
   */
  public synchronized boolean blame(XidEvent event) {
    return known.blame(event);
  }

  @Override
  public synchronized MigState mig(String card) throws NvmlException {
    return openReader().mig(card);
  }

  @Override
  public synchronized List<CardUser> users(String card) throws NvmlException {
    return openReader().users(card);
  }

  @Override
  public synchronized void switchMig(String card, boolean on) throws NvmlException {
    openReader().switchMig(card, on);
  }

  @Override
  public synchronized void makeInstance(String card, String profile, int start) throws NvmlException {
    openReader().makeInstance(card, profile, start);
  }

  @Override
  public synchronized void endInstance(String card, int gpuInstance) throws NvmlException {
    openReader().endInstance(card, gpuInstance);
  }

  @Override
  public synchronized OptionalLong memoryLimit(String card, Path cgroup) throws NvmlException {
    return openReader().memoryLimit(card, cgroup);
  }

  @Override
  public synchronized void limitMemory(String card, Path cgroup, long bytes) throws NvmlException {
    openReader().limitMemory(card, cgroup, bytes);
  }

  /**
   * Opens NVML, also before the first reading of the cards: a claim with a MIG instance can be released as soon as the
   * plugin runs.
   */
  private CardReader openReader() throws NvmlException {
    Path library = lastLibrary;
    if (library == null) {
      library = presentLibrary().orElseThrow(() -> new NvmlException("NVML", 0, "there is no driver that answers"));
    }
    return reader(library);
  }

  private Optional<Path> presentLibrary() {
    return root.search() instanceof DriverSearch.Found found
        ? found.files().nvml().map(DriverFile::localPath)
        : Optional.empty();
  }

  @Override
  public synchronized void close() {
    lastLibrary = null;
    closeLibrary();
  }

  private Inventory read(DriverFiles files) {
    Optional<DriverFile> library = files.nvml();
    if (library.isEmpty()) {
      return new Inventory.NoCards(NodeReason.NoDriver,
          "the driver " + files.version() + " has no NVML library");
    }
    lastLibrary = library.get().localPath();
    if (startAnew) {
      closeLibrary(); // NVML sees a card that is back only after a new nvmlInit
    }
    try {
      Optional<ClaimedInstances> before = claimedNow();
      CardReading reading = reader(library.get().localPath()).read();
      // where no card has an instance, nobody asks whose they are
      boolean hasInstances =
          reading.cards().stream().anyMatch(card -> card.mig().instances().filter(its -> !its.isEmpty()).isPresent());
      Optional<ClaimedInstances> after = hasInstances ? claimedNow() : before;
      List<Gpu> gpus =
          known.update(reading, topology, before.flatMap(earlier -> after.map(later -> earlier.orLater(later))));
      Optional<Inventory.NoCards> none = gpus.isEmpty() ? withoutCards(files, reading.faults()) : Optional.empty();
      startAnew = reading.cards().size() < gpus.size() || !reading.faults().isEmpty() || none.isPresent();
      if (none.isPresent()) {
        return none.get();
      }
      return new Inventory.Cards(files, reading.driverVersion(), reading.cudaDriverVersion(), gpus);
    } catch (NvmlException e) {
      closeLibrary();
      if (e.code() == NvmlException.DRIVER_NOT_LOADED) {
        known.gone();
      }
      return new Inventory.NoCards(
          NodeReason.NvmlFailed,
          "the driver " + files.version() + " does not answer: " + e.getMessage() + "; " + WHERE_TO_LOOK);
    }
  }

  /** What is wrong where the driver tells of no card; empty where there need not be any. */
  private Optional<Inventory.NoCards> withoutCards(DriverFiles files, List<CardReading.Fault> faults) {
    if (!faults.isEmpty()) {
      return Optional.of(new Inventory.NoCards(NodeReason.NvmlFailed,
          "none of the cards that the driver %s lists answers: %s; %s"
              .formatted(files.version(), faults.getFirst().message(), WHERE_TO_LOOK)));
    }
    int onBus = topology.nvidiaCards().orElse(0);
    return onBus == 0
        ? Optional.empty()
        : Optional.of(new Inventory.NoCards(NodeReason.NvmlFailed,
            "cards of NVIDIA's on the node's PCI bus: " + onBus + "; the driver " + files.version()
                + " lists none of them; " + WHERE_TO_LOOK));
  }

  private Optional<ClaimedInstances> claimedNow() {
    try {
      return Optional.of(claimed.now());
    } catch (IOException e) {
      LOG.warn("cannot read which MIG instances claims have, so new ones of somebody else are not offered: {}",
          e.toString());
      return Optional.empty();
    }
  }

  private CardReader reader(Path library) throws NvmlException {
    Open current = open;
    if (current != null && current.library().equals(library)) {
      return current.reader();
    }
    closeLibrary();
    CardReader reader = opener.open(library);
    open = new Open(library, reader);
    return reader;
  }

  private void closeLibrary() {
    Open current = open;
    open = null;
    if (current == null) {
      return;
    }
    waiting.writeLock().lock();
    try {
      current.reader().close();
    } finally {
      waiting.writeLock().unlock();
    }
  }
}
