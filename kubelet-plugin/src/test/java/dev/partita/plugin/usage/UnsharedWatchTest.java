package dev.partita.plugin.usage;

import static dev.partita.plugin.grant.Grants.GIB;
import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.plugin.checkpoint.Checkpoint;
import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.grant.ClaimRef;
import dev.partita.plugin.grant.Grant;
import dev.partita.plugin.grant.Grants;
import dev.partita.plugin.nvml.CardUser;
import dev.partita.plugin.nvml.MigControl;
import dev.partita.plugin.nvml.ProcessMemory;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class UnsharedWatchTest {
  private static final int INSTANCE = 7;

  @TempDir @SuppressWarnings("NullAway.Init") Path root;

  private final List<String> told = new ArrayList<>();
  private Map<String, List<ProcessMemory>> held = Map.of();
  private int asked;
  private final PodsByPid pods = new PodsByPid();

  @SuppressWarnings("NullAway.Init") // set before every test
  private Checkpoint checkpoint;

  @SuppressWarnings("NullAway.Init") private UnsharedWatch watch;

  @BeforeEach
  void open() throws IOException {
    checkpoint = new Checkpoint(root.resolve("claims"), Clock.systemUTC());
    watch = ofPlugin();
    watch.look(); // claims come later than the plugin
  }

  private UnsharedWatch ofPlugin() {
    return new UnsharedWatch(checkpoint, () -> {
      asked++;
      return held;
    }, new OneInstance(), pods, (claim, notes) -> notes.forEach((key, note) -> {
      assertThat(note.conditions()).isEmpty();
      told.add(claim.claim().name() + " " + key + " " + note.data());
    }));
  }

  @AfterEach
  void close() throws IOException {
    checkpoint.close();
  }

  @Test
  void aWholeCardsClaimIsToldOnceItIsUsedAndThenWhatChangesByMuch() throws IOException {
    prepare("whole", Grants.whole("gpu", 0));
    watch.look();
    assertThat(told).as("nobody uses it").isEmpty();
    held = Map.of("GPU-0", List.of(new ProcessMemory(1, 4 * GIB), new ProcessMemory(2, GIB / 2)),
        "GPU-1", List.of(new ProcessMemory(3, GIB)));
    watch.look();
    watch.look();
    held = Map.of("GPU-0", List.of(new ProcessMemory(1, 5 * GIB), new ProcessMemory(2, GIB / 2)));
    watch.look();
    assertThat(told).as("a GiB of 80 is little").containsExactly("whole gpu-0 {memoryUsed=4608Mi, processes=2}");
    held = Map.of();
    watch.look();
    assertThat(told).as("nobody knows who uses it").hasSize(1);
    held = Map.of("GPU-0", List.of());
    watch.look();
    assertThat(told).hasSize(2).last().isEqualTo("whole gpu-0 {memoryUsed=0, processes=0}");
  }

  @Test
  void aClaimThatAnEarlierPluginMayHaveToldOfProcessesIsToldOnceThatNobodyUsesIt() throws IOException {
    prepare("whole", Grants.whole("gpu", 0));
    UnsharedWatch next = ofPlugin();
    next.look();
    assertThat(told).as("nobody knows who uses it").isEmpty();
    held = Map.of("GPU-0", List.of());
    next.look();
    next.look();
    assertThat(told).containsExactly("whole gpu-0 {memoryUsed=0, processes=0}");
  }

  @Test
  void anInstancesClaimIsToldOfItsOwnProcesses() throws IOException {
    prepare("mig", Grants.instance("gpu", 0, 4, 2));
    held = Map.of("GPU-0", List.of(new ProcessMemory(1, 4 * GIB, OptionalInt.of(INSTANCE)),
        new ProcessMemory(2, GIB, OptionalInt.of(3)), new ProcessMemory(3, GIB)));
    watch.look();
    assertThat(told).containsExactly("mig gpu-0-mig-2g-4 {memoryUsed=4Gi, processes=1}");
  }

  @Test
  void ofACardInTurnAClaimIsToldOfItsPodsProcessesIfTheyCanBeSeen() throws IOException {
    prepare("turn", Grants.inTurn("gpu", 0));
    held = Map.of("GPU-0", List.of(new ProcessMemory(10, 4 * GIB), new ProcessMemory(11, GIB),
        new ProcessMemory(20, 30 * GIB), new ProcessMemory(99, GIB)));
    pods.seesAll = false;
    watch.look();
    assertThat(told).isEmpty();
    pods.seesAll = true;
    watch.look();
    assertThat(told).containsExactly("turn gpu-0-shared {memoryUsed=5Gi, processes=2}");
  }

  @Test
  void sharesAndWhoOnlyLooksAreNotToldAndNvmlIsNotAskedForThem() throws IOException {
    prepare("share", Grants.share("gpu", 0, "key", 8, 25));
    prepare("looker", Grants.admin("gpu", 0));
    held = Map.of("GPU-0", List.of(new ProcessMemory(1, 4 * GIB)));
    watch.look();
    assertThat(told).isEmpty();
    assertThat(asked).isZero();
  }

  private void prepare(String name, Grant grant) throws IOException {
    checkpoint
        .write(new PreparedClaim(new ClaimRef("default", name, "0b5e8a9e-0000-4000-8000-00000000000" + name.length()),
            PreparedClaim.Phase.COMPLETED, "boot", List.of(grant), Map.of(), false));
  }

  /** The claim is that of pod-1; pids from 10 on are of it, from 20 on of pod-2, and 99 of none. */
  private static final class PodsByPid implements UnsharedWatch.Pods {
    private boolean seesAll = true;

    @Override
    public Optional<String> ofProcess(long pid) {
      return pid >= 90 ? Optional.empty() : Optional.of("pod-" + pid / 10);
    }

    @Override
    public Set<String> ofClaim(String claimUid) {
      return Set.of("pod-1");
    }

    @Override
    public boolean seesAll() {
      return seesAll;
    }
  }

  /** A card with an instance of two slices from slice 4. */
  private static final class OneInstance implements MigControl {
    @Override
    public MigState mig(String card) {
      return new MigState(true, List.of(new GpuInstance(3, "2g", 0, 2, List.of()),
          new GpuInstance(INSTANCE, "2g", 4, 2, List.of())));
    }

    @Override
    public List<CardUser> users(String card) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void switchMig(String card, boolean on) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void makeInstance(String card, String profile, int start) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void endInstance(String card, int gpuInstance) {
      throw new UnsupportedOperationException();
    }
  }
}
