package dev.partita.plugin.usage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.partita.api.device.DeviceStatusData;
import dev.partita.cdi.CdiFolder;
import dev.partita.plugin.TestClaims;
import dev.partita.plugin.checkpoint.Checkpoint;
import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.claimread.ClaimReader;
import dev.partita.plugin.claimstatus.ClaimReports;
import dev.partita.plugin.grant.ClaimRef;
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
import dev.partita.plugin.usage.measure.ShareRef;
import dev.partita.plugin.usage.measure.WatchedShare;
import dev.partita.plugin.usage.verdict.ShareUse;
import dev.partita.serving.access.MockApiServer;
import io.fabric8.kubernetes.api.model.ConditionBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.AllocatedDeviceStatusBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceRequestAllocationResult;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.runtime.RawExtension;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Shares that nobody uses are hardly looked at, and what happens to them is noticed with the next look all the same.
 */
@MockApiServer(crud = true)
class QuietNodeTest {
  @SuppressWarnings("NullAway.Init") // set by the extension
  KubernetesClient client;

  @TempDir @SuppressWarnings("NullAway.Init") Path root;

  private Instant now = Instant.parse("2026-01-01T00:00:00Z");
  private static final Map<String, List<ProcessMemory>> NOBODY = Map.of("GPU-0", List.of());

  private Map<String, List<ProcessMemory>> held = NOBODY;
  private int asked;

  @SuppressWarnings("NullAway.Init") // as all below, set before every test
  private UsageRegions regions;

  @SuppressWarnings("NullAway.Init") private OperationLock lock;

  @SuppressWarnings("NullAway.Init") private ClaimReports reports;

  @SuppressWarnings("NullAway.Init") private ShareFolders folders;

  @SuppressWarnings("NullAway.Init") private Checkpoint checkpoint;

  @SuppressWarnings("NullAway.Init") private UsageWatch watch;

  @BeforeEach
  void watchOneShareUntilAllIsQuiet() throws IOException {
    regions = new UsageRegions();
    lock = new OperationLock(root.resolve("lock"));
    reports = new ClaimReports(client, ApiCalls.standard(), "node", Clock.systemUTC());
    folders = new ShareFolders(root.resolve("state"), root.resolve("run"), regions);
    checkpoint = new Checkpoint(root.resolve("claims"), Clock.systemUTC());
    prepare(share(1));
    watch = ofPlugin();
    assumeTrue(watch.seesAll(), "processes of other pid namespaces are not seen");
    for (int second = 0; second < 30; second++) {
      lookASecondLater();
    }
  }

  private UsageWatch ofPlugin() {
    Clock clock = InstantSource.offset(() -> now, Duration.ZERO).withZone(ZoneOffset.UTC);
    CdiFolder cdi = new CdiFolder(root.resolve("cdi"), "gpu.partita.dev-claim");
    return new UsageWatch(
        new ClaimStore(checkpoint, cdi, folders, new MetadataFolders(root.resolve("run")),
            new ClaimPods(root.resolve("run")), lock),
        this::held,
        (card, newer) -> new CardSamples.Told(List.of()),
        new PodClaims(new ClaimReader(client, ApiCalls.standard()), claim -> Optional.of(Set.of()), clock),
        reports,
        new ExcessPolicy(OnExcess.REPORT, UsageWatch.PLAUSIBLE_OVERHEAD),
        clock,
        clock);
  }

  @AfterEach
  void close() throws IOException {
    reports.close();
    lock.close();
    regions.close();
    checkpoint.close();
  }

  @Test
  @SuppressWarnings("ReferenceEquality") // each whole look has a map of its own
  void whileNothingHappensOnlyNvmlIsAskedAndAllIsLookedAtNowAndThen() throws IOException {
    int before = asked;
    int whole = 0;
    for (int second = 0; second < 60; second++) {
      Map<ShareRef, ShareUse> last = watch.current();
      lookASecondLater();
      whole += watch.current() == last ? 0 : 1;
    }
    assertThat(asked - before).isEqualTo(60);
    assertThat(whole).isEqualTo(2);
  }

  @Test
  void aProcessOnTheCardIsSeenWithTheNextLookAndForAWhileAfterItHasGone() throws IOException {
    held = Map.of("GPU-0", List.of(new ProcessMemory(ProcessHandle.current().pid(), 1 << 30)));
    assertWholeLooks(3);
    held = NOBODY;
    assertWholeLooks(10);
  }

  @Test
  void aCardThatDoesNotTellWhoUsesItIsNotTakenForUnused() throws IOException {
    assertThat(watch.looked("GPU-0")).isEqualTo(now);
    Instant told = now;
    held = Map.of();
    assertWholeLooks(5);
    assertThat(watch.looked("GPU-0")).isEqualTo(told);
    assertThat(watch.current()).containsOnlyKeys(share(1).ref());
    held = NOBODY;
    lookASecondLater();
    assertThat(watch.looked("GPU-0")).isEqualTo(now);
  }

