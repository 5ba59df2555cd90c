package dev.partita.plugin.prepare;

import static dev.partita.plugin.TestClaims.claim;
import static dev.partita.plugin.TestClaims.instance;
import static dev.partita.plugin.TestClaims.share;
import static dev.partita.plugin.TestClaims.whole;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.partita.api.node.GpuNodeSpec;
import dev.partita.api.node.MigProfile;
import dev.partita.cdi.CdiFolder;
import dev.partita.cdi.driver.DriverRoot;
import dev.partita.plugin.checkpoint.Checkpoint;
import dev.partita.plugin.claim.ClaimRef;
import dev.partita.plugin.claimstatus.ClaimReports;
import dev.partita.plugin.dra.ClaimService;
import dev.partita.plugin.inventory.InventoryReader;
import dev.partita.plugin.inventory.NodeInventory;
import dev.partita.plugin.inventory.Reserve;
import dev.partita.plugin.kube.ApiCalls;
import dev.partita.plugin.mig.MigCards;
import dev.partita.plugin.nvml.CardReader;
import dev.partita.plugin.nvml.CardReading;
import dev.partita.plugin.nvml.MigControl;
import dev.partita.plugin.nvml.NvmlException;
import dev.partita.plugin.nvml.ProcessMemory;
import dev.partita.plugin.nvml.ProcessSample;
import dev.partita.plugin.nvml.XidEvent;
import dev.partita.plugin.share.HookLibraries;
import dev.partita.plugin.share.ShareFolders;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.server.mock.EnableKubernetesMockClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The plugin dies before, in the middle of or after any step, and the next one goes on. */
@EnableKubernetesMockClient(crud = true)
class CrashTest {
  private static final String NODE = "node-crash";

  @SuppressWarnings("NullAway.Init") // set by the extension
  KubernetesClient client;

  @TempDir Path root;
  private final List<ResourceClaim> made = new ArrayList<>();
  private Supplier<GpuNodeSpec> knobs = () -> GpuNodeSpec.DEFAULT;

  @BeforeEach
  void layOutDriverAndLibraries() throws IOException {
    Path libraries = Files.createDirectories(root.resolve("driver/usr/lib64"));
    Files.createFile(libraries.resolve("libcuda.so.580.1"));
    Files.createFile(libraries.resolve("libnvidia-ml.so.580.1"));
    Path devices = Files.createDirectories(root.resolve("driver/dev"));
    for (String node : List.of("nvidia0", "nvidia1", "nvidia2", "nvidiactl")) {
      Files.createSymbolicLink(devices.resolve(node), Path.of("/dev/null"));
    }
    Path proc = Files.createDirectories(root.resolve("driver/proc/driver/nvidia-caps"));
    Files.writeString(proc.resolve("mig-minors"), "config 1\ngpu2/gi5/access 318\ngpu2/gi5/ci0/access 319\n");
    Files.writeString(root.resolve("driver/proc/devices"), "Character devices:\n  1 mem\n235 nvidia-caps\n");
    Files.createDirectories(root.resolve("hook"));
    Files.writeString(root.resolve("hook").resolve(HookLibraries.CUDA), "cuda");
    Files.writeString(root.resolve("hook").resolve(HookLibraries.NVML), "nvml");
    Files.writeString(root.resolve("hook").resolve(HookLibraries.HOOK), "hook");
    Files.createDirectories(root.resolve("state"));
  }

  @Test
  void afterACrashInAnyStepOfPrepareTheNextTryIsAsIfNothingHadHappened() throws IOException {
    for (int steps = 0; ; steps++) {
      ResourceClaim claim = newClaim();
      boolean crashed = prepareWithCrashAfter(claim, steps);
      ClaimService.Outcome outcome = prepare(claim);
      assertThat(outcome).as("after %d steps", steps).isInstanceOf(ClaimService.Ready.class);
      assertThat(prepare(claim)).isEqualTo(outcome);
      assertThat(files("cdi")).hasSize(1);
      assertThat(unprepare(claim)).isEmpty();
      assertNothingLeft();
      if (!crashed) {
        assertThat(steps).isGreaterThan(8);
        return;
      }
    }
  }

