package dev.partita.plugin.cardreport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.grant.ClaimRef;
import dev.partita.plugin.grant.Grants;
import dev.partita.plugin.usage.measure.ShareRef;
import dev.partita.plugin.usage.measure.WatchedShare;
import dev.partita.serving.access.MockApiServer;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@MockApiServer(crud = true)
class NewProcessesTest {
  private static final String POD = "0b5e1a2b-0000-4000-8000-0123456789ab";
  private static final long SECOND = 1_000_000_000;

  @SuppressWarnings("NullAway.Init") // set by the extension
  KubernetesClient client;

  @TempDir @SuppressWarnings("NullAway.Init") Path root;

  @SuppressWarnings("NullAway.Init") // set before every test
  private ProcOfTest proc;

  @SuppressWarnings("NullAway.Init") // set before every test
  private NewProcesses processes;

  private final WatchedShare a = share("a", "uid-a");
  private final WatchedShare b = share("b", "uid-b");

  @BeforeEach
  void layOut() throws IOException {
    proc = new ProcOfTest(root);
    processes = proc.newProcesses(client);
    processes.beginLook(0);
  }

  @Test
  void aProcessIsThatOfTheSharesThatAreMountedWhereItRuns() throws IOException {
    proc.begin(7, a.ref());
    proc.begin(8, b.ref());
    assertThat(of(7, 8, 9)).isEqualTo(Map.of(7L, Set.of(a.ref()), 8L, Set.of(b.ref())));
    assertThat(processes.of(List.of(7L), List.of(b))).as("its share is on another card").isEmpty();
  }

  @Test
  void aProcessThatHidesItsMountsIsThatOfItsPodsClaims() throws IOException {
    ResourceClaim claim = client.resource(new ResourceClaimBuilder().withNewMetadata().withName("c")
        .withNamespace("default").endMetadata().build()).create();
    client.resource(new ResourceClaimBuilder(claim).withNewStatus().addNewReservedFor("", "pods", "p", POD).endStatus()
        .build()).updateStatus();
    WatchedShare its = share("c", claim.getMetadata().getUid());
    proc.beginInPod(7, POD);
    await().atMost(Duration.ofSeconds(20)).untilAsserted(
        () -> assertThat(processes.of(List.of(7L), List.of(a, its))).isEqualTo(Map.of(7L, Set.of(its.ref()))));
    proc.beginInPod(8, POD);
    assertThat(processes.of(List.of(8L), List.of(a, its))).as("the next one, at once")
        .isEqualTo(Map.of(8L, Set.of(its.ref())));
  }

  @Test
  void aProcessThatHasEndedSinceItWasSeenIsStillKnownForSeconds() throws IOException {
    proc.begin(7, a.ref());
    assertThat(of(7)).containsKey(7L);
    proc.end(7);
    processes.beginLook(SECOND);
    assertThat(of(7)).isEqualTo(Map.of(7L, Set.of(a.ref())));
    processes.beginLook(3 * SECOND);
    processes.beginLook(6 * SECOND);
    assertThat(of(7)).as("nobody has asked for it for a while").isEmpty();
  }

  @Test
  void whereOtherPidsAreSeenThanTheDriverGivesNobodyIsTakenForAnother() throws IOException {
    proc.begin(7, a.ref());
    Path self = root.resolve("self/ns/pid");
    Files.delete(self);
    Files.createSymbolicLink(self, Path.of("pid:[4026532000]"));
    assertThat(of(7)).isEmpty();
  }

  private Map<Long, Set<ShareRef>> of(long... pids) {
    return processes.of(Arrays.stream(pids).boxed().toList(), List.of(a, b));
  }

  private static WatchedShare share(String name, String uid) {
    return WatchedShare.of(List.of(new PreparedClaim(new ClaimRef("default", name, uid),
        PreparedClaim.Phase.COMPLETED, "boot", List.of(Grants.share("gpu", 0, "key", 8, 25)), Map.of(), false)))
        .getFirst();
  }
}
