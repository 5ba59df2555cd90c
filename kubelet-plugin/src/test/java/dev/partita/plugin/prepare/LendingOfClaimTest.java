package dev.partita.plugin.prepare;

import static dev.partita.plugin.TestClaims.config;
import static dev.partita.plugin.TestClaims.share;
import static dev.partita.plugin.TestClaims.whole;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.partita.api.Driver;
import dev.partita.api.device.DeviceStatusData;
import dev.partita.api.node.GpuNodeSpec;
import dev.partita.api.resize.NodeResizes;
import dev.partita.cdi.CdiFolder;
import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.dra.ClaimService;
import dev.partita.plugin.grant.ClaimRef;
import dev.partita.plugin.grant.Grants;
import dev.partita.plugin.held.HeldClaims;
import dev.partita.plugin.loop.Loops;
import dev.partita.plugin.resize.LoanReturns;
import dev.partita.plugin.resize.MemoryLending;
import dev.partita.plugin.resize.Recalls;
import dev.partita.plugin.resize.ShareResizer;
import dev.partita.plugin.resize.SizeOwners;
import dev.partita.plugin.share.ShareFolders;
import dev.partita.plugin.share.UsageRegions;
import dev.partita.plugin.step.Step;
import dev.partita.plugin.usage.UsageWatch;
import dev.partita.plugin.usage.excess.ProcessEnd;
import dev.partita.plugin.usage.measure.HostProcesses;
import dev.partita.plugin.usage.measure.ProcessIdentity;
import dev.partita.plugin.usage.measure.ShareRef;
import dev.partita.plugin.usage.measure.WatchedShare;
import dev.partita.plugin.usage.verdict.CoreState;
import dev.partita.plugin.usage.verdict.MemoryState;
import dev.partita.plugin.usage.verdict.ProcessUse;
import dev.partita.plugin.usage.verdict.ShareUse;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceAllocationConfiguration;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Memory that claims were lent is asked back, by a clock that the test sets. */
class LendingOfClaimTest extends OnNodeOfPlugins {
  private static final Duration SOON = Duration.ofSeconds(20);
  private static final long GIB = 1L << 30;

  private static final List<DeviceAllocationConfiguration> UP_TO_100_GIB = List.of(config("FromClaim", List.of(),
      Map.of("apiVersion", Driver.GROUP_VERSION, "kind", "GpuShareConfig", "memoryLimit", "100Gi")));

  private volatile Instant now = Instant.parse("2026-01-01T00:00:00Z");
  private final Clock clock = InstantSource.offset(() -> now, Duration.ZERO).withZone(ZoneOffset.UTC);

  @Test
  void whoIsAskedAgainForWhatNobodyNeededForAWhileHasAllOfTheGrace() throws IOException {
    ResourceClaim first = growing();
    ResourceClaim second = growing();
    node.runParts(real -> real, parts -> {
      Recalls recalls = new Recalls(clock);
      try (UsageRegions regions = new UsageRegions(); Loops loops = new Loops()) {
        assertThat(parts.preparer().prepare(NodeOfPlugins.ref(first))).isInstanceOf(ClaimService.Ready.class);
        MemoryLending lending = lending(parts, regions, recalls);
        lending.start(loops, parts.claims().rewriter());
        await().atMost(SOON).until(() -> parts.checkpoint().readAll().stream().flatMap(its -> its.grants().stream())
            .anyMatch(grant -> grant.share().orElseThrow().lentBytes() > 0));
        assertThat(parts.preparer().prepare(NodeOfPlugins.ref(second))).isInstanceOf(ClaimService.Ready.class);
        lending.recall(wanted());
        await().atMost(SOON).until(() -> !recalls.current().isEmpty());
        now = now.plus(Duration.ofMinutes(4)); // kubelet asks for it no more; the second one is to have more meanwhile
        lending.changed();
        await().atMost(SOON).until(() -> recalls.current().isEmpty());
        lending.recall(wanted());
        await().atMost(SOON).until(() -> !recalls.current().isEmpty());
        assertThat(recalls.current().values()).extracting(Recalls.OfShare::overdue).containsOnly(Duration.ZERO);
      }
      return true;
    });
  }

