package dev.partita.plugin;

import dev.partita.api.Driver;
import dev.partita.api.SteadyClock;
import dev.partita.cdi.CdiFolder;
import dev.partita.plugin.cardreport.CardReports;
import dev.partita.plugin.checkpoint.Checkpoint;
import dev.partita.plugin.claim.CdiName;
import dev.partita.plugin.claimstatus.ClaimReports;
import dev.partita.plugin.dra.DraV1Beta1Service;
import dev.partita.plugin.dra.DraV1Service;
import dev.partita.plugin.health.HealthEndpoint;
import dev.partita.plugin.inventory.GpuNodeReporter;
import dev.partita.plugin.inventory.Inventory;
import dev.partita.plugin.inventory.InventoryReader;
import dev.partita.plugin.inventory.NodeInventory;
import dev.partita.plugin.kube.ApiCalls;
import dev.partita.plugin.mig.MigCards;
import dev.partita.plugin.mig.PatientMigControl;
import dev.partita.plugin.prepare.ClaimReader;
import dev.partita.plugin.leftover.LeftoverSweep;
import dev.partita.plugin.leftover.LibrarySweep;
import dev.partita.plugin.leftover.SpecRenewal;
import dev.partita.plugin.nvml.NvmlLibrary;
import dev.partita.plugin.prepare.ClaimPreparer;
import dev.partita.plugin.prepare.ClaimSpec;
import dev.partita.plugin.prepare.NodeSteps;
import dev.partita.plugin.prepare.OperationLock;
import dev.partita.plugin.registration.PluginSockets;
import dev.partita.plugin.share.HookLibraries;
import dev.partita.plugin.share.ShareFolders;
import dev.partita.plugin.usage.UsageWatch;
import dev.partita.plugin.xid.XidWatch;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The node plugin, running: it reports the node's cards, is registered with kubelet, and prepares claims. Several can run in one
 * process, each with its own folders.
 */
