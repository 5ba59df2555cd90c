package dev.partita.controller;

import static dev.partita.controller.Cluster.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.partita.api.node.HeldClaim;
import dev.partita.api.node.HeldDevice;
import dev.partita.api.quota.Amounts;
import dev.partita.api.quota.GpuQuota;
import dev.partita.api.quota.GpuQuotaSpec;
import dev.partita.controller.fleet.PaperFleet;
import io.fabric8.kubernetes.api.model.LabelSelectorBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.events.v1.EventBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a whole controller serves to browsers: a token is its user's name, see {@link ServerRules}. */
class WebTest {
  private final Cluster cluster = Cluster.empty();
  private final HttpClient http = HttpClient.newHttpClient();

  @BeforeEach
  void start() {
    cluster.add(GpuNodes.ready("node-0", 2, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.startWithPage();
  }

  @AfterEach
  void close() {
    http.close();
    cluster.close();
  }

  /** All of the page's files. */
  private static List<String> files() {
    return List.of("/", "/app.js", "/parts.js", "/style.css", "/icon.svg", "/lit/lit-html.js", "/lit/directive.js",
        "/lit/directive-helpers.js", "/lit/directives/repeat.js");
  }

  @ParameterizedTest
  @MethodSource("files")
  void thePagesOwnFilesNeedNoTokenAndLetNothingElseBeLoaded(String path) {
    HttpResponse<String> answer = get(path, "");
    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(answer.body()).isNotEmpty();
    assertThat(answer.headers().firstValue("Content-Security-Policy").orElseThrow())
        .contains("default-src 'none'", "frame-ancestors 'none'").doesNotContain("unsafe");
  }

  @Test
  void allFilesTogetherAreSmall() {
    int bytes = 0;
    for (String path : files()) {
      bytes += get(path, "").body().getBytes(StandardCharsets.UTF_8).length;
    }
    assertThat(bytes).isLessThan(200 << 10);
  }

  @Test
  void theClusterIsShownToNobodyWithoutAToken() {
    HttpResponse<String> answer = get("/api/nodes", "");
    assertThat(answer.statusCode()).isEqualTo(401);
    assertThat(answer.body()).contains("a bearer token is needed");
  }

  /** Those of OpenID Connect name all groups of a user. */
  @Test
  void aLongTokenIsReadAndOneThatIsTooLongIsRefusedWithTheReason() {
    HttpResponse<String> read = get("/api/nodes", "x".repeat(60 << 10));
    assertThat(read.statusCode()).isEqualTo(403);
    assertThat(read.body()).contains("may not list gpunodes");
    HttpResponse<String> refused = get("/api/nodes", "x".repeat(200 << 10));
    assertThat(refused.statusCode()).isEqualTo(431);
    assertThat(refused.body()).contains("a header of more than 64 KiB, such as a token");
  }

  @Test
  void whoMayListEverythingSeesWhoHasWhat() {
    allocated("train");
    JsonNode view = eventually().until(() -> view("/api/nodes", "admin"),
        now -> now.at("/nodes/rows/0/cards/0/parts/0/claim").asText().equals("train")
            || now.at("/nodes/rows/0/cards/1/parts/0/claim").asText().equals("train"));
    assertThat(view.at("/totals/cards").asInt()).isEqualTo(2);
    assertThat(view.at("/totals/memoryAllocated").asLong()).isEqualTo(40 * GpuNodes.GIB);
    assertThat(view("/api/claims?q=train", "admin").at("/claims/rows/0/part/memory").asLong())
        .isEqualTo(40 * GpuNodes.GIB);
  }

  @Test
  void whoMayNotListNodesOrClaimsIsShownNone() {
    allocated("train");
    assertThat(get("/api/nodes", "of-team").statusCode()).isEqualTo(403);
    assertThat(get("/api/nodes", "of-team").body()).contains("of-team may not list gpunodes");
    assertThat(view("/api/claims", "of-team").at("/claims/total").asInt()).isZero();
    assertThat(get("/api/claim/default/train", "of-team").statusCode()).isEqualTo(403);
    assertThat(get("/api/pod/default/train", "of-team").statusCode()).isEqualTo(403);
    assertThat(get("/api/quotas", "of-team").statusCode()).isEqualTo(403);
    assertThat(get("/api/history", "of-team").statusCode()).isEqualTo(403);
  }

  @Test
  void aClaimIsShownWithItsEvents() {
    cluster.claim("huge", "gpu.partita.dev", Map.of("memory", "900Gi"));
    cluster.pod("huge", "huge");
    cluster.note("huge", "Unallocatable");
    cluster.client
        .resource(new EventBuilder().withNewMetadata().withNamespace("default").withName("earlier").endMetadata()
            .withNewRegarding().withKind("ResourceClaim").withNamespace("default").withName("huge").withUid("earlier")
            .endRegarding().withReason("OfAnEarlierClaimOfThatName").build())
        .create();
    JsonNode claim = view("/api/claim/default/huge", "admin");
    assertThat(claim.path("name").asText()).isEqualTo("huge");
    assertThat(claim.path("events").findValuesAsText("reason")).contains("Unallocatable")
        .doesNotContain("OfAnEarlierClaimOfThatName");
    assertThat(get("/api/claim/default/none", "admin").statusCode()).isEqualTo(404);
  }

  /** The API server shows the same events under both groups, and the built-in role view names one of them. */
  @Test
  void whoMayListEventsOfTheCoreSeesThoseOfAClaim() {
    cluster.claim("huge", "gpu.partita.dev", Map.of("memory", "900Gi"));
    cluster.pod("huge", "huge");
    cluster.note("huge", "Unallocatable");
    assertThat(view("/api/claim/default/huge", "viewer").path("events").findValuesAsText("reason"))
        .contains("Unallocatable");
  }

  @Test
  void aPodThatWaitsIsShownCardByCard() {
    cluster.claim("huge", "gpu.partita.dev", Map.of("memory", "900Gi"));
    cluster.pod("huge", "huge");
    eventually().until(() -> view("/api/pods", "admin"), // the pod waits before it is said why
        now -> now.at("/pods/total").asInt() == 1
            && now.at("/pods/rows/0/reason").asText().equals("Unallocatable"));
    JsonNode pod = view("/api/pod/default/huge", "admin");
    assertThat(pod.at("/explanation/nodes/0/nodes")).extracting(JsonNode::asText).containsExactly("node-0");
    assertThat(pod.at("/explanation/nodes/0/byCard").size()).isEqualTo(2);
  }

  @Test
  void whatANodeHoldsForAClaimThatIsGoneIsItsNamespacesByTheQuotaToo() {
    cluster.labelNamespace("team", "a");
    GpuQuota quota = new GpuQuota();
    quota.getMetadata().setName("team-a");
    quota.setSpec(new GpuQuotaSpec(new LabelSelectorBuilder().addToMatchLabels("team", "a").build(),
        List.of(new GpuQuotaSpec.Limit("all", List.of(), null, new Amounts(new Quantity("64Gi"), null, null, null),
            Amounts.UNLIMITED))));
    cluster.client.resource(quota).create();
    HeldClaim held = new HeldClaim("gone", "default", "gone", HeldClaim.Reason.ClaimGone,
        List.of(HeldDevice.share("GPU-node-1-0", 8 * GpuNodes.GIB, 10)), "2026-01-01T00:00:00Z");
    cluster.add(GpuNodes.holding(GpuNodes.ready("node-1", 1, "NVIDIA H200", 140 * GpuNodes.GIB), held));
    JsonNode limit = eventually().until(() -> view("/api/quotas", "admin").at("/quotas/rows/0/limits/0"),
        now -> now.at("/amounts/0/used").asLong() == 8 * GpuNodes.GIB && !now.path("namespaces").isEmpty());
    assertThat(limit.at("/namespaces/0/namespace").asText()).isEqualTo("default");
    assertThat(limit.at("/namespaces/0/memory").asLong()).isEqualTo(8 * GpuNodes.GIB);
  }

  @Test
  void aStreamTellsTheViewAtOnceAndAgainWhenItChanges() throws Exception {
    HttpRequest request = request("/api/stream/claims", "admin");
    try (BufferedReader lines = new BufferedReader(new InputStreamReader(
        http.send(request, HttpResponse.BodyHandlers.ofInputStream()).body(), StandardCharsets.UTF_8))) {
      assertThat(lines.readLine()).isEqualTo("event: view");
      assertThat(lines.readLine()).contains("\"total\":0");
      allocated("train");
      String line = lines.readLine();
      while (!line.contains("train")) {
        line = lines.readLine();
      }
      assertThat(line).startsWith("data: {");
    }
  }

  /** A page whose token is over stays open for days, and would keep one of the places. */
  @Test
  void aStreamEndsWhenItsTokenIsNobodysAnyMore() throws Exception {
    HeldClock clock = new HeldClock(Instant.parse("2026-01-01T00:00:00Z"));
    cluster.stopControllers();
    cluster.startWithPage(clock);
    try (BufferedReader lines = new BufferedReader(new InputStreamReader(
        http.send(request("/api/stream/claims", "admin"), HttpResponse.BodyHandlers.ofInputStream()).body(),
        StandardCharsets.UTF_8))) {
      assertThat(lines.readLine()).isEqualTo("event: view");
      cluster.rules.disown("admin");
      clock.advance(Duration.ofMinutes(1));
      String line = lines.readLine();
      while (!line.equals("event: problem")) {
        line = lines.readLine();
      }
      assertThat(lines.readLine()).contains("\"status\":401");
      assertThat(lines.readLine()).isEmpty();
      assertThat(lines.readLine()).as("the stream's end").isNull();
    }
  }

  /** Whose token it is, is asked every minute; there are more namespaces here than are asked about for one answer. */
  @Test
  void whatIsShownOfManyNamespacesStaysWhenTheTokenIsAskedAboutAnew() {
    HeldClock clock = new HeldClock(Instant.parse("2026-01-01T00:00:00Z"));
    cluster.stopControllers();
    for (int i = 0; i < 120; i++) {
      put(PaperFleet.share("others-" + i, "train", "node-0", 0, 1, 0));
    }
    put(PaperFleet.share("team", "ours", "node-0", 0, 1, 0));
    cluster.startWithPage(clock);
    eventually().until(() -> shown("/api/claims", "of-team"), now -> now.path("complete").asBoolean()
        && now.at("/view/claims/total").asInt() == 1);
    for (int minute = 0; minute < 2; minute++) {
      clock.advance(Duration.ofSeconds(40));
      JsonNode now = shown("/api/claims", "of-team");
      assertThat(now.path("complete").asBoolean()).isTrue();
      assertThat(now.at("/view/claims/rows/0/part/claim").asText()).isEqualTo("ours");
    }
  }

  private void put(ResourceClaim claim) {
    cluster.rules.put("/apis/resource.k8s.io/v1/namespaces/" + claim.getMetadata().getNamespace() + "/resourceclaims",
        List.of(claim));
  }

  /** Browsers' regular expressions take U+2028 for the end of a line, and anybody may write one into a claim. */
  @Test
  void whatATenantWroteEndsNoLineForAnyReader() {
    cluster.claim("odd", "gpu.partita.dev", Map.of("memory", "1Gi"), Map.of("coreLimit", "a\u2028b"));
    cluster.pod("odd", "odd");
    String shown = eventually().until(() -> get("/api/pods", "admin").body(), now -> now.contains("coreLimit"));
    assertThat(shown).contains("a\\u2028b").doesNotContain("\u2028");
  }

  /** A browser leaves a stream with each letter of a search. */
  @Test
  void whoHasLeftAStreamTakesNobodysPlace() throws Exception {
    for (int left = 0; left < 100; left++) {
      HttpResponse<InputStream> answer = eventually().atMost(Duration.ofSeconds(8)).until(
          () -> http.send(request("/api/stream/claims", "admin"), HttpResponse.BodyHandlers.ofInputStream()),
          now -> now.statusCode() == 200);
      assertThat(answer.body().read()).isEqualTo('e');
      answer.body().close();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"/api/nothing", "/api/claim/default", "/api/claim/../secrets", "/api/claim/UPPER/x", "/other",
    "/api/nodes/more", "/api/claims/more"})
  void whatThereIsNotIsNotFound(String path) {
    assertThat(get(path, "admin").statusCode()).isEqualTo(404);
  }

  @Test
  void anybodyMayAskWhetherItLeads() throws IOException {
    assertThat(new ObjectMapper().readTree(get("/api/about", "").body()).path("leads").asBoolean()).isTrue();
  }

  private void allocated(String name) {
    cluster.claim(name, "gpu.partita.dev", Map.of("memory", "40Gi"));
    cluster.pod(name, name);
    cluster.result(name);
  }

  private JsonNode view(String path, String token) {
    JsonNode shown = shown(path, token);
    assertThat(shown.path("complete").asBoolean()).isTrue();
    return shown.path("view");
  }

  private JsonNode shown(String path, String token) {
    HttpResponse<String> answer = get(path, token);
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    try {
      return new ObjectMapper().readTree(answer.body());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private HttpResponse<String> get(String path, String token) {
    try {
      return http.send(request(path, token), HttpResponse.BodyHandlers.ofString());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private HttpRequest request(String path, String token) {
    HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + cluster.webPort() + path));
    return (token.isEmpty() ? request : request.header("Authorization", "Bearer " + token)).build();
  }
}