  @Test
  void afterACrashInAnyStepOfPrepareUnprepareLeavesNothing() throws IOException {
    for (int steps = 0; ; steps++) {
      ResourceClaim claim = newClaim();
      boolean crashed = prepareWithCrashAfter(claim, steps);
      assertThat(unprepare(claim)).isEmpty();
      assertNothingLeft();
      if (!crashed) {
        return;
      }
    }
  }

  @Test
  void afterACrashInAnyStepOfUnprepareTheNextTryLeavesNothing() throws IOException {
    for (int steps = 0; steps <= 4; steps++) {
      ResourceClaim claim = newClaim();
      assertThat(prepare(claim)).isInstanceOf(ClaimService.Ready.class);
      int until = steps;
      if (steps < 4) {
        assertThatThrownBy(() -> plugin(until, p -> p.unprepare(ref(claim)))).isInstanceOf(Killed.class);
      }
      client.resource(claim).delete();
      assertThat(unprepare(claim)).isEmpty();
      assertNothingLeft();
    }
  }

  @Test
  void nothingIsPreparedWhileTheNodesSpecIsNotKnown() throws IOException {
    ResourceClaim claim = newClaim();
    knobs =
        () -> {
          throw new IllegalStateException("not read yet");
        };
    assertThat(prepare(claim)).isEqualTo(new ClaimService.Failed("not read yet"));
    assertNothingLeft();
    knobs = () -> new GpuNodeSpec(GpuNodeSpec.Allocator.Controller, List.of(), null, 200);
    assertThat(prepare(claim)).isInstanceOf(ClaimService.Ready.class);
    try (Stream<Path> files = Files.walk(root.resolve("state/shares"))) {
      assertThat(files.filter(file -> file.endsWith("quota"))).isNotEmpty().allSatisfy(quota -> assertThat(quota).content().contains("\nphysical "));
    }
  }

  @Test
  void aStepThatFailsIsRolledBackAndReported() throws IOException {
    for (int steps = 0; steps < 10; steps++) {
      ResourceClaim claim = newClaim();
      int until = steps;
      ClaimService.Outcome outcome =
          pluginWith(executor -> new Failing(executor, until, false), p -> p.prepare(ref(claim)));
      assertThat(outcome).isEqualTo(new ClaimService.Failed("the disk is full"));
      assertNothingLeft();
    }
  }

  @Test
  void aClaimDeletedWhileItIsPreparedLeavesNothing() throws IOException {
    ResourceClaim claim = newClaim();
    Step.Executor[] real = new Step.Executor[1];
    ClaimService.Outcome outcome =
        pluginWith(
            executor -> {
              real[0] = executor;
              return step -> {
                if (step instanceof Step.WriteSpec) {
                  client.resource(claim).delete();
                }
                real[0].execute(step);
              };
            },
            p -> p.prepare(ref(claim)));
    assertThat(outcome).isInstanceOf(ClaimService.Failed.class);
    assertThat(((ClaimService.Failed) outcome).error()).contains("was deleted while it was being prepared");
    assertNothingLeft();
  }

  @Test
  void anAllocationThatChangedReplacesTheEarlierOne() throws IOException {
    ResourceClaim claim = newClaim();
    ClaimService.Outcome first = prepare(claim);
    ResourceClaim stored = client.resource(claim).get();
    stored.getStatus().getAllocation().getDevices().setResults(List.of(share(NODE, "gpu", 1, "2Gi", "")));
    client.resource(stored).updateStatus();
    ClaimService.Outcome second = prepare(claim);
    assertThat(second).isInstanceOf(ClaimService.Ready.class).isNotEqualTo(first);
    assertThat(((ClaimService.Ready) second).devices()).hasSize(1);
    assertThat(files("state/shares/" + claim.getMetadata().getUid())).hasSize(1);
  }

  private ResourceClaim newClaim() {
    ResourceClaim claim =
        claim("c" + made.size(), share(NODE, "a", 0, "8Gi", "25"), share(NODE, "b", 0, "1Gi", ""), whole(NODE, "c", 1), instance(NODE, "d", 2, "2g-35gb-4"));
    ResourceClaim created = client.resource(claim).create();
    made.add(created);
    return created;
  }