public final class KubeletPlugin implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(KubeletPlugin.class);
  private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");

  /** How long a preparation waits for the node's GpuNode; kubelet gives a call 45 s. */
  private static final Duration SPEC_WAIT = Duration.ofSeconds(10);

  private final Deque<AutoCloseable> parts = new ArrayDeque<>();
  private volatile @Nullable PluginSockets sockets;

  private KubeletPlugin() {}

  /**
   * Starts the plugin. When this returns, both sockets are there; the GpuNode follows as soon as the API server takes it.
   *
   * @param client stays the caller's to close
   * @throws PluginStartException if a folder, a port or a file of the settings cannot be used
   */
  public static KubeletPlugin start(PluginSettings settings, KubernetesClient client) {
    KubeletPlugin plugin = new KubeletPlugin();
    try {
      plugin.open(settings, client);
      return plugin;
    } catch (IOException e) {
      plugin.close();
      throw new PluginStartException("the plugin of node " + settings.nodeName() + " cannot start: " + e);
    } catch (RuntimeException e) {
      plugin.close();
      throw e;
    }
  }

  /** Withdraws from kubelet, ends what is under way, and lets go of every folder. What is prepared stays prepared. */
  @Override
  public void close() {
    while (!parts.isEmpty()) {
      AutoCloseable part = parts.pop();
      try {
        part.close();
      } catch (Exception e) {
        LOG.warn("{} did not end well: {}", part.getClass().getSimpleName(), e.toString());
      }
    }
  }

  private void open(PluginSettings settings, KubernetesClient client) throws IOException {
    Clock clock = Clock.systemUTC();
    Clock evenClock = SteadyClock.start();
    String pool = Driver.poolOf(settings.nodeName());
    HookLibraries libraries = new HookLibraries(settings.hookLibraries(), settings.installRoot());
    libraries
        .missing()
        .ifPresent(
            file -> {
              throw new PluginStartException("there is no " + file + "; --hook-libraries must name the folder that holds it");
            });
    opened(InstanceLock.acquire(settings.stateRoot(), settings.podUid()));
    OperationLock lock = opened(new OperationLock(settings.stateRoot().resolve("operation.lock")));
    Checkpoint checkpoint = new Checkpoint(settings.stateRoot().resolve("claims"), clock);
    ShareFolders folders = new ShareFolders(settings.stateRoot(), settings.runRoot());
    CdiFolder cdi = new CdiFolder(settings.cdiRoot(), CdiName.KIND.vendor() + "-" + CdiName.KIND.deviceClass());

    ApiCalls calls = ApiCalls.standard();
    ClaimReader api = new ClaimReader(client, calls);
    GpuNodeReporter node =
        opened(new GpuNodeReporter(client, calls, settings.nodeName(), version(), settings.podUid(), clock));
    InventoryReader reader = new InventoryReader(settings.driverRoot(), settings.sysfs(), NvmlLibrary::open, settings.reserve(), settings.mig());
    reader.remember(node.earlierCards());
    rememberCardsOfClaims(checkpoint, reader);
    NodeInventory inventory = opened(new NodeInventory(reader, node::report));

    ClaimReports reports = opened(new ClaimReports(client, calls, settings.nodeName(), clock));
    ClaimSpec specs = new ClaimSpec(settings.driverRoot(), settings.extraDriverMounts(), folders);
    MigCards mig = new MigCards(opened(new PatientMigControl(reader)));
    NodeSteps steps = new NodeSteps(checkpoint, libraries, folders, specs, cdi, inventory::current, mig, settings.mig());
    String bootId = Files.readString(BOOT_ID).strip();
    ClaimPreparer preparer =
        new ClaimPreparer(
            pool, bootId, api, inventory, () -> node.spec(SPEC_WAIT), checkpoint, steps, lock, reports);
    lock.run(
        () -> {
          checkpoint.removeLeftovers();
          cdi.removeLeftovers();
          libraries.removeLeftovers();
          return true;
        });
    UsageWatch usage =
        opened(UsageWatch.over(checkpoint, folders, reader::processes, reader::samples, api, lock, reports, settings.onExcess(), settings.plausibleOverhead(), clock, evenClock));
    CardReports cardReports = opened(new CardReports(usage::current, reader::samples, usage.times(), folders, lock));
    XidWatch xids = opened(new XidWatch(reader, inventory, checkpoint, reports));
    LeftoverSweep sweep =
        opened(
            new LeftoverSweep(
                pool,
                bootId,
                settings.leftoverGrace(),
                api,
                checkpoint,
                cdi,
                folders,
                preparer,
                new SpecRenewal(inventory::current, checkpoint, cdi, preparer),
                new LibrarySweep(libraries, checkpoint, cdi, lock, settings.leftoverGrace(), evenClock),
                evenClock));

    node.start();
    inventory.start(settings.inventoryPeriod());
    sweep.start(settings.sweepPeriod(), settings.inventoryPeriod());
    usage.start(settings.usagePeriod());
    xids.start();
    cardReports.start();
    if (settings.healthPort() != 0) {
      opened(listenForHealth(settings.healthPort(), node, inventory));
    }
    sockets =
        opened(
            PluginSockets.open(
                settings.kubeletRegistryDir(),
                settings.kubeletPluginsDir(),
                settings.podUid(),
                List.of(new DraV1Service(preparer), new DraV1Beta1Service(preparer))));
    LOG.info("plugin of node {} started, driver root {}", settings.nodeName(), settings.driverRoot().onHost());
  }

  private static void rememberCardsOfClaims(Checkpoint checkpoint, InventoryReader reader) {
    try {
      checkpoint.readAll().stream().flatMap(claim -> claim.grants().stream()).forEach(grant -> reader.remember(grant.card().uuid(), grant.card().index()));
    } catch (IOException e) {
      LOG.warn("the cards of prepared claims are not known: {}", e.toString());
    }
  }

  private <T extends AutoCloseable> T opened(T part) {
    parts.push(part);
    return part;
  }

  private HealthEndpoint listenForHealth(int port, GpuNodeReporter node, NodeInventory inventory) {
    try {
      return HealthEndpoint.listen(port, () -> notReady(node, inventory));
    } catch (IOException e) {
      throw new PluginStartException("port " + port + " for health cannot be used (" + e.getMessage() + "); choose another --health-port");
    }
  }

  /** A node without a driver is ready: it has reported that, which is its work. */
  private Optional<String> notReady(GpuNodeReporter node, NodeInventory inventory) {
    if (!node.hasReported()) {
      return Optional.of("the GpuNode has not been written yet");
    }
    PluginSockets opened = sockets;
    if (inventory.current() instanceof Inventory.Cards && (opened == null || !opened.isRegistered())) {
      return Optional.of("kubelet has not registered the plugin yet");
    }
    return Optional.empty();
  }

  private static Optional<String> version() {
    return Optional.ofNullable(KubeletPlugin.class.getPackage().getImplementationVersion());
  }
}