  @Test
  void aNewShareIsSeenWithTheNextLook() throws IOException {
    prepare(share(2));
    lookASecondLater();
    assertThat(watch.current()).containsOnlyKeys(share(1).ref(), share(2).ref());
  }

  @Test
  void aRegionThatAContainerLetsGrowIsCutWhileNobodyUsesTheCard() throws IOException {
    Path region = folders.usageFile(share(1).ref().uid(), share(1).ref().key());
    try (RandomAccessFile file = new RandomAccessFile(region.toFile(), "rw")) {
      file.setLength(ShareFolders.USAGE_SIZE + (1 << 20));
    }
    lookASecondLater();
    await().untilAsserted(() -> assertThat(Files.size(region)).isEqualTo(ShareFolders.USAGE_SIZE));
  }

  @Test
  void aShareWasUsedOnceAContainerHasBegunItsLedger() throws IOException {
    held = Map.of("GPU-0", List.of(new ProcessMemory(ProcessHandle.current().pid(), 1 << 30)));
    lookASecondLater();
    assertThat(watch.shareWasUsed()).isFalse();
    beginLedger(share(1));
    lookASecondLater();
    assertThat(watch.shareWasUsed()).isTrue();
    checkpoint.remove(share(1).ref().uid());
    lookASecondLater();
    assertThat(watch.shareWasUsed()).isTrue();
  }

  @Test
  void whatAnEarlierPluginToldOfAShareThatNobodyUsesAnyMoreIsTakenBack() throws IOException {
    ResourceClaim claim =
        client.resource(TestClaims.claim("used", TestClaims.share("node", "a", 0, "8Gi", "25"))).create();
    DeviceRequestAllocationResult result = claim.getStatus().getAllocation().getDevices().getResults().getFirst();
    ClaimRef ref = new ClaimRef("default", "used", claim.getMetadata().getUid());
    WatchedShare share = WatchedShare.of(List.of(new PreparedClaim(ref, PreparedClaim.Phase.COMPLETED, "boot",
        List.of(Grants.share("a", 0, result.getShareID(), 8, 25)), Map.of(), false))).getFirst();
    claim.getStatus().setDevices(List.of(new AllocatedDeviceStatusBuilder().withDriver(result.getDriver())
        .withPool(result.getPool()).withDevice(result.getDevice()).withShareID(result.getShareID())
        .withData(new RawExtension(Map.of("memoryUsed", "9Gi", "processes", "1")))
        .withConditions(new ConditionBuilder().withType("WithinMemoryLimit").withStatus("False")
            .withReason("LimitExceeded").withMessage("it holds 9 GiB").withLastTransitionTime("2026-01-01T00:00:00Z")
            .build())
        .build()));
    client.resource(claim).updateStatus();
    prepare(share); // as after a reboot: nobody has begun the region that the share has now
    ofPlugin().look();
    await().atMost(Duration.ofSeconds(60)).untilAsserted(
        () -> assertThat(client.resource(claim).get().getStatus().getDevices()).singleElement().satisfies(device -> {
          assertThat(DeviceStatusData.of(device).get("processes")).hasToString("0");
          assertThat(device.getConditions()).filteredOn(its -> "WithinMemoryLimit".equals(its.getType()))
              .singleElement().satisfies(its -> assertThat(its.getStatus()).isEqualTo("True"));
        }));
  }

  private void beginLedger(WatchedShare share) throws IOException {
    Path region = folders.usageFile(share.ref().uid(), share.ref().key());
    try (RandomAccessFile file = new RandomAccessFile(region.toFile(), "rw")) {
      file.write("PARTITA1".getBytes(StandardCharsets.US_ASCII));
    }
  }

  private void assertWholeLooks(int looks) throws IOException {
    for (int i = 0; i < looks; i++) {
      Map<ShareRef, ShareUse> last = watch.current();
      lookASecondLater();
      assertThat(watch.current()).isNotSameAs(last);
    }
  }

  private void lookASecondLater() throws IOException {
    now = now.plusSeconds(1);
    watch.look();
  }

  private Map<String, List<ProcessMemory>> held() {
    asked++;
    return held;
  }

  private void prepare(WatchedShare share) throws IOException {
    checkpoint.write(share.prepared());
    folders.write(share.claim(), share.grant(), share.share());
  }

  private static WatchedShare share(int number) {
    ClaimRef claim = new ClaimRef("default", "claim-" + number, "0b5e8a9e-0000-4000-8000-00000000000" + number);
    PreparedClaim prepared =
        new PreparedClaim(claim, PreparedClaim.Phase.COMPLETED, "boot", List.of(Grants.share("a", 0, "key", 8, 25)),
            Map.of(), false);
    return WatchedShare.of(List.of(prepared)).getFirst();
  }
}
