package dev.partita.plugin.mps;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.partita.api.config.GpuShareConfig.CoreLimit;
import dev.partita.plugin.checkpoint.Checkpoint;
import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.grant.CardUse;
import dev.partita.plugin.grant.ClaimRef;
import dev.partita.plugin.grant.Grant;
import dev.partita.plugin.grant.Grants;
import dev.partita.plugin.grant.HookedShare;
import dev.partita.plugin.grant.Mps;
import dev.partita.plugin.grant.Share;
import dev.partita.plugin.loop.Loops;
import dev.partita.plugin.store.OperationLock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MpsWatchTest {
  private static final int CARDS = 16; // as many as a node has
  private static final String BOOT = "boot";
  private static final Share SHARE = new Share(Grants.GIB, 25, CoreLimit.NONE, 1);

  @TempDir Path folder;

  private final Set<Path> running = new HashSet<>();
  private final Map<Path, String> limits = new HashMap<>();
  private final List<String> told = new ArrayList<>();
  private String refusal = "";
  private boolean refusesLimits;
  private boolean cannotBeAsked;
  @SuppressWarnings("NullAway.Init") // set before every test
  private Checkpoint checkpoint;
  @SuppressWarnings("NullAway.Init") // set before every test
  private OperationLock lock;
  @SuppressWarnings("NullAway.Init") // set before every test
  private MpsWatch watch;
  @SuppressWarnings("NullAway.Init") // set before every test
  private MpsDaemons daemons;

  private final MpsControl control = new MpsControl() {
    @Override
    public boolean answers(Path pipe) throws IOException {
      if (cannotBeAsked) {
        throw new IOException("there is no nvidia-cuda-mps-control");
      }
      return running.contains(pipe);
    }

    @Override
    public void begin(String card, Path pipe, Path log) throws IOException {
      if (!refusal.isEmpty()) {
        throw new IOException(refusal);
      }
      running.add(pipe);
    }

    @Override
    public void limit(Path pipe, int percent, long mebibytes) throws IOException {
      if (refusesLimits) {
        throw new IOException("it takes no limits");
      }
      limits.put(pipe, percent + " % " + mebibytes + "M");
    }

    @Override
    public void end(Path pipe) {
      running.remove(pipe);
    }
  };

  @BeforeEach
  void begin() throws IOException {
    checkpoint = new Checkpoint(folder.resolve("claims"), Clock.systemUTC());
    lock = new OperationLock(folder.resolve("lock"));
    daemons = new MpsDaemons(control, new MpsFolders(folder.resolve("mps"), Path.of("/dev/shm")), BOOT,
        (claim, note) -> told.add(claim.name() + ": " + note));
    watch = new MpsWatch(checkpoint, lock, daemons);
  }

  @AfterEach
  void end() throws IOException {
    checkpoint.close();
    lock.close();
  }

  @Test
  void aDaemonThatHasEndedIsBegunAnewAndTheClaimsOfItsCardAreTold() throws IOException {
    claim("a", 0, new Mps(SHARE));
    claim("b", 0, new Mps(SHARE));
    claim("c", 1, new Mps(SHARE));
    claim("d", 2, new HookedShare(SHARE));
    watch.look();
    told.clear();
    watch.look();
    assertThat(told).isEmpty();
    running.remove(pipe(0));
    limits.clear();
    watch.look();
    assertThat(running).containsExactlyInAnyOrder(pipe(0), pipe(1));
    assertThat(limits).containsOnly(Map.entry(pipe(0), "25 % 1024M"));
    assertThat(told).hasSize(2).allSatisfy(note -> assertThat(note).contains("had ended and was begun anew"))
        .extracting(note -> note.substring(0, 1)).containsExactlyInAnyOrder("a", "b");
  }

  @Test
  void afterARebootADaemonIsBegunAnewAndNoClaimIsToldThatItsProgramsHaveLostAnything() throws IOException {
    claim("a", 0, new Mps(SHARE), PreparedClaim.Phase.COMPLETED, "boot before");
    claim("b", 0, new Mps(SHARE));
    watch.look();
    assertThat(running).containsExactly(pipe(0));
    assertThat(told).singleElement().asString().startsWith("b: ");
  }

  @Test
  void oneThatCannotBeBegunIsToldOfOnceAndTriedAgain() throws IOException {
    claim("a", 0, new Mps(SHARE));
    refusal = "it has a bad day";
    watch.look();
    watch.look();
    assertThat(told).singleElement().asString().contains("cannot be begun anew", "it has a bad day");
    refusal = "";
    watch.look();
    assertThat(running).containsExactly(pipe(0));
    assertThat(told).hasSize(2);
  }

  @Test
  void oneThatCannotBeAskedIsNotSaidToHaveEnded() throws IOException {
    claim("a", 0, new Mps(SHARE));
    watch.look();
    told.clear();
    cannotBeAsked = true;
    watch.look();
    cannotBeAsked = false;
    watch.look();
    assertThat(told).isEmpty();
  }

  @Test
  void oneThatBeganButDidNotTakeItsLimitsIsToldThemAgain() throws IOException {
    claim("a", 0, new Mps(SHARE));
    refusesLimits = true;
    watch.look();
    assertThat(running).containsExactly(pipe(0));
    refusesLimits = false;
    watch.look();
    assertThat(limits).containsOnly(Map.entry(pipe(0), "25 % 1024M"));
    assertThat(told.stream().filter(note -> note.contains("was begun anew"))).as("it was begun once").hasSize(1);
  }

  @Test
  void oneThatAKilledPluginHadBegunWithoutItsLimitsIsToldThemByTheNext() throws IOException {
    claim("a", 0, new Mps(SHARE));
    running.add(pipe(0));
    watch.look();
    assertThat(limits).containsOnly(Map.entry(pipe(0), "25 % 1024M"));
    assertThat(told).as("it has not ended").isEmpty();
    limits.clear();
    watch.look();
    assertThat(limits).as("once").isEmpty();
  }

  @Test
  void oneThatCannotBeAskedWhenThePluginBeginsIsToldItsLimitsLater() throws IOException {
    claim("a", 0, new Mps(SHARE));
    running.add(pipe(0));
    cannotBeAsked = true;
    watch.look();
    assertThat(told).isEmpty();
    cannotBeAsked = false;
    watch.look();
    assertThat(limits).containsOnly(Map.entry(pipe(0), "25 % 1024M"));
    assertThat(told).isEmpty();
  }

  @Test
  void logsAreBoundedAndTheFilesOfADaemonGoWithIt() throws IOException {
    claim("a", 0, new Mps(SHARE));
    daemons.provide(Grants.card(0), checkpoint.readAll());
    daemons.provide(Grants.card(0), checkpoint.readAll());
    assertThat(told).as("it was begun once").hasSize(1);
    Path log = folder.resolve("mps/GPU-0/log/control.log");
    Files.write(log, new byte[(int) MpsDaemons.MOST_LOG_BYTES + 1]);
    watch.look();
    assertThat(log).isEmptyFile();
    daemons.end("GPU-0");
    assertThat(folder.resolve("mps/GPU-0")).doesNotExist();
    daemons.end("GPU-0");
  }

  @Test
  void whatProgramsLeftInTheSharedMemoryGoesWithTheLastDaemonOfTheNode() throws IOException {
    Path shared = Files.createDirectory(folder.resolve("shm"));
    Path outside = Files.writeString(folder.resolve("outside"), "x");
    Path left = Files.writeString(shared.resolve("cuda.shm.0.1.1"), "x");
    Path link = Files.createSymbolicLink(shared.resolve("link"), outside);
    MpsDaemons apart = new MpsDaemons(control, new MpsFolders(folder.resolve("apart"), shared), BOOT, (_, _) -> {});
    Files.createDirectories(folder.resolve("apart/GPU-0/pipe"));
    Files.createDirectories(folder.resolve("apart/GPU-1/pipe"));
    apart.end("GPU-0");
    assertThat(left).as("programs of another card may use it").exists();
    apart.end("GPU-1");
    assertThat(left).doesNotExist();
    assertThat(link).isSymbolicLink();
    assertThat(outside).exists();
  }

  @Test
  void aWholeNodeWhoseDaemonsHangIsNoStandstillOfTheLoop() throws IOException {
    AtomicLong nanos = new AtomicLong();
    CountDownLatch begun = new CountDownLatch(CARDS);
    Queue<String> standstills = new ConcurrentLinkedQueue<>();
    try (Loops loops = new Loops(nanos::get, Loops.Excuse.NONE)) {
      MpsControl hanging = new MpsControl() {
        @Override
        public boolean answers(Path pipe) {
          takes(NvidiaMps.Patience.STANDARD.answer());
          return false;
        }

        @Override
        public void begin(String card, Path pipe, Path log) throws IOException {
          takes(NvidiaMps.Patience.STANDARD.begin());
          begun.countDown();
          throw new IOException("it hangs");
        }

        @Override
        public void limit(Path pipe, int percent, long mebibytes) {}

        @Override
        public void end(Path pipe) {}

        private void takes(Duration time) {
          nanos.addAndGet(time.toNanos());
          loops.standstill().ifPresent(standstills::add);
        }
      };
      for (int card = 0; card < CARDS; card++) {
        claim("c" + card, card, new Mps(SHARE));
      }
      new MpsWatch(checkpoint, lock, new MpsDaemons(hanging, daemons.folders(), BOOT, (claim, note) -> {}))
          .start(loops);
      await().atMost(Duration.ofSeconds(20)).until(() -> begun.getCount() == 0);
    }
    assertThat(standstills).isEmpty();
  }

  @Test
  void aLogThatCannotBeEmptiedIsNoEndOfTheDaemon() throws IOException {
    claim("a", 0, new Mps(SHARE));
    daemons.provide(Grants.card(0), checkpoint.readAll());
    told.clear();
    Path log = folder.resolve("mps/GPU-0/log/control.log");
    // A program that runs is ETXTBSY for whoever writes it. A shell writes it: were it this process, a child that another
    // thread begins just then would hold the file open for writing, and the program could not begin.
    String writeAndRun = "cp /bin/sleep \"$0\" && truncate -s +\"$1\" \"$0\" && exec \"$0\" 1000";
    Process running =
        new ProcessBuilder("sh", "-c", writeAndRun, log.toString(), Long.toString(MpsDaemons.MOST_LOG_BYTES)).start();
    try {
      await().until(() -> running.toHandle().info().command().equals(Optional.of(log.toRealPath().toString())));
      watch.look();
      assertThat(told).isEmpty();
      assertThat(log).as("it was not emptied").isNotEmptyFile();
    } finally {
      running.destroyForcibly();
    }
  }

  @Test
  void aFolderThatIsNotThePluginsOwnSharedMemoryIsRefused() {
    MpsDaemons elsewhere =
        new MpsDaemons(control, new MpsFolders(folder.resolve("mps"), folder), BOOT, (claim, note) -> {});
    assertThatThrownBy(() -> elsewhere.provide(Grants.card(0), List.of()))
        .hasMessageContaining("is not that of the plugin, and with it of the daemon");
    assertThat(running).isEmpty();
  }

  @Test
  void whoeverFindsThatTheDaemonHasEndedTheClaimsThatUsedItAreTold() throws IOException {
    claim("a", 0, new Mps(SHARE), PreparedClaim.Phase.COMPLETED);
    claim("b", 1, new Mps(SHARE), PreparedClaim.Phase.COMPLETED);
    claim("new", 0, new Mps(SHARE), PreparedClaim.Phase.STARTED);
    daemons.provide(Grants.card(0), checkpoint.readAll()); // as it is when that one is prepared
    assertThat(told).singleElement().asString().startsWith("a: ").contains("had ended and was begun anew");
  }

  private Path pipe(int card) {
    return folder.resolve("mps/GPU-" + card + "/pipe");
  }

  private void claim(String name, int card, CardUse use) throws IOException {
    claim(name, card, use, PreparedClaim.Phase.COMPLETED);
  }

  private void claim(String name, int card, CardUse use, PreparedClaim.Phase phase) throws IOException {
    claim(name, card, use, phase, BOOT);
  }

  private void claim(String name, int card, CardUse use, PreparedClaim.Phase phase, String bootId) throws IOException {
    Grant grant = new Grant(List.of("gpu"), "gpu-" + card + "-shared", Optional.of("k"), Grants.card(card), use);
    checkpoint.write(new PreparedClaim(new ClaimRef("default", name, "uid-" + name), phase,
        bootId, List.of(grant), Map.of(), false));
  }
}
