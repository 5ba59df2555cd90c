package dev.partita.plugin.usage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.partita.cdi.CdiFolder;
import dev.partita.plugin.checkpoint.Checkpoint;
import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.claimread.ClaimReader;
import dev.partita.plugin.claimstatus.ClaimReports;
import dev.partita.plugin.grant.ClaimRef;
import dev.partita.plugin.grant.Grant;
import dev.partita.plugin.grant.Grants;
import dev.partita.plugin.kube.ApiCalls;
import dev.partita.plugin.metadata.MetadataFolders;
import dev.partita.plugin.nvml.CardSamples;
import dev.partita.plugin.nvml.ProcessMemory;
import dev.partita.plugin.share.ShareFolders;
import dev.partita.plugin.share.UsageRegions;
import dev.partita.plugin.store.ClaimPods;
import dev.partita.plugin.store.ClaimStore;
import dev.partita.plugin.store.OperationLock;
import dev.partita.plugin.usage.excess.ExcessPolicy;
import dev.partita.plugin.usage.excess.OnExcess;
import dev.partita.plugin.usage.measure.PodClaims;
import dev.partita.plugin.usage.measure.WatchedShare;
import dev.partita.plugin.usage.region.Ledger;
import dev.partita.plugin.usage.region.RegionFile;
import dev.partita.plugin.usage.region.RegionLocks;
import dev.partita.plugin.usage.verdict.ShareUse;
import dev.partita.serving.access.MockApiServer;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A tenant has a process that has ended hold the lock of a slot in his region, and his neighbour's process gets its
 * pid. The kernel then names the neighbour's process as the holder.
 */
@MockApiServer(crud = true)
class ForgedSeatTest {
  private static final long GIB = 1L << 30;

  @SuppressWarnings("NullAway.Init") // set by the extension
  KubernetesClient client;

  @TempDir @SuppressWarnings("NullAway.Init") Path root;

  /** Has a child that shares its descriptors lock the first slot and end, says its pid, and keeps the file open. */
  private static final String FORGER =
      """
          use POSIX; $| = 1;
          my ($file, $clone) = @ARGV;
          sysopen(my $region, $file, O_RDWR) or die $!;
          my $child = syscall(int $clone, 0x400 | 17, 0, 0, 0, 0);
          if ($child == 0) {
            my $lock = pack('s s x4 q q i x4', F_WRLCK, SEEK_SET, 4096, 1, 0);
            fcntl($region, F_SETLK, $lock) or die $!;
            POSIX::_exit(0);
          }
          waitpid($child, 0);
          print "$child\\n";
          <STDIN>;
          """;

  /** Makes a child with that pid (clone3, set_tid), which ends with its parent. */
  private static final String NEIGHBOUR =
      """
          use POSIX; $| = 1;
          my $pid = pack('l', $ARGV[0]);
          my $arguments = pack('Q10', 0, 0, 0, 0, 17, 0, 0, 0, unpack('Q', pack('P', $pid)), 1);
          my $child = syscall(435, $arguments, length $arguments);
          die "clone3: $!" if $child < 0;
          if ($child == 0) { syscall(int $ARGV[1], 1, 9); print "$$\\n"; sleep 1000; }
          waitpid($child, 0);
          """;

