package dev.partita.plugin;

import dev.partita.api.Driver;
import dev.partita.api.MonotonicClock;
import dev.partita.api.gpu.Gpu;
import dev.partita.cdi.CdiFolder;
import dev.partita.plugin.binding.AwaitedInstances;
import dev.partita.plugin.cardhealth.CardHealthWatch;
import dev.partita.plugin.cardreport.CardReports;
import dev.partita.plugin.cardreport.CardSampling;
import dev.partita.plugin.cardreport.DividedSamples;
import dev.partita.plugin.cardreport.NewProcesses;
import dev.partita.plugin.checkpoint.Checkpoint;
import dev.partita.plugin.claim.CdiName;
import dev.partita.plugin.claim.ThisNode;
import dev.partita.plugin.claimread.ClaimReader;
import dev.partita.plugin.claimstatus.ClaimReports;
import dev.partita.plugin.devicehealth.DeviceHealthV1Alpha1Service;
import dev.partita.plugin.devicehealth.DeviceHealthV1Service;
import dev.partita.plugin.devicehealth.DeviceHealthWatch;
import dev.partita.plugin.devicehealth.HealthStreams;
import dev.partita.plugin.diagnosis.FlapFile;
import dev.partita.plugin.dra.ClaimServiceOnceStarted;
import dev.partita.plugin.dra.DraV1Beta1Service;
import dev.partita.plugin.dra.DraV1Service;
import dev.partita.plugin.health.HealthEndpoint;
import dev.partita.plugin.held.HeldClaims;
import dev.partita.plugin.inventory.GpuNodeReporter;
import dev.partita.plugin.inventory.Inventory;
import dev.partita.plugin.inventory.InventoryReader;
import dev.partita.plugin.inventory.NodeInventory;
import dev.partita.plugin.kube.ApiCalls;
import dev.partita.plugin.leftover.Holdings;
import dev.partita.plugin.leftover.LeftoverSweep;
import dev.partita.plugin.leftover.LibrarySweep;
import dev.partita.plugin.loop.Loops;
import dev.partita.plugin.loop.PeriodicLoop;
import dev.partita.plugin.memorylimit.DriverLimits;
import dev.partita.plugin.memorylimit.PodCgroups;
import dev.partita.plugin.metadata.MetadataFolders;
import dev.partita.plugin.metrics.NodeMetrics;
import dev.partita.plugin.metrics.TimedClaimService;
import dev.partita.plugin.mig.MigCards;
import dev.partita.plugin.mig.PatientMigControl;
import dev.partita.plugin.mps.MpsDaemons;
import dev.partita.plugin.mps.MpsFolders;
import dev.partita.plugin.mps.MpsWatch;
import dev.partita.plugin.mps.NvidiaMps;
import dev.partita.plugin.nvml.DriverWatch;
import dev.partita.plugin.nvml.jna.NvmlLibrary;
import dev.partita.plugin.podresources.ContainerDevices;
import dev.partita.plugin.podresources.OtherServers;
import dev.partita.plugin.podresources.PodsOfClaims;
import dev.partita.plugin.podresources.ProcessContainers;
import dev.partita.plugin.prepare.ClaimOperations;
import dev.partita.plugin.registration.PluginSockets;
import dev.partita.plugin.resize.LoanReturns;
import dev.partita.plugin.resize.MemoryLending;
import dev.partita.plugin.resize.Recalls;
import dev.partita.plugin.resize.ShareResizer;
import dev.partita.plugin.resize.SizeOwners;
import dev.partita.plugin.setup.SetupReader;
import dev.partita.plugin.share.HookLibraries;
import dev.partita.plugin.share.ShareFolders;
import dev.partita.plugin.share.UsageRegions;
import dev.partita.plugin.step.ClaimSpec;
import dev.partita.plugin.step.InstancesOfClaims;
import dev.partita.plugin.step.NodeSteps;
import dev.partita.plugin.store.ClaimPods;
import dev.partita.plugin.store.ClaimStore;
import dev.partita.plugin.store.OperationLock;
import dev.partita.plugin.timeslice.NvidiaSmi;
import dev.partita.plugin.timeslice.TimeSlices;
import dev.partita.plugin.usage.UnsharedWatch;
import dev.partita.plugin.usage.UsageWatch;
import dev.partita.plugin.usage.excess.ExcessPolicy;
import dev.partita.plugin.usage.excess.ProcessEnd;
import dev.partita.plugin.usage.measure.ClaimUsers;
import dev.partita.plugin.usage.measure.HostProcesses;
import dev.partita.plugin.usage.measure.PodClaims;
import dev.partita.plugin.xid.XidCounts;
import dev.partita.plugin.xid.XidWatch;
import dev.partita.serving.metrics.Metrics;
import dev.partita.serving.metrics.MetricsServer;
import dev.partita.serving.probe.LoggedProbe;
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
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The node plugin, running: it reports the node's cards, is registered with kubelet, and prepares claims. Several can
 * run in one process, each with its own folders.
 */