  @Test
  void nobodyIsAskedForWhatAClaimNeededThatIsReleasedBeforeItWasPrepared() throws IOException {
    ResourceClaim claim = growing();
    node.runParts(real -> real, parts -> {
      Recalls recalls = new Recalls(clock);
      try (UsageRegions regions = new UsageRegions(); Loops loops = new Loops()) {
        assertThat(parts.preparer().prepare(NodeOfPlugins.ref(claim))).isInstanceOf(ClaimService.Ready.class);
        MemoryLending lending = lending(parts, regions, recalls);
        lending.start(loops, parts.claims().rewriter());
        await().atMost(SOON).until(() -> parts.checkpoint().readAll().getFirst().grants().getFirst().share()
            .orElseThrow().lentBytes() > 0);
        lending.recall(wanted());
        await().atMost(SOON).until(() -> !recalls.current().isEmpty());
        lending.released(wanted().claim().uid());
        await().atMost(SOON).until(() -> recalls.ended().get(Recalls.Outcome.WITHDRAWN),
            ended -> Objects.equals(ended, 1L));
      }
      return true;
    });
  }

  @Test
  void whatAClaimIsLentWhileOthersOfItsCallAreStillPreparedStaysInItsStatus() throws IOException {
    ResourceClaim claim = growing();
    ResourceClaim other = node.newClaim(whole(NodeOfPlugins.NODE, "c", 1));
    AtomicReference<NodeOfPlugins.Parts> plugin = new AtomicReference<>();
    node.runParts(real -> step -> {
      if (step instanceof Step.WriteSpec write && write.claim().claim().equals(NodeOfPlugins.ref(other))) {
        lend(Objects.requireNonNull(plugin.get()), NodeOfPlugins.ref(claim), 92 * GIB);
      }
      real.execute(step);
    }, parts -> {
      plugin.set(parts);
      assertThat(parts.preparer().prepare(List.of(NodeOfPlugins.ref(claim), NodeOfPlugins.ref(other))).values())
          .allSatisfy(outcome -> assertThat(outcome).isInstanceOf(ClaimService.Ready.class));
      return true;
    });
    assertThat(Objects.requireNonNull(client.resource(claim).get()).getStatus().getDevices()).singleElement()
        .satisfies(device -> assertThat(DeviceStatusData.MEMORY_LIMIT.in(device)).contains("100Gi"));
  }

  /** As soon as the claim is prepared. */
  private static void lend(NodeOfPlugins.Parts parts, ClaimRef claim, long bytes) throws IOException {
    PreparedClaim record = await().atMost(SOON).until(() -> parts.checkpoint().read(claim.uid()),
        its -> its.filter(known -> known.phase() == PreparedClaim.Phase.COMPLETED).isPresent()).orElseThrow();
    PreparedClaim lent = record.with(record.grants().stream().map(grant -> grant.lent(bytes)).toList());
    assertThat(parts.claims().rewriter().resize(record, lent)).isEmpty();
    parts.reports().lent(lent);
  }

  @Test
  void aLoanIsInTheRecordBeforeItIsInAFileAndInTheFileOnceThatCanBeWritten() throws IOException {
    ResourceClaim claim = growing();
    AtomicBoolean noRecord = new AtomicBoolean();
    AtomicBoolean noFile = new AtomicBoolean();
    AtomicInteger refused = new AtomicInteger();
    AtomicInteger written = new AtomicInteger();
    node.runParts(real -> step -> {
      if ((noRecord.get() && step instanceof Step.WriteRecord) || (noFile.get() && step instanceof Step.WriteShare)) {
        refused.incrementAndGet();
        throw new IOException("no space left on device");
      }
      real.execute(step);
      written.addAndGet(step instanceof Step.WriteShare ? 1 : 0);
    }, parts -> {
      try (UsageRegions regions = new UsageRegions(); Loops loops = new Loops()) {
        assertThat(parts.preparer().prepare(NodeOfPlugins.ref(claim))).isInstanceOf(ClaimService.Ready.class);
        MemoryLending lending = lending(parts, regions, new Recalls(clock));
        lending.recall(wanted(140));
        int before = written.get();
        lending.start(loops, parts.claims().rewriter());
        await().atMost(SOON).until(() -> written.get() > before); // as the record says
        noRecord.set(true);
        now = now.plus(Duration.ofMinutes(4)); // nobody wants the memory any more
        lending.changed();
        await().atMost(SOON).until(() -> refused.get() > 0);
        assertThat(node.quotas()).singleElement().asString().contains("\nmemory " + 8 * GIB + "\n");
        noFile.set(true);
        noRecord.set(false);
        lending.changed();
        await().atMost(SOON).until(() -> parts.checkpoint().readAll().getFirst().grants().getFirst().share()
            .orElseThrow().lentBytes() > 0);
        noFile.set(false);
        lending.changed();
        await().atMost(SOON).until(node::quotas,
            quotas -> quotas.size() == 1 && quotas.getFirst().contains("\nmemory " + 100 * GIB + "\n"));
      }
      return true;
    });
  }

