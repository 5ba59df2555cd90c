package dev.partita.plugin.claimstatus;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.partita.api.event.EventObject;
import dev.partita.plugin.TestClaims;
import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.grant.ClaimRef;
import dev.partita.plugin.grant.Grants;
import dev.partita.plugin.kube.ApiCalls;
import dev.partita.plugin.loop.Loops;
import dev.partita.serving.access.MockApiServer;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.server.mock.KubernetesMockServer;
import io.github.resilience4j.retry.Retry;
import io.github.resilience4j.retry.RetryConfig;
import java.net.HttpURLConnection;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

@MockApiServer
class ClaimReportsTest {
  private static final String EVENTS = "/apis/events.k8s.io/v1/namespaces/default/events";
  private static final ClaimRef CLAIM = new ClaimRef("default", "claim", "0b5e8a9e-0000-4000-8000-000000000001");

  @SuppressWarnings("NullAway.Init") // set by the extension
  KubernetesMockServer server;

  @SuppressWarnings("NullAway.Init") KubernetesClient client;

  private final AtomicInteger tries = new AtomicInteger();

  @Test
  void anEventOfMisuseThatWasLostIsTriedAgainUntilItIsWritten() {
    answer(HttpURLConnection.HTTP_CONFLICT, 3);
    answer(HttpURLConnection.HTTP_CREATED, 1000);
    assertThat(triesWhenThereWere(4)).isEqualTo(4);
  }

  @Test
  void thatACardIsHealthyAgainIsTriedAgainUntilItIsWritten() {
    answer(HttpURLConnection.HTTP_CONFLICT, 1);
    answer(HttpURLConnection.HTTP_CREATED, 1000);
    try (ClaimReports reports = reports(Duration.ofMillis(1))) {
      reports.cardHealed(CLAIM, "it is healthy again");
      await().atMost(Duration.ofSeconds(20)).until(() -> tries.get() == 2);
    }
  }

  @Test
  void anEventThatCannotBeWrittenIsGivenUpAfterSoManyTries() {
    answer(HttpURLConnection.HTTP_CONFLICT, 1000);
    assertThat(triesWhenThereWere(1 + ClaimReports.MOST_REPEATS)).isEqualTo(1 + ClaimReports.MOST_REPEATS);
  }

  @Test
  void anEventThatTheServerRefusesIsNotTriedAgain() {
    answer(HttpURLConnection.HTTP_FORBIDDEN, 1000);
    assertThat(triesWhenThereWere(1)).isEqualTo(1);
  }

  @Test
  void aReportGivesWayToKubeletForASecondAtMost() {
    answer(HttpURLConnection.HTTP_CREATED, 1000);
    long begin = System.nanoTime();
    try (ClaimReports reports = reports(Duration.ofMillis(1)); WaitingCalls.Call _ = reports.kubeletWaits()) {
      reports.released(CLAIM);
      await().atMost(Duration.ofSeconds(20)).until(() -> tries.get() == 1);
      assertThat(Duration.ofNanos(System.nanoTime() - begin)).isGreaterThanOrEqualTo(Duration.ofSeconds(1));
    }
  }

  @Test
  void theStateOfAClaimThatWasLostIsWrittenOnceTheServerTakesIt() {
    ResourceClaim claim = TestClaims.claim(CLAIM.name(), TestClaims.share("node", "a", 0, "8Gi", ""));
    claim.getMetadata().setUid(CLAIM.uid());
    String path = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims/" + CLAIM.name();
    AtomicReference<String> written = new AtomicReference<>("");
    server.expect().get().withPath(path).andReturn(HttpURLConnection.HTTP_UNAVAILABLE, "").times(2);
    server.expect().get().withPath(path).andReturn(HttpURLConnection.HTTP_OK, claim).always();
    server.expect().patch().withPath(path + "/status").andReply(HttpURLConnection.HTTP_OK, request -> {
      written.set(request.getUtf8Body());
      return claim;
    }).always();
    String share = claim.getStatus().getAllocation().getDevices().getResults().getFirst().getShareID();
    PreparedClaim prepared = new PreparedClaim(CLAIM, PreparedClaim.Phase.COMPLETED, "boot",
        List.of(Grants.share("a", 0, share, 8, 0)), Map.of(), false);
    try (ClaimReports reports = reports(Duration.ofMillis(1))) {
      reports.lent(prepared);
      await().atMost(Duration.ofSeconds(20)).until(() -> String.valueOf(written.get()).contains("\"Ready\""));
    }
  }

  @Test
  void anEventThatIsThereIsCounted() {
    answer(HttpURLConnection.HTTP_CONFLICT, 1000);
    AtomicReference<String> written = new AtomicReference<>("");
    EventObject said = new EventObject(EventObject.About.CLAIM, CLAIM.namespace(), CLAIM.name(), CLAIM.uid(), true,
        EventReason.PrepareFailed.name(), EventReason.PrepareFailed.name(), "no room");
    Event earlier = said.first(said.nameByNote(), "kubelet-plugin", "node", Instant.EPOCH);
    String path = EVENTS + "/" + said.nameByNote();
    server.expect().get().withPath(path).andReturn(HttpURLConnection.HTTP_OK, earlier).always();
    server.expect().put().withPath(path).andReply(HttpURLConnection.HTTP_OK, request -> {
      written.set(request.getUtf8Body());
      return "{}";
    }).always();
    try (ClaimReports reports = reports(Duration.ofMillis(1))) {
      reports.failed(CLAIM, "no room");
      await().atMost(Duration.ofSeconds(20)).until(() -> String.valueOf(written.get()).contains("\"count\":2"));
    }
    assertThat(tries).hasValue(1);
  }

  /** How often an event is tried, once that was so often. */
  private int triesWhenThereWere(int so) {
    try (ClaimReports reports = reports(Duration.ofMillis(1))) {
      reports.misused(CLAIM, EventReason.LimitExceeded, "process 7");
      await().atMost(Duration.ofSeconds(20)).until(() -> tries.get() >= so);
    }
    return tries.get();
  }

  private ClaimReports reports(Duration firstRepeat) {
    ApiCalls once = new ApiCalls(Retry.of("once", RetryConfig.custom().maxAttempts(1).build()));
    return new ClaimReports(
        client, once, "node", Clock.systemUTC(), ClaimReports.CardsNow.NONE, new Loops(), firstRepeat);
  }

  private void answer(int code, int times) {
    server
        .expect()
        .post()
        .withPath(EVENTS)
        .andReply(
            code,
            request -> {
              tries.incrementAndGet();
              return "{}";
            })
        .times(times);
  }
}