  private ClaimService.Outcome prepare(ResourceClaim claim) throws IOException {
    return plugin(Integer.MAX_VALUE, p -> p.prepare(ref(claim)));
  }

  private Optional<String> unprepare(ResourceClaim claim) throws IOException {
    return plugin(Integer.MAX_VALUE, p -> p.unprepare(ref(claim)));
  }

  private boolean prepareWithCrashAfter(ResourceClaim claim, int steps) throws IOException {
    try {
      plugin(steps, p -> p.prepare(ref(claim)));
      return false;
    } catch (Killed e) {
      return true;
    }
  }

  private interface Call<T> {
    T on(ClaimPreparer preparer);
  }

  private interface Wrap {
    Step.Executor around(Step.Executor real);
  }

  private <T> T plugin(int dieAfter, Call<T> call) throws IOException {
    return pluginWith(executor -> new Failing(executor, dieAfter, true), call);
  }

  /** One plugin's life. */
  private <T> T pluginWith(Wrap wrap, Call<T> call) throws IOException {
    Clock clock = Clock.systemUTC();
    ApiCalls calls = ApiCalls.standard();
    DriverRoot driver = new DriverRoot(root.resolve("driver"), "/run/driver");
    ShareFolders folders = new ShareFolders(root.resolve("state"), root.resolve("run"));
    Checkpoint checkpoint = new Checkpoint(root.resolve("state/claims"), clock);
    InventoryReader reader = new InventoryReader(driver, root.resolve("sys"), library -> new Cards(), new Reserve.Amount(0), true);
    try (NodeInventory inventory = new NodeInventory(reader, reading -> {});
        ClaimReports reports = new ClaimReports(client, calls, NODE, clock);
        OperationLock lock = new OperationLock(root.resolve("state/operation.lock"))) {
      NodeSteps real =
          new NodeSteps(
              checkpoint,
              new HookLibraries(root.resolve("hook"), root.resolve("opt")),
              folders,
              new ClaimSpec(driver, List.of(), folders),
              new CdiFolder(root.resolve("cdi"), "gpu.partita.dev-claim"),
              inventory::current,
              new MigCards(reader),
              true);
      return call.on(
          new ClaimPreparer(
              NODE + "/gpu",
              "boot",
              new ClaimReader(client, calls),
              inventory,
              () -> knobs.get(),
              checkpoint,
              wrap.around(real),
              lock,
              reports));
    }
  }

  private void assertNothingLeft() throws IOException {
    assertThat(files("cdi")).isEmpty();
    assertThat(files("state/claims")).isEmpty();
    assertThat(files("state/shares")).isEmpty();
    assertThat(files("run/shares")).isEmpty();
    assertThat(instances).isEmpty();
  }

  private List<Path> files(String folder) throws IOException {
    if (!Files.isDirectory(root.resolve(folder))) {
      return List.of();
    }
    try (Stream<Path> files = Files.list(root.resolve(folder))) {
      return files.toList();
    }
  }

  private static ClaimRef ref(ResourceClaim claim) {
    return new ClaimRef("default", claim.getMetadata().getName(), claim.getMetadata().getUid());
  }

  /** Stands for SIGKILL: nothing of the plugin runs after it. */
  private static final class Killed extends Error {
    private static final long serialVersionUID = 1L;
  }

  /** Lets some steps pass and then fails: for good, as a killed process does, or once, with an error. */
  private static final class Failing implements Step.Executor {
    private final Step.Executor real;
    private final boolean kill;
    private int left;

    Failing(Step.Executor real, int left, boolean kill) {
      this.real = real;
      this.left = left;
      this.kill = kill;
    }

    @Override
    public void execute(Step step) throws IOException {
      if (left-- == 0) {
        if (kill) {
          throw new Killed();
        }
        throw new IOException("the disk is full");
      }
      real.execute(step);
    }
  }