  @Test
  void forWhatTwoSharesOfOneContainerHoldTooMuchNoMoreIsKilledThanHoldsThat() throws Exception {
    ResourceClaim claim = node.newClaim(UP_TO_100_GIB, share(NodeOfPlugins.NODE, "a", 0, "8Gi", ""),
        share(NodeOfPlugins.NODE, "b", 0, "8Gi", ""));
    Process large = new ProcessBuilder("sleep", "1000").start();
    Process small = new ProcessBuilder("sleep", "1000").start();
    try {
      node.runParts(real -> real, parts -> {
        Recalls recalls = new Recalls(clock);
        try (UsageRegions regions = new UsageRegions(); Loops loops = new Loops()) {
          assertThat(parts.preparer().prepare(NodeOfPlugins.ref(claim))).isInstanceOf(ClaimService.Ready.class);
          MemoryLending lending = lending(parts, regions, recalls,
              share -> used(share, share.grant().requests().contains("a") ? large : small, parts),
              _ -> now.plusSeconds(10));
          lending.start(loops, parts.claims().rewriter());
          await().atMost(SOON).until(() -> parts.checkpoint().readAll().getFirst().grants().stream()
              .allMatch(grant -> grant.share().orElseThrow().memoryBytes() > 50 * GIB));
          lending.recall(wanted());
          await().atMost(SOON).until(() -> !recalls.current().isEmpty());
          now = now.plus(GpuNodeSpec.DEFAULT.loans().grace()).plusSeconds(1);
          await().atMost(SOON).until(() -> recalls.ended().get(Recalls.Outcome.KILLED),
              ended -> Objects.equals(ended, 1L));
        }
        return true;
      });
      assertThat(large.waitFor(20, TimeUnit.SECONDS)).isTrue();
      assertThat(small.isAlive()).as("the other one held more than was too much").isTrue();
    } finally {
      large.destroyForcibly();
      small.destroyForcibly();
    }
  }

  @Test
  void aProcessWhoseMemoryNoLedgerKnowsOfIsKilledForWhatItKeepsOfALoan() throws Exception {
    ResourceClaim claim = growing();
    Process process = new ProcessBuilder("sleep", "1000").start();
    try {
      node.runParts(real -> real, parts -> {
        Recalls recalls = new Recalls(clock);
        try (UsageRegions regions = new UsageRegions(); Loops loops = new Loops()) {
          assertThat(parts.preparer().prepare(NodeOfPlugins.ref(claim))).isInstanceOf(ClaimService.Ready.class);
          MemoryLending lending = lending(parts, regions, recalls,
              share -> use(share, processes(process, identity -> new ProcessUse(identity, 60 * GIB, 0, 0, 60 * GIB, 0,
                  false, 0)), Set.of()),
              _ -> now.plusSeconds(10));
          lending.start(loops, parts.claims().rewriter());
          await().atMost(SOON).until(() -> parts.checkpoint().readAll().getFirst().grants().getFirst().share()
              .orElseThrow().memoryBytes() > 50 * GIB);
          lending.recall(wanted());
          await().atMost(SOON).until(() -> !recalls.current().isEmpty());
          now = now.plus(GpuNodeSpec.DEFAULT.loans().grace()).plusSeconds(1);
          await().atMost(SOON).until(() -> recalls.ended().values().stream().anyMatch(ended -> ended > 0));
          assertThat(recalls.ended()).containsEntry(Recalls.Outcome.KILLED, 1L);
        }
        return true;
      });
      assertThat(process.waitFor(20, TimeUnit.SECONDS)).isTrue();
    } finally {
      process.destroyForcibly();
    }
  }

