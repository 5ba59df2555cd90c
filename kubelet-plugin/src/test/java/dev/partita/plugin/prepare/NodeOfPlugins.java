package dev.partita.plugin.prepare;

import static dev.partita.plugin.TestClaims.claim;
import static dev.partita.plugin.TestClaims.instance;
import static dev.partita.plugin.TestClaims.share;
import static dev.partita.plugin.TestClaims.whole;
import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.node.GpuNodeSpec;
import dev.partita.cdi.CdiFolder;
import dev.partita.cdi.driver.DriverRoot;
import dev.partita.plugin.checkpoint.Checkpoint;
import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.claim.ThisNode;
import dev.partita.plugin.claimread.ClaimReader;
import dev.partita.plugin.claimstatus.ClaimReports;
import dev.partita.plugin.diagnosis.FlapFile;
import dev.partita.plugin.dra.ClaimService;
import dev.partita.plugin.grant.ClaimRef;
import dev.partita.plugin.held.HeldClaims;
import dev.partita.plugin.inventory.CardPolicy;
import dev.partita.plugin.inventory.InventoryReader;
import dev.partita.plugin.inventory.NodeInventory;
import dev.partita.plugin.inventory.Reserve;
import dev.partita.plugin.kube.ApiCalls;
import dev.partita.plugin.memorylimit.DriverLimits;
import dev.partita.plugin.memorylimit.PodCgroups;
import dev.partita.plugin.metadata.MetadataFolders;
import dev.partita.plugin.mig.MigCards;
import dev.partita.plugin.mps.MpsDaemons;
import dev.partita.plugin.mps.MpsFolders;
import dev.partita.plugin.opaque.TestCardFiles;
import dev.partita.plugin.share.HookLibraries;
import dev.partita.plugin.share.ShareFolders;
import dev.partita.plugin.share.UsageRegions;
import dev.partita.plugin.step.ClaimSpec;
import dev.partita.plugin.step.InstancesOfClaims;
import dev.partita.plugin.step.NodeSteps;
import dev.partita.plugin.step.Step;
import dev.partita.plugin.store.ClaimPods;
import dev.partita.plugin.store.ClaimStore;
import dev.partita.plugin.store.OperationLock;
import dev.partita.plugin.timeslice.TimeSlices;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceAllocationConfiguration;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceRequestAllocationResult;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A node's folders, cards and claims, for plugins that live one after the other. */
final class NodeOfPlugins {
  static final String NODE = "node-of-plugins";

  final CuttableCards cards = new CuttableCards();
  final SetTimeSlices timeSlices = new SetTimeSlices();
  final RunningMps daemons = new RunningMps();
  String bootId = "boot";
  Supplier<GpuNodeSpec> settings = () -> GpuNodeSpec.DEFAULT;
  /** Which claims the search for leftovers has found to be gone; null before it has looked. */
  @Nullable Set<String> gone;

  /** Whether the plugins that live from now on may have the driver hold pods to their memory. */
  boolean driverLimits = true;

  final Path root;
  private final KubernetesClient client;
  private final List<ResourceClaim> made = new ArrayList<>();

  NodeOfPlugins(Path root, KubernetesClient client) throws IOException {
    this.root = root;
    this.client = client;
    if (!Files.exists(root.resolve("driver"))) { // else of a node on which plugins of another process are
      layOutDriverAndLibraries();
    }
  }