  @Test
  void aLockThatBearsThePidOfANeighboursProcessIsNobodysSeat() throws Exception {
    Path perl = Path.of("/usr/bin/perl");
    assumeTrue(Files.isExecutable(perl), perl + " is not there");
    boolean arm = System.getProperty("os.arch").equals("aarch64");
    WatchedShare hostile = share("0b5e8a9e-0000-4000-8000-000000000001");
    WatchedShare honest = share("0b5e8a9e-0000-4000-8000-000000000002");
    Checkpoint checkpoint = new Checkpoint(root.resolve("claims"), Clock.systemUTC());
    try (UsageRegions regions = new UsageRegions();
        OperationLock lock = new OperationLock(root.resolve("lock"));
        ClaimReports reports = new ClaimReports(client, ApiCalls.standard(), "node", Clock.systemUTC())) {
      ShareFolders folders = new ShareFolders(root.resolve("state"), root.resolve("run"), regions);
      for (WatchedShare share : List.of(hostile, honest)) {
        checkpoint.write(share.prepared());
        folders.write(share.claim(), share.grant(), share.share());
        forgeSeat(folders.usageFile(share.ref().uid(), share.ref().key()));
      }
      Process forger = inContainerOf(hostile, folders, perl, FORGER, arm ? "220" : "56");
      Process neighbour = null;
      try {
        String pid = Objects.requireNonNull(forger.inputReader(StandardCharsets.UTF_8).readLine());
        assumeTrue(pid.matches("[0-9]+"), "no mount namespace, or no clone with descriptors in common: " + pid);
        neighbour = inContainerOf(honest, folders, perl, NEIGHBOUR, pid, arm ? "167" : "157");
        String second = Objects.requireNonNull(neighbour.inputReader(StandardCharsets.UTF_8).readLine());
        assumeTrue(second.equals(pid), "a process cannot be given a pid: " + second);
        assertThat(seatsByTheKernel(folders, hostile)).as("the kernel's word").containsExactly(Long.parseLong(pid));

        UsageWatch watch = watch(checkpoint, folders, lock, reports, Long.parseLong(pid));
        watch.look();
        ShareUse ofHostile = Objects.requireNonNull(watch.current().get(hostile.ref()));
        ShareUse ofHonest = Objects.requireNonNull(watch.current().get(honest.ref()));
        assertThat(ofHostile.processes()).isEmpty();
        assertThat(ofHostile.beside()).as("limits are not pooled").isEmpty();
        assertThat(ofHonest.beside()).isEmpty();
        assertThat(ofHonest.processes()).singleElement().satisfies(process -> {
          assertThat(process.bytes()).isEqualTo(2 * GIB);
          assertThat(process.inLedger()).isFalse();
        });
      } finally {
        end(forger);
        end(neighbour);
      }
    }
  }

  private UsageWatch watch(
      Checkpoint checkpoint,
      ShareFolders folders,
      OperationLock lock,
      ClaimReports reports,
      long pid) {
    CdiFolder cdi = new CdiFolder(root.resolve("cdi"), "gpu.partita.dev-claim");
    return new UsageWatch(
        new ClaimStore(checkpoint, cdi, folders, new MetadataFolders(root.resolve("run")),
            new ClaimPods(root.resolve("run")), lock),
        () -> Map.of("GPU-0", List.of(new ProcessMemory(pid, 2 * GIB))),
        (card, newer) -> new CardSamples.Told(List.of()),
        new PodClaims(new ClaimReader(client, ApiCalls.standard()), claim -> Optional.of(Set.of()), Clock.systemUTC()),
        reports,
        new ExcessPolicy(OnExcess.REPORT, UsageWatch.PLAUSIBLE_OVERHEAD),
        Clock.systemUTC(),
        Clock.systemUTC());
  }

  private static List<Long> seatsByTheKernel(ShareFolders folders, WatchedShare share) {
    Path usage = folders.usageFile(share.ref().uid(), share.ref().key());
    return new RegionFile(folders.regions(), usage).read(RegionLocks.MOST_NANOS).seats().stream().map(Ledger.Seat::pid)
        .toList();
  }

  /** One slot that somebody owns. */
  private static void forgeSeat(Path usage) throws IOException {
    ByteBuffer region = ByteBuffer.allocate(ShareFolders.USAGE_SIZE).order(ByteOrder.nativeOrder());
    region.putLong(0, 0x3141544954524150L).putInt(128, 1).putLong(4096, 1 << 2 | 1);
    Files.write(usage, region.array());
  }

  /** A process that sees the share's region where containers see it, which is what makes it the container's. */
  private Process inContainerOf(
      WatchedShare share,
      ShareFolders folders,
      Path perl,
      String program,
      String... arguments) throws IOException {
    Path region = folders.usageFile(share.ref().uid(), share.ref().key());
    Path mounted = Files.createFile(root.resolve("mounted-" + share.ref().uid()));
    String first = program.equals(FORGER) ? mounted + " " : "";
    String script = "mount --bind " + region + " " + mounted + " && exec " + perl + " -e \"$PROGRAM\" " + first
        + String.join(" ", arguments);
    ProcessBuilder builder = new ProcessBuilder("unshare", "--mount", "sh", "-c", script).redirectErrorStream(true);
    builder.environment().put("PROGRAM", program);
    return builder.start();
  }

  private static void end(@org.jspecify.annotations.Nullable Process process) {
    if (process != null) {
      process.destroyForcibly().onExit().join();
    }
  }

  private static WatchedShare share(String uid) {
    Grant grant = Grants.share("a", 0, "key", 8, 25);
    ClaimRef claim = new ClaimRef("default", "claim-" + uid.charAt(uid.length() - 1), uid);
    return WatchedShare
        .of(List.of(new PreparedClaim(claim, PreparedClaim.Phase.COMPLETED, "boot", List.of(grant), Map.of(), false)))
        .getFirst();
  }
}