  /** Of two shares of a container one holds 45 GiB and the other one 1 GiB, as long as their processes live. */
  private static ShareUse used(WatchedShare share, Process process, NodeOfPlugins.Parts parts) {
    long bytes = share.grant().requests().contains("a") ? 45 * GIB : GIB;
    try {
      Set<ShareRef> beside = WatchedShare.of(parts.checkpoint().readAll()).stream().map(WatchedShare::ref)
          .filter(ref -> !ref.equals(share.ref())).collect(Collectors.toSet());
      return use(share, processes(process, identity -> new ProcessUse(identity, bytes, bytes, 0, 0, 0, true, 0)),
          beside);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** What it uses, as long as it lives. */
  private static List<ProcessUse> processes(Process process, Function<ProcessIdentity, ProcessUse> uses) {
    return HostProcesses.SEEN.identity(process.pid()).filter(_ -> process.isAlive()).map(uses).stream().toList();
  }

  private static ShareUse use(WatchedShare share, List<ProcessUse> processes, Set<ShareRef> beside) {
    return new ShareUse(share, processes, ShareUse.LedgerTotals.NONE, new CoreState.Unused(), beside,
        new MemoryState.Held());
  }

  private ResourceClaim growing() {
    return node.newClaim(UP_TO_100_GIB, share(NodeOfPlugins.NODE, "a", 0, "8Gi", ""));
  }

  private static PreparedClaim wanted() {
    return wanted(100);
  }

  private static PreparedClaim wanted(long gib) {
    return new PreparedClaim(new ClaimRef("default", "wanted", "0b5e8a9e-0000-4000-8000-000000000001"),
        PreparedClaim.Phase.COMPLETED, "boot", List.of(Grants.share("a", 0, "wanted", gib, 0)), Map.of(), false);
  }

  @Test
  void aClaimWhoseRecordIsLostKeepsWhatItsContainersWereLent() throws IOException {
    ResourceClaim claim = lentUpTo100Gib();
    Files.delete(root.resolve("state/claims/" + claim.getMetadata().getUid() + ".claim"));
    node.runParts(real -> real, parts -> {
      assertThat(parts.preparer().rebuild(NodeOfPlugins.ref(claim)).orElseThrow())
          .isInstanceOf(ClaimService.Ready.class);
      assertThat(parts.checkpoint().readAll().getFirst().grants().getFirst().share().orElseThrow().lentBytes())
          .isEqualTo(92 * GIB);
      return true;
    });
    assertThat(node.quotas()).singleElement().asString().contains("\nmemory " + 100 * GIB + "\n");
  }

  @Test
  void aClaimWhoseRecordIsLostIsHeldToItsOwnMemoryWhereAnotherOneHasBeenGivenWhatItWasLent() throws IOException {
    ResourceClaim claim = lentUpTo100Gib();
    Files.delete(root.resolve("state/claims/" + claim.getMetadata().getUid() + ".claim"));
    node.gone = Set.of(); // so what is left of it is in nobody's way
    assertThat(node.prepare(node.newClaim(share(NodeOfPlugins.NODE, "b", 0, "100Gi", ""))))
        .isInstanceOf(ClaimService.Ready.class);
    node.runParts(real -> real, parts -> {
      assertThat(parts.preparer().rebuild(NodeOfPlugins.ref(claim)).orElseThrow())
          .isInstanceOf(ClaimService.Ready.class);
      return true;
    });
    assertThat(node.quotas()).hasSize(2).anySatisfy(quota -> assertThat(quota).contains("\nmemory " + 8 * GIB + "\n"));
  }

  private ResourceClaim lentUpTo100Gib() throws IOException {
    ResourceClaim claim = growing();
    node.runParts(real -> real, parts -> {
      assertThat(parts.preparer().prepare(NodeOfPlugins.ref(claim))).isInstanceOf(ClaimService.Ready.class);
      lend(parts, NodeOfPlugins.ref(claim), 92 * GIB);
      return true;
    });
    assertThat(node.quotas()).singleElement().asString().contains("\nmemory " + 100 * GIB + "\n");
    return claim;
  }

  /** Each share holds 40 GiB, and it is never seen what they hold after they are held to less. */
  private MemoryLending lending(NodeOfPlugins.Parts parts, UsageRegions regions, Recalls recalls) {
    return lending(parts, regions, recalls, LendingOfClaimTest::used, _ -> Instant.EPOCH);
  }

  /**
   * The same.
   *
   * @param use what a share is used for
   * @param looked when that was seen
   */
  private MemoryLending lending(
      NodeOfPlugins.Parts parts,
      UsageRegions regions,
      Recalls recalls,
      Function<WatchedShare, ShareUse> use,
      Function<String, Instant> looked) {
    ShareResizer.NodeState state = new ShareResizer.NodeState(NodeOfPlugins.NODE + "/gpu",
        () -> Optional.of(NodeResizes.NONE), parts.inventory()::current, () -> GpuNodeSpec.DEFAULT, () -> {
          try {
            return WatchedShare.of(parts.checkpoint().readAll()).stream()
                .collect(Collectors.toMap(WatchedShare::ref, use));
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        }, looked);
    HeldClaims held = new HeldClaims(parts.checkpoint(), new CdiFolder(root.resolve("cdi"), "gpu.partita.dev-claim"),
        new ShareFolders(root.resolve("state"), root.resolve("run"), regions), clock);
    LoanReturns returns = new LoanReturns(state, parts.reports(),
        new ProcessEnd(HostProcesses.SEEN, parts.reports()), recalls, UsageWatch.PLAUSIBLE_OVERHEAD, clock);
    return new MemoryLending(state, parts.checkpoint(), held, parts.reports(), returns, new SizeOwners(), true, clock);
  }

  private static ShareUse used(WatchedShare share) {
    return new ShareUse(share, List.of(), new ShareUse.LedgerTotals(40 * GIB, 0, 0, 0), new CoreState.Unused(),
        Set.<ShareRef>of(), new MemoryState.Held());
  }
}