  private void layOutDriverAndLibraries() throws IOException {
    Path libraries = Files.createDirectories(root.resolve("driver/usr/lib64"));
    Files.createFile(libraries.resolve("libcuda.so.580.1"));
    Files.createFile(libraries.resolve("libnvidia-ml.so.580.1"));
    Path devices = Files.createDirectories(root.resolve("driver/dev"));
    for (String node : List.of("nvidia0", "nvidia1", "nvidia2", "nvidiactl")) {
      Files.createSymbolicLink(devices.resolve(node), Path.of("/dev/null"));
    }
    Path proc = Files.createDirectories(root.resolve("driver/proc/driver/nvidia-caps"));
    Files.writeString(proc.resolve("mig-minors"), "config 1\ngpu2/gi5/access 318\ngpu2/gi5/ci0/access 319\n"
        + "gpu2/gi9/access 320\ngpu2/gi9/ci0/access 321\n");
    Files.writeString(root.resolve("driver/proc/devices"), "Character devices:\n  1 mem\n235 nvidia-caps\n");
    Files.createDirectories(root.resolve("hook"));
    Files.writeString(root.resolve("hook").resolve(HookLibraries.CUDA), "cuda");
    Files.writeString(root.resolve("hook").resolve(HookLibraries.NVML), "nvml");
    Files.writeString(root.resolve("hook").resolve(HookLibraries.HOOK), "hook");
    Files.createDirectories(root.resolve("state"));
  }

  ResourceClaim newClaim() {
    return newClaim(share(NODE, "a", 0, "8Gi", "25"), share(NODE, "b", 0, "1Gi", ""), whole(NODE, "c", 1),
        instance(NODE, "d", 2, "2g-35gb-4"));
  }

  ResourceClaim newClaim(DeviceRequestAllocationResult... results) {
    return newClaim(List.of(), results);
  }

  ResourceClaim newClaim(List<DeviceAllocationConfiguration> configs, DeviceRequestAllocationResult... results) {
    return create(claim("c" + made.size(), configs, results));
  }

  ResourceClaim create(ResourceClaim claim) {
    ResourceClaim created = client.resource(claim).create();
    made.add(created);
    return created;
  }

  ClaimService.Outcome prepare(ResourceClaim claim) throws IOException {
    return run(real -> real, p -> p.prepare(ref(claim)));
  }

  Optional<String> unprepare(ResourceClaim claim) throws IOException {
    return unprepare(real -> real, ref(claim));
  }

  Optional<String> unprepare(Wrap wrap, ClaimRef claim) throws IOException {
    return runParts(wrap, parts -> parts.claims().releaser().unprepare(claim));
  }

  interface Call<T> {
    T on(ClaimPreparer preparer);
  }

  interface Wrap {
    Step.Executor around(Step.Executor real);
  }

  /** What one plugin has. */
  record Parts(
      ClaimOperations claims,
      Checkpoint checkpoint,
      ClaimReader api,
      ClaimReports reports,
      NodeInventory inventory,
      ClaimStore store,
      DriverLimits limits) {
    ClaimPreparer preparer() {
      return claims.preparer();
    }
  }

  interface CallOnParts<T> {
    T on(Parts parts) throws IOException;
  }

  /** One plugin's life. */
  <T> T run(Wrap wrap, Call<T> call) throws IOException {
    return runParts(wrap, parts -> call.on(parts.claims().preparer()));
  }

