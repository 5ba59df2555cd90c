package dev.partita.controller.admission;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.partita.api.config.FieldError;
import dev.partita.controller.certificate.MadeCertificates;
import dev.partita.serving.certificate.ServingKeys;
import dev.partita.serving.http.HttpLimits;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.function.Function;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class AdmissionServerTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String NAME = "partita-webhook.partita-system.svc";
  private static final String POD = ApiServerCall.review("", "pods", "default", "{\"kind\": \"Pod\"}");

  private final MadeCertificates certificates = new MadeCertificates(NAME);
  private final ServingKeys keys = new ServingKeys();
  private volatile Function<AdmissionRequest, Verdict> review = request -> Verdict.allowed();
  private final List<Integer> unreviewed = new CopyOnWriteArrayList<>();
  private AdmissionServer server;

  @BeforeEach
  void start() throws IOException {
    Function<AdmissionRequest, Verdict> asked = request -> review.apply(request);
    server = AdmissionServer.start(0, keys, Map.of("/validate", asked, "/strict", asked), Set.of("/strict"),
        unreviewed::add);
    keys.use(certificates.serving());
  }

  @AfterEach
  void stop() {
    server.close();
  }

  @Test
  void aReviewIsAnsweredUnderItsUid() throws IOException {
    ApiServerCall.Answer answer = call().post("/validate", POD);
    assertThat(answer.status()).isEqualTo(200);
    assertThat(JSON.readTree(answer.body()))
        .isEqualTo(
            JSON.readTree(
                """
                    {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
                     "response": {"uid": "705ab4f5-6393-11e8-b7cc-42010a800002", "allowed": true}}"""));
  }

  @Test
  void aRequestIsReadAsItWasAsked() throws IOException {
    List<AdmissionRequest> seen = new ArrayList<>();
    review =
        request -> {
          seen.add(request);
          return Verdict.allowed();
        };
    call().post("/validate",
        ApiServerCall.review("resource.k8s.io", "resourceclaims", "team", "UPDATE", "{\"a\": 1}", "{\"a\": 0}"));
    assertThat(seen)
        .singleElement()
        .isEqualTo(
            new AdmissionRequest(
                "705ab4f5-6393-11e8-b7cc-42010a800002", "resource.k8s.io", "resourceclaims", "UPDATE", "team",
                JSON.readTree("{\"a\": 1}"), JSON.readTree("{\"a\": 0}")));
  }

  @Test
  void aPatchAndWarningsAreHandedOver() throws IOException {
    review = request -> new Verdict.Changed(JSON.createArrayNode().addObject().put("op", "remove").put("path", "/x"),
        List.of("short", "long ".repeat(100)));
    JsonNode response = response();
    assertThat(response.path("allowed").asBoolean()).isTrue();
    assertThat(response.path("patchType").asText()).isEqualTo("JSONPatch");
    assertThat(new String(Base64.getDecoder().decode(response.path("patch").asText()), StandardCharsets.UTF_8))
        .isEqualTo("{\"op\":\"remove\",\"path\":\"/x\"}");
    assertThat(response.path("warnings").path(0).asText()).isEqualTo("short");
    assertThat(response.path("warnings").path(1).asText()).hasSize(256).endsWith("…");
  }

  @Test
  void aRefusalNamesEveryFieldInOneMessageAndOneByOne() throws IOException {
    review =
        request -> new Verdict.Invalid(List.of(new FieldError("spec.a", "is wrong"), new FieldError("spec.b", "too")),
            List.of());
    JsonNode response = response();
    assertThat(response.path("allowed").asBoolean(true)).isFalse();
    JsonNode status = response.path("status");
    assertThat(status.path("code").asInt()).isEqualTo(422);
    assertThat(status.path("message").asText()).isEqualTo("spec.a: is wrong; spec.b: too");
    assertThat(status.path("details").path("causes")).extracting(cause -> cause.path("field").asText())
        .containsExactly("spec.a", "spec.b");
    review = request -> new Verdict.Forbidden("quota", List.of());
    assertThat(response().path("status").path("code").asInt()).isEqualTo(403);
  }

  @Test
  void onlyPostsOfJsonToItsPathsAreAnswered() throws IOException {
    byte[] body = POD.getBytes(StandardCharsets.UTF_8);
    assertThat(call().send("GET", "/validate", "application/json", new byte[0]).status()).isEqualTo(405);
    assertThat(call().send("PUT", "/validate", "application/json", body).status()).isEqualTo(405);
    assertThat(call().send("POST", "/validate", "text/plain", body).status()).isEqualTo(415);
    assertThat(call().send("POST", "/validate", "application/json; charset=utf-8", body).status()).isEqualTo(200);
    assertThat(call().send("POST", "/validate/x", "application/json", body).status()).isEqualTo(404);
    assertThat(call().send("POST", "/", "application/json", body).status()).isEqualTo(404);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "null",
        "[]",
        "not json",
        "{\"apiVersion\": \"admission.k8s.io/v1\"",
        "{\"apiVersion\": \"admission.k8s.io/v1\", \"kind\": \"AdmissionReview\"}",
        "{\"apiVersion\": \"admission.k8s.io/v1beta1\", \"kind\": \"AdmissionReview\", \"request\": {\"uid\": \"1\"}}",
        "{\"apiVersion\": \"admission.k8s.io/v1\", \"kind\": \"AdmissionReview\", \"request\": [1]}",
        "{\"apiVersion\": \"admission.k8s.io/v1\", \"kind\": \"AdmissionReview\", \"request\": {\"uid\": {}}}",
      })
  void whatIsNoReviewIsRefusedAndTheServerGoesOn(String body) throws IOException {
    assertThat(call().post("/validate", body).status()).isEqualTo(400);
    assertThat(call().post("/validate", POD).status()).isEqualTo(200);
  }

  @ParameterizedTest
  @ValueSource(strings = {"..", "a/../../../../pods", "kube-system/", "a?b", "a%2Fb", "A", "a.b",
    "-a", "a\\n", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"})
  void aReviewOfANamespaceThatCanBeNoneIsRefused(String namespace) throws IOException {
    assertThat(call().post("/validate", ApiServerCall.review("", "pods", namespace, "{}")).status()).isEqualTo(400);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "a", "0", "kube-system", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"})
  void aReviewOfANamespaceOrOfNoneIsAnswered(String namespace) throws IOException {
    assertThat(call().post("/validate", ApiServerCall.review("", "pods", namespace, "{}")).status()).isEqualTo(200);
  }

  @Test
  void depthNumberAndLengthAreBounded() throws IOException {
    assertThat(
        call().post("/validate", ApiServerCall.review("", "pods", "x", "[".repeat(11_000) + "]".repeat(11_000)))
            .status())
        .isEqualTo(400);
    assertThat(
        call().post("/validate", ApiServerCall.review("", "pods", "x", "[" + "{},".repeat(200_000) + "{}]")).status())
        .isEqualTo(400);
    String long1 = "\"" + "a".repeat(3 << 20) + "\"";
    assertThat(call().post("/validate", ApiServerCall.review("", "pods", "x", long1)).status()).as("large, and allowed")
        .isEqualTo(200);
    assertThat(
        call().post("/validate", ApiServerCall.review("", "pods", "x", "\"" + "a".repeat(5 << 20) + "\"")).status())
        .isEqualTo(413);
    assertThat(unreviewed).as("told to who counts").contains(400, 413).doesNotContain(200);
    assertThat(call().post("/validate", POD).status()).isEqualTo(200);
  }

  static List<Arguments> tooLarge() {
    return List.of(
        Arguments.of("[" + "{},".repeat(200_000) + "{}]", "more than 150000 fields and values; use fewer"),
        Arguments.of("[".repeat(11_000) + "]".repeat(11_000), "nesting depth"),
        Arguments.of("\"" + "<".repeat(5 << 20) + "\"", "more than 4194304 bytes; use fewer"),
        Arguments.of("\"\u0000\"", "CTRL-CHAR"));
  }

  /** Else the webhook's failure policy would let it through, and a claim could pass every quota so. */
  @ParameterizedTest
  @MethodSource("tooLarge")
  void whatCannotBeReadIsRefusedWhereItCouldPassAQuotaAndNowhereElse(String object, String why) throws IOException {
    String asked = ApiServerCall.review("resource.k8s.io", "resourceclaims", "team", object);
    ApiServerCall.Answer answer = call().post("/strict", asked);
    assertThat(answer.status()).isEqualTo(200);
    JsonNode response = JSON.readTree(answer.body()).path("response");
    assertThat(response.path("uid").asText()).isEqualTo("705ab4f5-6393-11e8-b7cc-42010a800002");
    assertThat(response.path("allowed").asBoolean(true)).isFalse();
    assertThat(response.path("status").path("message").asText()).contains("cannot review it").contains(why);
    assertThat(call().post("/validate", asked).status()).isIn(400, 413);
  }

  @Test
  void aReviewThatFailsRefusesWhereQuotasCouldBePassed() throws IOException {
    review =
        request -> {
          throw new IllegalStateException("secret");
        };
    ApiServerCall.Answer answer = call().post("/strict", POD);
    assertThat(answer.status()).isEqualTo(200);
    assertThat(answer.body()).contains("\"allowed\":false", "the controller's log says why")
        .doesNotContain("secret");
  }

  /** Go's JSON takes 10,000 levels, and API servers bound neither levels nor digits of opaque parameters. */
  @Test
  void whatIsNestedDeeplyAndLongNumbersArePassedOver() throws IOException {
    List<AdmissionRequest> seen = new ArrayList<>();
    review =
        request -> {
          seen.add(request);
          return Verdict.allowed();
        };
    String deep = "{\"a\": 1, \"deep\": " + "[".repeat(9_990) + "]".repeat(9_990) + ", \"long\": 1" + "0".repeat(9_000)
        + ", \"half\": {\"\\udc00\": \"\\ud800\"}, \"b\": [2.5, 12345678901, true, null]}";
    assertThat(call().post("/validate", ApiServerCall.review("resource.k8s.io", "resourceclaims", "team", deep))
        .status()).isEqualTo(200);
    JsonNode object = seen.getFirst().object();
    assertThat(ReviewTree.isCut(object)).isTrue();
    assertThat(object.path("long")).isSameAs(ReviewTree.CUT);
    assertThat(object.path("a").asInt()).isEqualTo(1);
    assertThat(object.path("half")).isEqualTo(JSON.readTree("{\"?\": \"?\"}"));
    assertThat(object.path("b")).isEqualTo(JSON.readTree("[2.5, 12345678901, true, null]"));
  }

  @Test
  void aReviewThatFailsIsAnErrorAndTellsNothing() throws IOException {
    review =
        request -> {
          throw new IllegalStateException("secret");
        };
    ApiServerCall.Answer answer = call().post("/validate", POD);
    assertThat(answer.status()).isEqualTo(500);
    assertThat(answer.body()).doesNotContain("secret");
  }

  @Test
  void anotherCertificateIsServedWithoutARestart() throws IOException {
    assertThat(served(certificates.trusted())).isEqualTo(certificates.serving().certificate());
    MadeCertificates others = new MadeCertificates(NAME);
    keys.use(others.serving());
    assertThat(served(others.trusted())).isEqualTo(others.serving().certificate());
    assertThatThrownBy(() -> served(certificates.trusted())).isInstanceOf(SSLException.class);
  }

  @Test
  void aConnectionThatWasMadeWithTheEarlierCertificateIsEndedByItsNextAnswer() throws IOException {
    try (SSLSocket early = call().connect()) {
      assertThat(kept(early)).isTrue();
      keys.use(new MadeCertificates(NAME).serving());
      assertThat(kept(early)).isFalse();
    }
  }

  @Test
  void aServerThatIsDrainedAnswersOnAndKeepsNoConnection() throws IOException {
    try (SSLSocket early = call().connect()) {
      assertThat(kept(early)).isTrue();
      server.drain();
      assertThat(kept(early)).isFalse();
    }
    assertThat(call().post("/validate", POD).status()).isEqualTo(200);
  }

  /** Whether the server keeps the connection open after an answer on it. */
  private static boolean kept(SSLSocket socket) throws IOException {
    socket.getOutputStream().write("GET /validate HTTP/1.1\r\nHost: x\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
    socket.getOutputStream().flush();
    StringBuilder head = new StringBuilder();
    while (head.indexOf("only POST is answered\n") < 0) {
      int next = socket.getInputStream().read();
      if (next < 0) {
        throw new java.io.EOFException("closed without an answer: " + head);
      }
      head.append((char) next);
    }
    return !head.toString().toLowerCase(java.util.Locale.ROOT).contains("connection: close");
  }

  @Test
  void withoutACertificateNobodyIsServed() throws IOException {
    try (AdmissionServer bare = AdmissionServer.start(0, new ServingKeys(), Map.of(), Set.of(), unreviewed::add)) {
      assertThatThrownBy(() -> new ApiServerCall(bare.port(), NAME, certificates.trusted()).post("/validate", POD))
          .isInstanceOf(IOException.class);
    }
  }

  @Test
  void whoSendsHalfARequestIsCutOffAndHoldsUpNobody() throws IOException {
    long begin = System.nanoTime();
    try (SSLSocket slow = call().connect()) {
      slow.getOutputStream()
          .write("POST /validate HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"
              .getBytes(StandardCharsets.US_ASCII));
      slow.getOutputStream().flush();
      assertThat(call().post("/validate", POD).status()).isEqualTo(200);
      assertThat(endOf(slow)).isTrue();
    }
    assertThat(Duration.ofNanos(System.nanoTime() - begin))
        .isLessThan(Duration.ofSeconds(6 * HttpLimits.REQUEST_SECONDS));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "POST /validate HTTP/1.1\r\n", "\u0016\u0003\u0001"})
  void aThousandConnectionsWithoutAHandshakeHoldUpNobody(String half) throws IOException {
    try (Connections sockets = new Connections()) {
      for (int i = 0; i < 1000; i++) {
        Socket socket = sockets.add(new Socket(InetAddress.getLoopbackAddress(), server.port()));
        try {
          socket.getOutputStream().write(half.getBytes(StandardCharsets.ISO_8859_1));
        } catch (IOException e) {
          // ended already to make room
        }
      }
      assertThat(call().post("/validate", POD).status()).isEqualTo(200);
      long begin = System.nanoTime();
      assertThat(call().post("/validate", POD).status()).isEqualTo(200);
      assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(Duration.ofSeconds(2));
    }
  }

  @Test
  void hundredsThatSendHalfAReviewHoldUpNobody() throws IOException {
    try (Connections sockets = new Connections()) {
      for (int i = 0; i < 300; i++) {
        sockets.add(call().connect())
            .getOutputStream()
            .write(
                "POST /validate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 200000\r\n\r\n{"
                    .getBytes(StandardCharsets.US_ASCII));
      }
      assertThat(call().post("/validate", POD).status()).isEqualTo(200);
    }
  }

  @Test
  void whoeverSendsLargeReviewsSlowlyKeepsNoOtherFromBeingAnswered() throws IOException {
    try (Connections sockets = new Connections()) {
      for (int i = 0; i < 16; i++) {
        sockets.add(call().connect()).getOutputStream().write(
            ("POST /validate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 4000000\r\n\r\n{"
                + " ".repeat(300_000)).getBytes(StandardCharsets.US_ASCII));
      }
      String large = ApiServerCall.review("", "pods", "default", "\"" + "a".repeat(1 << 20) + "\"");
      for (int i = 0; i < 3; i++) {
        assertThat(call().post("/validate", large).status()).isEqualTo(200);
      }
    }
  }

  @Test
  void whoeverSendsLargeReviewsQuicklyKeepsNoSmallOneFromBeingAnswered() throws IOException, InterruptedException {
    byte[] large = ApiServerCall.review("", "pods", "default", "\"" + "a".repeat(2 * Bodies.SMALL) + "\"")
        .getBytes(StandardCharsets.US_ASCII);
    try (Connections sockets = new Connections(); Held held = new Held(AdmissionServer.LARGE_AT_ONCE)) {
      review = request -> request.object().isTextual() ? held.apply(request) : Verdict.allowed();
      for (int i = 0; i < 2 * AdmissionServer.AT_ONCE; i++) {
        sockets.add(asked(call(), "/validate", large));
      }
      held.begun.await();
      assertThat(call().post("/validate", POD).status()).isEqualTo(200);
    }
  }

  /** Otherwise a flood of reviews would let claims pass quotas. */
  @Test
  void aClaimThatFindsNoPlaceIsRefusedWhereItCouldPassAQuotaAndNowhereElse() throws IOException, InterruptedException {
    Held held = new Held(AdmissionServer.AT_ONCE);
    try (Connections sockets = new Connections();
        AdmissionServer busy = AdmissionServer.start(0, keys, Map.of("/validate", held, "/strict", held),
            Set.of("/strict"), unreviewed::add, 100, Duration.ofMillis(10));
        held) {
      ApiServerCall call = new ApiServerCall(busy.port(), NAME, certificates.trusted());
      for (int i = 0; i < AdmissionServer.AT_ONCE; i++) {
        sockets.add(asked(call, "/validate", POD.getBytes(StandardCharsets.US_ASCII)));
      }
      held.begun.await();
      assertThat(call.post("/validate", POD).status()).isEqualTo(503);
      ApiServerCall.Answer answer = call.post("/strict", POD);
      assertThat(answer.status()).isEqualTo(200);
      assertThat(answer.body()).contains("\"allowed\":false", "too much is asked at once; try again");
      assertThat(unreviewed).as("told to who counts").containsExactly(503, 503);
    }
  }

  /** Such as by pods that never were, and name claims that the API server is asked about. */
  @Test
  void whoeverWaitsToBeReviewedIsCutOffForNewOnes() throws IOException, InterruptedException {
    int connections = 2 * AdmissionServer.AT_ONCE;
    Held held = new Held(AdmissionServer.AT_ONCE);
    try (Connections sockets = new Connections();
        AdmissionServer small = AdmissionServer.start(0, keys, Map.of("/validate", held), Set.of(), unreviewed::add,
            connections, Duration.ofMinutes(5));
        held) {
      ApiServerCall call = new ApiServerCall(small.port(), NAME, certificates.trusted());
      List<SSLSocket> waiting = new ArrayList<>();
      for (int i = 0; i < connections; i++) {
        waiting.add(sockets.add(asked(call, "/validate", POD.getBytes(StandardCharsets.US_ASCII))));
        if (i == AdmissionServer.AT_ONCE - 1) {
          held.begun.await();
        }
      }
      sockets.add(call.connect());
      assertThat(endOf(waiting.get(AdmissionServer.AT_ONCE))).isTrue();
    }
  }

  /** Connections that are closed with it. */
  private static final class Connections implements AutoCloseable {
    private final List<Socket> open = new ArrayList<>();

    <S extends Socket> S add(S socket) {
      open.add(socket);
      return socket;
    }

    @Override
    public void close() throws IOException {
      for (Socket socket : open) {
        socket.close();
      }
    }
  }

  /** A review that allows everything, and takes until it is closed. */
  private static final class Held implements Function<AdmissionRequest, Verdict>, AutoCloseable {
    private final CountDownLatch begun;
    private final CountDownLatch end = new CountDownLatch(1);

    /** @param reviews after how many {@link #begun} is over */
    Held(int reviews) {
      begun = new CountDownLatch(reviews);
    }

    @Override
    public Verdict apply(AdmissionRequest request) {
      begun.countDown();
      try {
        end.await();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
      return Verdict.allowed();
    }

    @Override
    public void close() {
      end.countDown();
    }
  }

  /** A connection on which that is asked, and whose answer is not read. */
  private static SSLSocket asked(ApiServerCall call, String path, byte[] body) throws IOException {
    SSLSocket socket = call.connect();
    socket.getOutputStream().write(("POST " + path + " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        + "Content-Length: " + body.length + "\r\n\r\n").getBytes(StandardCharsets.US_ASCII));
    socket.getOutputStream().write(body);
    return socket;
  }

  private static boolean endOf(SSLSocket socket) {
    try {
      return socket.getInputStream().readAllBytes().length == 0;
    } catch (java.net.SocketTimeoutException e) {
      return false;
    } catch (IOException e) {
      return true; // reset
    }
  }

  private X509Certificate served(List<X509Certificate> trusted) throws IOException {
    try (SSLSocket socket = new ApiServerCall(server.port(), NAME, trusted).connect()) {
      return (X509Certificate) socket.getSession().getPeerCertificates()[0];
    }
  }

  private JsonNode response() throws IOException {
    ApiServerCall.Answer answer = call().post("/validate", POD);
    assertThat(answer.status()).isEqualTo(200);
    return JSON.readTree(answer.body()).path("response");
  }

  private ApiServerCall call() {
    return new ApiServerCall(server.port(), NAME, certificates.trusted());
  }
}