  @Test
  void theContainerGetsTheNodesOfItsInstanceAlsoBeforeTheyAreThere() throws IOException {
    assertThat(prepare(newClaim())).isInstanceOf(ClaimService.Ready.class);
    assertThat(files("cdi").getFirst()).content().contains("/dev/nvidia-caps/nvidia-cap318", "/dev/nvidia-caps/nvidia-cap319", "235");
    assertThat(instances.values()).containsExactly(new MigControl.GpuInstance(5, "2g.35gb", 4, 2, List.of(new MigControl.ComputeInstance(0, true, "MIG-5"))));
  }

  @Test
  void whatAKilledPluginOrSomebodyElseHasLeftInTheWayIsEnded() throws IOException {
    migOn = true;
    instances.put(5, new MigControl.GpuInstance(5, "2g.35gb", 4, 2, List.of()));
    instances.put(8, new MigControl.GpuInstance(8, "1g.18gb", 5, 1, List.of()));
    instances.put(9, new MigControl.GpuInstance(9, "1g.18gb", 6, 1, List.of()));
    ResourceClaim claim = newClaim();
    assertThat(prepare(claim)).isInstanceOf(ClaimService.Ready.class);
    assertThat(instances.keySet()).containsExactly(5, 9);
    assertThat(Objects.requireNonNull(instances.get(5)).computeInstances()).hasSize(1);
    assertThat(unprepare(claim)).isEmpty();
    assertThat(instances.keySet()).containsExactly(9);
  }

  @Test
  void anInstanceThatAProcessStillUsesKeepsTheClaimUntilItIsGone() throws IOException {
    ResourceClaim claim = newClaim();
    assertThat(prepare(claim)).isInstanceOf(ClaimService.Ready.class);
    inUse = true;
    assertThat(unprepare(claim).orElseThrow()).contains("MIG instance 2g.35gb at memory slice 4 of card GPU-2 (gpu-2) cannot be ended", "in use");
    assertThat(files("state/claims")).hasSize(1);
    inUse = false;
    assertThat(unprepare(claim)).isEmpty();
    assertNothingLeft();
  }

  private final Map<Integer, MigControl.GpuInstance> instances = new TreeMap<>();
  private boolean migOn;
  private boolean inUse;

  /** Cards that outlive the plugin; the last one can be cut, all of them have a MIG mode. */
  private final class Cards implements CardReader {
    @Override
    public CardReading read() {
      return new CardReading("580.1", Optional.of("13.0"), List.of(card(0), card(1), card(2)), List.of());
    }

    @Override
    public Map<String, List<ProcessMemory>> processes() {
      return Map.of();
    }

    @Override
    public List<ProcessSample> samples(String uuid, long newerThan) {
      return List.of();
    }

    @Override
    public Optional<XidEvent> awaitXid(Duration atMost) {
      return Optional.empty();
    }

    @Override
    public MigState mig(String card) throws NvmlException {
      if (!card.equals("GPU-2")) {
        throw new NvmlException("nvmlDeviceGetMigMode", NvmlException.NOT_SUPPORTED, "not supported");
      }
      return new MigState(migOn, List.copyOf(instances.values()));
    }

    @Override
    public void switchMig(String card, boolean on) {
      migOn = on;
    }

    @Override
    public void makeInstance(String card, String profile, int start) {
      instances.put(5, new GpuInstance(5, profile, start, 2, List.of(new ComputeInstance(0, true, "MIG-5"))));
    }

    @Override
    public void endInstance(String card, int gpuInstance) throws NvmlException {
      if (inUse) {
        throw new NvmlException("nvmlGpuInstanceDestroy", 19, "in use");
      }
      instances.remove(gpuInstance);
    }

    @Override
    public void close() {}

    private static CardReading.Card card(int index) {
      List<MigProfile> profiles =
          index == 2 ? List.of(new MigProfile("2g.35gb", 32L << 30, 32, 2, 3, List.of(new MigProfile.Placement(0, 2), new MigProfile.Placement(4, 2)))) : List.of();
      return new CardReading.Card(
          index, "GPU-" + index, index, "NVIDIA H200", "Nvidia", "Hopper", "9.0", 141L << 30, 0, Optional.empty(), Optional.empty(), CardReading.Nvlink.NONE, profiles);
    }
  }
}