  /** The same. */
  <T> T runParts(Wrap wrap, CallOnParts<T> call) throws IOException {
    Clock clock = Clock.systemUTC();
    ApiCalls calls = ApiCalls.standard();
    DriverRoot driver = new DriverRoot(root.resolve("driver"), "/run/driver");
    UsageRegions regions = new UsageRegions();
    ShareFolders folders = new ShareFolders(root.resolve("state"), root.resolve("run"), regions);
    AtomicReference<InstancesOfClaims> instances = new AtomicReference<>();
    InventoryReader reader =
        new InventoryReader(driver, root.resolve("sys"), library -> cards, TestCardFiles.in(root, NODE),
            new CardPolicy(new Reserve.Amount(0), true, driverLimits),
            new FlapFile(root.resolve("state/flaps"), bootId, clock),
            () -> Objects.requireNonNull(instances.get()).now());
    HookLibraries libraries = new HookLibraries(root.resolve("hook"), root.resolve("opt"));
    try (Checkpoint checkpoint = new Checkpoint(root.resolve("state/claims"), clock);
        regions;
        libraries;
        NodeInventory inventory = new NodeInventory(reader, reading -> {});
        ClaimReports reports = new ClaimReports(client, calls, NODE, clock);
        OperationLock lock = new OperationLock(root.resolve("state/operation.lock"))) {
      CdiFolder cdi = new CdiFolder(root.resolve("cdi"), "gpu.partita.dev-claim");
      ClaimStore store = new ClaimStore(
          checkpoint, cdi, folders, new MetadataFolders(root.resolve("run")), new ClaimPods(root.resolve("run")), lock);
      instances.set(new InstancesOfClaims(store));
      PodCgroups cgroups = new PodCgroups(root.resolve("cgroup"), System::nanoTime);
      try (DriverLimits limits = new DriverLimits(driverLimits, reader, cgroups, store, inventory::current)) {
        MpsFolders mps = new MpsFolders(root.resolve("run/mps"), Path.of("/dev/shm"));
        NodeSteps real =
            new NodeSteps(
                NODE + "/gpu", store, libraries, new ClaimSpec(driver, List.of(), folders, store.metadata(), mps),
                inventory::current,
                new NodeSteps.Driver(new MigCards(reader), true, limits, new TimeSlices(timeSlices),
                    new MpsDaemons(daemons, mps, bootId, (_, _) -> {})));
        ClaimReader api = new ClaimReader(client, calls);
        return call.on(new Parts(
            ClaimOperations.of(
                new ThisNode(NODE + "/gpu", bootId),
                api,
                inventory,
                () -> settings.get(),
                store,
                wrap.around(real),
                reports,
                held(store, clock),
                NO_LOANS),
            checkpoint, api, reports, inventory, store, limits));
      }
    }
  }

  private static final Loans NO_LOANS = new Loans() {
    @Override
    public void changed() {}

    @Override
    public void recall(PreparedClaim wanted) {}

    @Override
    public void released(String uid) {}
  };

  private HeldClaims held(ClaimStore store, Clock clock) {
    HeldClaims held = new HeldClaims(store.checkpoint(), store.cdi(), store.folders(), clock);
    if (gone != null) {
      held.setGone(gone);
    }
    return held;
  }

  void assertNothingLeft() throws IOException {
    assertNothingLeftOfClaims();
    assertThat(cards.instances).isEmpty();
  }

  /** The same where the cards have MIG instances that somebody has made by hand. */
  void assertNothingLeftOfClaims() throws IOException {
    assertThat(files("cdi")).isEmpty();
    assertThat(files("state/claims")).isEmpty();
    assertThat(files("state/driver-notes")).isEmpty();
    assertThat(files("state/shares")).isEmpty();
    assertThat(files("state/quotas")).isEmpty();
    assertThat(files("run/shares")).isEmpty();
    assertThat(files("run/metadata")).isEmpty();
    assertThat(files("run/pods")).isEmpty();
    assertThat(timeSlices.other).isEmpty();
    assertThat(daemons.running).isEmpty();
    assertThat(files("run/mps")).isEmpty();
  }

  List<Path> files(String folder) throws IOException {
    if (!Files.isDirectory(root.resolve(folder))) {
      return List.of();
    }
    try (Stream<Path> files = Files.list(root.resolve(folder))) {
      return files.toList();
    }
  }

  /** The quota files of all shares. */
  List<String> quotas() throws IOException {
    try (Stream<Path> files = Files.walk(root.resolve("state/shares"))) {
      List<String> quotas = new ArrayList<>();
      for (Path file : files.filter(path -> path.endsWith("quota")).toList()) {
        quotas.add(Files.readString(file));
      }
      return quotas;
    }
  }

  static ClaimRef ref(ResourceClaim claim) {
    return new ClaimRef("default", claim.getMetadata().getName(), claim.getMetadata().getUid());
  }
}
