package dev.partita.plugin.usage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.claimstatus.ClaimReports;
import dev.partita.plugin.grant.ClaimRef;
import dev.partita.plugin.grant.Grant;
import dev.partita.plugin.grant.Grants;
import dev.partita.plugin.kube.ApiCalls;
import dev.partita.plugin.usage.measure.ProcessIdentity;
import dev.partita.plugin.usage.measure.WatchedShare;
import dev.partita.plugin.usage.region.Ledger;
import dev.partita.plugin.usage.verdict.CoreState;
import dev.partita.plugin.usage.verdict.CoreUse;
import dev.partita.plugin.usage.verdict.MemoryState;
import dev.partita.plugin.usage.verdict.ProcessUse;
import dev.partita.plugin.usage.verdict.ShareUse;
import dev.partita.plugin.usage.verdict.ShareVerdict;
import dev.partita.serving.access.MockApiServer;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

@MockApiServer(crud = true)
class ShareEventsTest {
  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

  @SuppressWarnings("NullAway.Init") // set by the extension
  KubernetesClient client;

  @Test
  void aRegionWithTooManyLocksIsToldOnceUntilItHadFewerForAMinute() {
    WatchedShare share = share();
    try (ClaimReports claims = new ClaimReports(client, ApiCalls.standard(), "node", Clock.systemUTC())) {
      ShareEvents events = new ShareEvents(claims);
      for (int second = 0; second < 100; second++) {
        events.tell(share, ledger(false, false), START.plusSeconds(second));
      }
      awaitAnEvent(); // on a busy machine closing does not wait for long enough
    }
    assertThat(events()).singleElement().satisfies(event -> {
      assertThat(event.getReason()).isEqualTo("TooManyLocks");
      assertThat(event.getSeries()).as("not said again").isNull();
    });
  }

  @Test
  void aRegionThatAContainerLetsGrowIsToldOnce() {
    WatchedShare share = share();
    try (ClaimReports claims = new ClaimReports(client, ApiCalls.standard(), "node", Clock.systemUTC())) {
      ShareEvents events = new ShareEvents(claims);
      for (int second = 0; second < 100; second++) {
        events.tell(share, ledger(true, true), START.plusSeconds(second));
      }
      awaitAnEvent(); // on a busy machine closing does not wait for long enough
    }
    assertThat(events()).singleElement()
        .satisfies(event -> assertThat(event.getReason()).isEqualTo("UsageRegionGrown"));
  }

  @Test
  void whoIsToBlameIsToldAtOnceAndOnceAMinuteWhereThatChangesAllTheTime() {
    WatchedShare share = share();
    try (ClaimReports claims = new ClaimReports(client, ApiCalls.standard(), "node", Clock.systemUTC())) {
      ShareEvents events = new ShareEvents(claims);
      for (int second = 0; second < 2; second++) {
        events.tell(exceededBy(share, 1), START.plusSeconds(second));
      }
      awaitEvents(1);
      for (int second = 2; second < 240; second++) {
        events.tell(exceededBy(share, second), START.plusSeconds(second));
        if (second <= 5 || second % 60 == 0) {
          awaitEvents(Math.min(second, 5 + second / 60)); // before the next one: the queue is bounded
        }
      }
    }
    assertThat(events()).hasSize(8).allSatisfy(event -> assertThat(event.getReason()).isEqualTo("LimitExceeded"));
  }

  private static ShareVerdict exceededBy(WatchedShare share, long pid) {
    ProcessUse process = new ProcessUse(new ProcessIdentity(pid, 1), 9L << 30, 0, 0, 0, 0, false, 0);
    MemoryState exceeded = new MemoryState.Exceeded(1L << 30, List.of(process));
    ShareUse use = new ShareUse(share, List.of(process), ShareUse.LedgerTotals.NONE, new CoreState.Unused(), Set.of(),
        exceeded);
    return new ShareVerdict(use, exceeded, new CoreUse.NotLimited());
  }

  private void awaitEvents(int number) {
    await().atMost(Duration.ofSeconds(60)).until(() -> events().size() >= number);
  }

  private void awaitAnEvent() {
    await().atMost(Duration.ofSeconds(60)).until(() -> !events().isEmpty());
  }

  private static Ledger ledger(boolean searched, boolean grown) {
    return new Ledger(true, searched, grown, List.of(), 0, 0, 0, 0);
  }

  private List<Event> events() {
    return client.events().v1().events().inNamespace("default").list().getItems();
  }

  private static WatchedShare share() {
    Grant grant = Grants.share("a", 0, "key", 8, 25);
    ClaimRef claim = new ClaimRef("default", "claim", "0b5e8a9e-0000-4000-8000-000000000001");
    PreparedClaim prepared =
        new PreparedClaim(claim, PreparedClaim.Phase.COMPLETED, "boot", List.of(grant), Map.of(), false);
    return WatchedShare.of(List.of(prepared)).getFirst();
  }
}
