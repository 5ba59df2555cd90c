package dev.partita.serving.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.serving.access.MockApiServer;
import dev.partita.serving.access.TokenAccess;
import dev.partita.serving.access.Verdict;
import io.fabric8.kubernetes.api.model.authentication.TokenReview;
import io.fabric8.kubernetes.api.model.authentication.TokenReviewBuilder;
import io.fabric8.kubernetes.api.model.authorization.v1.SubjectAccessReview;
import io.fabric8.kubernetes.api.model.authorization.v1.SubjectAccessReviewBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.server.mock.KubernetesMockServer;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The API server's part: prometheus may read, eve may not, and no other token is known. */
@MockApiServer
class MetricsAccessTest {
  private static final String TOKEN_REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews";
  private static final String ACCESS_REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews";

  @SuppressWarnings("NullAway.Init") // both are set by the extension
  KubernetesMockServer server;
  @SuppressWarnings("NullAway.Init") KubernetesClient client;

  private Instant now = Instant.parse("2026-01-01T00:00:00Z");

  @Test
  void whoMayGetThePathReads() {
    answersReviews();
    assertThat(access().of(Optional.of("prometheus"))).isEqualTo(new Verdict.Allowed<>("prometheus"));
  }

  @Test
  void whoMayNotIsForbiddenAndToldWhatWouldHelp() {
    answersReviews();
    assertThat(access().of(Optional.of("eve")))
        .isInstanceOfSatisfying(Verdict.Forbidden.class,
            forbidden -> assertThat(forbidden.why()).contains("eve may not get /metrics", "nonResourceURLs"));
  }

  @Test
  void withoutATokenNobodyIsAskedAbout() throws InterruptedException {
    assertThat(access().of(Optional.empty())).isInstanceOf(Verdict.Unknown.class);
    assertThat(server.getRequestCount()).isZero();
  }

  @Test
  void aTokenThatTheApiServerDoesNotKnowIsUnknown() {
    answersReviews();
    assertThat(access().of(Optional.of("made-up"))).isInstanceOf(Verdict.Unknown.class);
  }

  @Test
  void whenTheApiServerFailsNobodyIsLetIn() {
    server.expect().post().withPath(TOKEN_REVIEWS).andReturn(500, "").always();
    assertThat(access().of(Optional.of("prometheus"))).isInstanceOf(Verdict.Undecided.class);
  }

  @Test
  void anAnswerHoldsForAMinuteAndNotLonger() {
    answersReviews();
    MetricsAccess access = access();
    access.of(Optional.of("prometheus"));
    now = now.plus(Duration.ofSeconds(59));
    access.of(Optional.of("prometheus"));
    assertThat(server.getRequestCount()).isEqualTo(2);
    now = now.plus(Duration.ofSeconds(2));
    access.of(Optional.of("prometheus"));
    assertThat(server.getRequestCount()).isEqualTo(4);
  }

  @Test
  void strangersCostTheApiServerABoundedNumberOfRequestsAndKeepNoReaderOut() {
    answersReviews();
    MetricsAccess access = access();
    access.of(Optional.of("prometheus"));
    now = now.plus(Duration.ofSeconds(90));
    IntStream.range(0, 1_000).forEach(i -> access.of(Optional.of("made-up-" + i)));
    assertThat(server.getRequestCount()).isEqualTo(2 + TokenAccess.STRANGERS_A_MINUTE);
    assertThat(access.of(Optional.of("made-up"))).isInstanceOf(Verdict.Undecided.class);
    assertThat(access.of(Optional.of("prometheus"))).isEqualTo(new Verdict.Allowed<>("prometheus"));
  }

  @Test
  void anAnswerHoldsNoLongerWhereAClockThatWasAheadIsPutRight() {
    answersReviews();
    MetricsAccess access = access();
    access.of(Optional.of("prometheus"));
    IntStream.range(0, 1_000).forEach(i -> access.of(Optional.of("made-up-" + i)));
    int before = server.getRequestCount();
    now = now.minus(Duration.ofHours(5));
    access.of(Optional.of("prometheus"));
    assertThat(server.getRequestCount()).isEqualTo(before + 2);
    assertThat(access.of(Optional.of("eve"))).isInstanceOf(Verdict.Forbidden.class);
  }

  private MetricsAccess access() {
    return MetricsAccess.byToken(client, "/metrics", () -> now);
  }

  private void answersReviews() {
    server.expect().post().withPath(TOKEN_REVIEWS).andReply(200, request -> {
      TokenReview asked = Serialization.unmarshal(request.getBody().readUtf8(), TokenReview.class);
      String token = asked.getSpec().getToken();
      boolean known = token.equals("prometheus") || token.equals("eve");
      return new TokenReviewBuilder(asked).withNewStatus().withAuthenticated(known).withNewUser().withUsername(token)
          .endUser().endStatus().build();
    }).always();
    server.expect().post().withPath(ACCESS_REVIEWS).andReply(200, request -> {
      SubjectAccessReview asked =
          Serialization.unmarshal(request.getBody().readUtf8(), SubjectAccessReview.class);
      boolean get = asked.getSpec().getNonResourceAttributes().getVerb().equals("get")
          && asked.getSpec().getNonResourceAttributes().getPath().equals("/metrics");
      return new SubjectAccessReviewBuilder(asked).withNewStatus()
          .withAllowed(get && asked.getSpec().getUser().equals("prometheus")).endStatus().build();
    }).always();
  }
}
