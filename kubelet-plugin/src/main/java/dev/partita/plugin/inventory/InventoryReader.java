package dev.partita.plugin.inventory;

import dev.partita.api.node.Gpu;
import dev.partita.api.node.GpuHealth;
import dev.partita.cdi.driver.DriverFile;
import dev.partita.cdi.driver.DriverFiles;
import dev.partita.cdi.driver.DriverRoot;
import dev.partita.cdi.driver.DriverSearch;
import dev.partita.plugin.nvml.CardReader;
import dev.partita.plugin.nvml.CardReading;
import dev.partita.plugin.nvml.NvmlException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Finds the driver, asks NVML, and keeps the library open between readings as long as it is the same driver. */
public final class InventoryReader implements AutoCloseable {
  /** Opens NVML from a file. */
  public interface Opener {
    CardReader open(Path library) throws NvmlException;
  }

  private final DriverRoot root;
  private final PciTopology topology;
  private final Opener opener;
  private final KnownCards known = new KnownCards();
  private @Nullable Open open;

  private record Open(Path library, CardReader reader) {}

  /**
   * @param root where the driver is
   * @param sysfs the folder that is /sys on the node
   * @param opener opens NVML
   */
  public InventoryReader(DriverRoot root, Path sysfs, Opener opener) {
    this.root = root;
    this.topology = new PciTopology(sysfs);
    this.opener = opener;
  }

  /** Tells which indexes the cards had before this process started. */
  public synchronized void remember(List<Gpu> earlier) {
    known.remember(earlier);
  }

  /** Reads the node now. */
  public synchronized Inventory read() {
    return switch (root.search()) {
      case DriverSearch.NotFound notFound -> {
        closeLibrary();
        yield new Inventory.NoCards(Inventory.NoCards.NO_DRIVER, notFound.message());
      }
      case DriverSearch.Found found -> read(found.files());
    };
  }

  @Override
  public synchronized void close() {
    closeLibrary();
  }

  private Inventory read(DriverFiles files) {
    Optional<DriverFile> library = files.nvml();
    if (library.isEmpty()) {
      return new Inventory.NoCards(Inventory.NoCards.NO_DRIVER, "the driver " + files.version() + " has no NVML library");
    }
    try {
      CardReading reading = reader(library.get().localPath()).read();
      List<Gpu> gpus = known.update(reading, topology);
      if (gpus.stream().anyMatch(gpu -> gpu.health().state() != GpuHealth.State.Healthy)) {
        closeLibrary(); // NVML sees a card that is back only after a new nvmlInit
      }
      return new Inventory.Cards(files, reading.driverVersion(), reading.cudaDriverVersion(), gpus);
    } catch (NvmlException e) {
      closeLibrary();
      return new Inventory.NoCards(
          Inventory.NoCards.NVML_FAILED,
          "the driver " + files.version() + " does not answer: " + e.getMessage() + "; see dmesg and nvidia-smi on the node");
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
    if (current != null) {
      current.reader().close();
    }
  }
}