public final class KubeletPlugin implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(KubeletPlugin.class);
  private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");

  /** How long a preparation waits for the node's GpuNode; kubelet gives a call 45 s. */
  private static final Duration SPEC_WAIT = Duration.ofSeconds(10);

  /**
   * For a start, and for one operation. That cuts a card into MIG instances at most, for which NVML gets half a minute
   * a call; a start takes seconds.
   */
  private static final Duration START_OR_OPERATION_ALLOWED = Duration.ofMinutes(3);

  private static final Duration SOCKET_PERIOD = Duration.ofSeconds(30);
  private static final Duration SOCKET_ALLOWED = Duration.ofSeconds(90);

  private final Deque<AutoCloseable> parts = new ArrayDeque<>();
  private volatile Supplier<Optional<String>> readiness = () -> Optional.of("the plugin is still starting");
  private volatile BooleanSupplier shareWasUsed = () -> false;
  private final long begun = System.nanoTime();
  private volatile boolean started;

  private KubeletPlugin() {}

  /**
   * Starts the plugin. When this returns, both sockets are there, and claims are released; the GpuNode follows as soon
   * as the cards have been read and the API server takes it.
   *
   * @param client stays the caller's to close
   * @throws PluginStartException if a folder, a port or a file of the settings cannot be used
   */
  public static KubeletPlugin start(PluginSettings settings, KubernetesClient client) {
    return start(settings, plugin -> client, NodeInventory.Patience.STANDARD, START_OR_OPERATION_ALLOWED);
  }

  /**
   * Starts the plugin with a client of its own.
   *
   * @param client makes the client once the sockets are there, and the plugin closes it: making one takes longer than
   *        all before it
   */
  static KubeletPlugin start(PluginSettings settings, Supplier<KubernetesClient> client) {
    return start(
        settings, plugin -> plugin.opened(client.get()), NodeInventory.Patience.STANDARD, START_OR_OPERATION_ALLOWED);
  }

  /**
   * Starts the plugin with other times than the standard ones.
   *
   * @param patience how long is waited for a driver
   * @param allowed for how long it may start, and an operation on the node's claims may hold its locks
   */
  static KubeletPlugin start(
      PluginSettings settings,
      Function<KubeletPlugin, KubernetesClient> client,
      NodeInventory.Patience patience,
      Duration allowed) {
    KubeletPlugin plugin = new KubeletPlugin();
    try {
      plugin.open(settings, client, patience, allowed);
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
        LOG.warn("stopping {} failed: {}", part.getClass().getSimpleName(), e.toString());
      }
    }
  }

  /**
   * Kubelet comes first: it knows the plugin at once, and claims can be released whatever the driver and the API server
   * do.
   */
  private void open(
      PluginSettings settings,
      Function<KubeletPlugin, KubernetesClient> client,
      NodeInventory.Patience patience,
      Duration allowed)
      throws IOException {
    HookLibraries libraries = opened(new HookLibraries(settings.hookLibraries(), settings.installRoot()));
    libraries
        .missing()
        .ifPresent(
            file -> {
              throw new PluginStartException(
                  "there is no " + file + "; --hook-libraries must name the folder that holds it");
            });
    opened(InstanceLock.acquire(settings.stateRoot(), settings.podUid()));
    OperationLock lock = opened(new OperationLock(settings.stateRoot().resolve("operation.lock")));
    DriverWatch driver = new DriverWatch(System::nanoTime);
    Loops loops = new Loops(System::nanoTime, driver::keepsWaiting);
    // goes on until what the others have left is written
    Loops reporting = new Loops(System::nanoTime, Loops.Excuse.NONE);
    if (settings.healthPort() != 0) {
      opened(listenForHealth(settings.healthPort(), loops, reporting, lock, allowed));
    }
    ClaimServiceOnceStarted claims = new ClaimServiceOnceStarted();
    HealthStreams health = new HealthStreams();
    PluginSockets kubelet =
        opened(
            PluginSockets.open(
                settings.kubeletRegistryDir(),
                settings.kubeletPluginsDir(),
                settings.podUid(),
                List.of(
                    new DraV1Service(claims), new DraV1Beta1Service(claims), new DeviceHealthV1Service(health),
                    new DeviceHealthV1Alpha1Service(health))));
    opened(health); // closed before the server, which waits for its streams
    KubernetesClient api = client.apply(this);
    startLoops(
        settings, api, patience,
        new ForKubelet(libraries, lock, driver, loops, reporting, kubelet, claims, health));
    closedFirst(kubelet); // calls that are under way need all that was opened since
    closedFirst(health);
    started = true;
    LOG.info("plugin of node {} started, driver root {}, API server {}", settings.nodeName(),
        settings.driverRoot().onHost(), api.getMasterUrl());
  }

  /**
   * What is there before the API client is made and the driver is asked, so that kubelet does not wait for them.
   *
   * @param reporting the loops that go on until what the others have left is written
   * @param claims waits for who prepares them
   * @param health what kubelet is told of devices
   */
  private record ForKubelet(
      HookLibraries libraries,
      OperationLock lock,
      DriverWatch driver,
      Loops loops,
      Loops reporting,
      PluginSockets sockets,
      ClaimServiceOnceStarted claims,
      HealthStreams health) {}

  private void startLoops(
      PluginSettings settings,
      KubernetesClient client,
      NodeInventory.Patience patience,
      ForKubelet open)
      throws IOException {
    Loops loops = open.loops();
    Clock clock = Clock.systemUTC();
    Clock monotonicClock = MonotonicClock.start();
    ThisNode here = new ThisNode(Driver.poolOf(settings.nodeName()), Files.readString(BOOT_ID).strip());
    Checkpoint checkpoint = opened(new Checkpoint(settings.stateRoot().resolve("claims"), clock));
    checkpoint.removeStaleNotes(here.bootId());
    ShareFolders folders = new ShareFolders(settings.stateRoot(), settings.runRoot(), opened(new UsageRegions()));
    CdiFolder cdi = new CdiFolder(settings.cdiRoot(), CdiName.KIND.vendor() + "-" + CdiName.KIND.deviceClass());
    ClaimStore store = new ClaimStore(
        checkpoint, cdi, folders, new MetadataFolders(settings.runRoot()), new ClaimPods(settings.runRoot()),
        open.lock());

    ApiCalls calls = ApiCalls.standard();
    ClaimReader api = new ClaimReader(client, calls);
    GpuNodeReporter node =
        opened(new GpuNodeReporter(client, calls, settings.nodeName(), version(), settings.podUid(), clock));
    HeldClaims held = new HeldClaims(checkpoint, cdi, folders, clock);
    SetupReader setup =
        new SetupReader(
            new SetupReader.Folders(settings.cgroupRoot(), settings.cdiRoot(), settings.installRoot()),
            SetupReader.NodeMounts.ofInit(HostProcesses.SEEN.seesAll()),
            () -> shareWasUsed.getAsBoolean(), settings.mig());
    InventoryReader reader =
        new InventoryReader(
            settings.driverRoot(), settings.sysfs(), open.driver().around(NvmlLibrary::open)::open,
            settings.cardFiles(), settings.cardPolicy(),
            new FlapFile(settings.stateRoot().resolve("flaps"), here.bootId(), clock), new InstancesOfClaims(store));
    OtherServers others = new OtherServers(settings.podResourcesSocket());
    NodeInventory inventory =
        opened(
            new NodeInventory(
                reader,
                () -> {
                  List<Gpu> earlier = node.earlierCards();
                  reader.remember(earlier);
                  others.remember(earlier);
                  rememberCardsOfClaims(checkpoint, reader);
                },
                reading -> node.report(reading.servedBy(others::of), held.report(reading), setup.read()),
                patience,
                loops));

    ClaimReports reports = opened(new ClaimReports(
        client, calls, settings.nodeName(), clock, grant -> inventory.state().flatMap(
            now -> now.healthOf(grant).map(
                health -> new ClaimReports.CardNow(health, now.enforcerOf(grant.card().uuid())))),
        open.reporting()));
    MpsDaemons mps = new MpsDaemons(new NvidiaMps(settings.driverRoot(), settings.cgroupRoot()),
        new MpsFolders(settings.runRoot().resolve("mps"), settings.sharedMemoryRoot()), here.bootId(),
        reports::mpsEnded);
    ClaimSpec specs = new ClaimSpec(
        settings.driverRoot(), settings.extraDriverMounts(), folders, store.metadata(), mps.folders());
    PatientMigControl cards = opened(new PatientMigControl(reader));
    MigCards mig = new MigCards(cards);
    DriverLimits limits =
        opened(
            new DriverLimits(
                settings.cardPolicy().driverLimits(), reader, new PodCgroups(settings.cgroupRoot(), System::nanoTime),
                store, inventory::current));
    NodeSteps steps =
        new NodeSteps(here.pool(), store, open.libraries(), specs, inventory::current,
            new NodeSteps.Driver(mig, settings.mig(), limits, new TimeSlices(new NvidiaSmi(settings.driverRoot())),
                mps));
    DividedSamples samples = new DividedSamples(reader::samples);
    PodsOfClaims devicePods = new PodsOfClaims(settings.podResourcesSocket(), api);
    UsageWatch usage =
        new UsageWatch(
            store,
            reader::processes,
            samples,
            new PodClaims(api, devicePods, monotonicClock),
            reports,
            new ExcessPolicy(settings.onExcess(), settings.plausibleOverhead()),
            clock,
            monotonicClock);
    shareWasUsed = usage::shareWasUsed;
    ShareResizer.NodeState sizes = new ShareResizer.NodeState(here.pool(), node::resizes, inventory::current,
        node::spec, usage::current, usage::looked);
    SizeOwners owners = new SizeOwners();
    Recalls recalls = new Recalls(monotonicClock);
    MemoryLending lending = new MemoryLending(sizes, checkpoint, held, reports,
        new LoanReturns(sizes, reports, new ProcessEnd(HostProcesses.SEEN, reports), recalls,
            settings.plausibleOverhead(), monotonicClock),
        owners, settings.lendMemory(), monotonicClock);
    ClaimOperations claims =
        ClaimOperations.of(
            here, api, inventory, () -> node.spec(SPEC_WAIT), store, steps, reports, held, lending);
    Metrics metrics = new Metrics();
    open.claims().started(new TimedClaimService(claims.preparer(), metrics.registry()));
    readiness = () -> notReady(node, inventory, open.sockets());
    XidCounts xids = new XidCounts();
    metrics.add(new NodeMetrics(
        new NodeMetrics.NodeState(settings.nodeName(), inventory::current, () -> node.spec(), checkpoint,
            new NodeMetrics.Shares(usage::current, usage::coreUses, recalls),
            new NodeMetrics.Containers(new ContainerDevices(settings.podResourcesSocket())::byCdiId,
                new ProcessContainers(HostProcesses.SEEN::place, api, monotonicClock)),
            xids, limits::failures),
        usage.totals(), reader::figures, samples, settings.metricsNames(), clock));
    if (settings.metricsPort() != 0) {
      opened(serveMetrics(settings, client, metrics));
    }
    ShareResizer resizer = new ShareResizer(sizes, checkpoint, api, claims.rewriter(), reports, owners, monotonicClock);
    CardReports cardReports =
        opened(new CardReports(usage::current, usage::seesAll, new CardSampling(samples, usage.times()), folders,
            open.lock(), settings.yieldRule(), new NewProcesses(HostProcesses.SEEN, usage.containers())));
    opened(loops);
    node.start();
    inventory.start(settings.inventoryPeriod());
    loops.make("kubelet-socket", SOCKET_ALLOWED, () -> check(open.sockets())).start();
    open.lock().run(
        () -> {
          checkpoint.removeLeftovers();
          cdi.removeLeftovers();
          open.libraries().removeLeftovers();
          return true;
        });
    open.libraries().holdInstalled(false);
    LeftoverSweep sweep =
        new LeftoverSweep(
            here,
            settings.leftoverGrace(),
            api,
            store,
            claims,
            new Holdings(held, store.pods(), new ClaimUsers(folders, cards), devicePods, inventory),
            new LibrarySweep(
                open.libraries(), checkpoint, cdi, open.lock(), settings.leftoverGrace(), monotonicClock),
            monotonicClock);
    lending.start(loops, claims.rewriter());
    sweep.start(loops, settings.sweepPeriod(), settings.inventoryPeriod());
    usage.start(loops, settings.usagePeriod());
    new UnsharedWatch(checkpoint, reader::processes, cards,
        UnsharedWatch.Pods.of(HostProcesses.SEEN, store.pods()), reports::used).start(loops);
    new MpsWatch(checkpoint, open.lock(), mps).start(loops);
    new XidWatch(reader, inventory, xids).start(loops);
    new CardHealthWatch(inventory, checkpoint, reports).start(loops);
    new DeviceHealthWatch(here.pool(), inventory, open.health(), clock).start(loops);
    cardReports.start(loops);
    limits.start(loops, usage::pods);
    PeriodicLoop resizes = resizer.start(loops);
    PeriodicLoop binding =
        new AwaitedInstances(here.pool(), node::bindingClaims, checkpoint, api, claims, reports, inventory::readSoon,
            monotonicClock).start(loops);
    node.onChange(() -> {
      binding.soon();
      resizes.soon();
      lending.changed();
    });
  }

  private static void rememberCardsOfClaims(Checkpoint checkpoint, InventoryReader reader) {
    try {
      checkpoint.readAll().stream().flatMap(claim -> claim.grants().stream())
          .forEach(grant -> reader.remember(grant.card().uuid(), grant.card().index()));
    } catch (IOException e) {
      LOG.warn("cannot read which cards prepared claims have: {}", e.toString());
    }
  }

  private <T extends AutoCloseable> T opened(T part) {
    parts.push(part);
    return part;
  }

  private void closedFirst(AutoCloseable part) {
    parts.remove(part);
    parts.push(part);
  }

  private HealthEndpoint listenForHealth(
      int port,
      Loops loops,
      Loops reporting,
      OperationLock lock,
      Duration allowed) {
    try {
      return HealthEndpoint.listen(
          port,
          LoggedProbe.alive(
              () -> loops.standstill().or(reporting::standstill)
                  .or(() -> tooLong("one operation on the node's claims has been under way for ", lock.heldFor(),
                      allowed))
                  .or(() -> tooLong("the plugin has been starting for ", starting(), allowed))),
          LoggedProbe.ready(() -> readiness.get()));
    } catch (IOException e) {
      throw new PluginStartException(
          "port " + port + " for health cannot be used (" + e.getMessage() + "); choose another --health-port");
    }
  }

  private static MetricsServer serveMetrics(PluginSettings settings, KubernetesClient client, Metrics metrics) {
    try {
      return MetricsServer.start(settings.metricsPort(), settings.metricsAccess(), client, metrics);
    } catch (IOException e) {
      throw new PluginStartException("port " + settings.metricsPort() + " for metrics cannot be used ("
          + e.getMessage() + "); choose another --metrics-port");
    }
  }

  private static Optional<String> tooLong(String what, Duration lasts, Duration allowed) {
    return lasts.compareTo(allowed) > 0
        ? Optional.of(what + lasts.toSeconds() + " s")
        : Optional.empty();
  }

  /** How long it has been starting; nothing once it has started. */
  private Duration starting() {
    return started ? Duration.ZERO : Duration.ofNanos(System.nanoTime() - begun);
  }

  private static Duration check(PluginSockets kubelet) {
    kubelet.check().ask();
    return SOCKET_PERIOD;
  }

  /** A node without a driver is ready: it has reported that, which is its work. */
  private static Optional<String> notReady(GpuNodeReporter node, NodeInventory inventory, PluginSockets kubelet) {
    if (!node.hasReported()) {
      return Optional.of("the GpuNode has not been written yet");
    }
    if (inventory.current() instanceof Inventory.Cards && !kubelet.isRegistered()) {
      return Optional.of("kubelet has not registered the plugin yet");
    }
    return Optional.empty();
  }

  private static Optional<String> version() {
    return Optional.ofNullable(KubeletPlugin.class.getPackage().getImplementationVersion());
  }
}
