package dev.partita.serving.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.serving.metrics.MetricsAccess.Verdict;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedTrustManager;
import org.junit.jupiter.api.Test;

class MetricsServerTest {
  private static final MetricsAccess READER =
      token -> token.equals(Optional.of("reader")) ? new Verdict.Allowed() : new Verdict.Unknown("who is it?");

  @Test
  void readersAreAnsweredOverHttps() throws Exception {
    try (MetricsServer server = MetricsServer.secured(0, () -> "up 1\n", READER)) {
      HttpResponse<String> answer = get("https://localhost:" + server.port() + "/metrics", "Bearer reader");
      assertThat(answer.statusCode()).isEqualTo(200);
      assertThat(answer.body()).isEqualTo("up 1\n");
      assertThat(answer.headers().firstValue("Content-Type")).contains("text/plain; version=0.0.4; charset=utf-8");
    }
  }

  @Test
  void othersAreTold() throws Exception {
    try (MetricsServer server = MetricsServer.secured(0, () -> "up 1\n", READER)) {
      HttpResponse<String> answer = get("https://localhost:" + server.port() + "/metrics", "Bearer eve");
      assertThat(answer.statusCode()).isEqualTo(401);
      assertThat(answer.headers().firstValue("WWW-Authenticate")).contains("Bearer");
      assertThat(answer.body()).isEqualTo("who is it?\n");
    }
  }

  @Test
  void aLinePerVerdict() throws Exception {
    MetricsAccess byName = token -> switch (token.orElse("")) {
      case "forbidden" -> new Verdict.Forbidden("may not");
      case "undecided" -> new Verdict.Undecided("later");
      default -> new Verdict.Unknown("unknown");
    };
    try (MetricsServer server = MetricsServer.secured(0, () -> "up 1\n", byName)) {
      String metrics = "https://localhost:" + server.port() + "/metrics";
      assertThat(get(metrics, "Bearer forbidden").statusCode()).isEqualTo(403);
      assertThat(get(metrics, "Bearer undecided").statusCode()).isEqualTo(503);
      assertThat(get(metrics, "Basic cmVhZGVy").statusCode()).isEqualTo(401);
    }
  }

  @Test
  void plainNeedsNoToken() throws Exception {
    try (MetricsServer server = MetricsServer.plain(0, () -> "up 1\n")) {
      assertThat(get("http://localhost:" + server.port() + "/metrics", "").body()).isEqualTo("up 1\n");
      assertThat(get("http://localhost:" + server.port() + "/other", "").statusCode()).isEqualTo(404);
    }
  }

  @Test
  void manyScrapesOfOneMomentMakeTheTextOnce() throws Exception {
    AtomicInteger made = new AtomicInteger();
    try (MetricsServer server = MetricsServer.plain(0, () -> "made " + made.incrementAndGet() + "\n")) {
      long start = System.nanoTime();
      int scrapes = 0;
      while (System.nanoTime() - start < 500_000_000L) {
        assertThat(get("http://localhost:" + server.port() + "/metrics", "").statusCode()).isEqualTo(200);
        scrapes++;
      }
      assertThat(scrapes).isGreaterThan(2);
      assertThat(made).hasValueLessThanOrEqualTo(2);
    }
  }

  private static HttpResponse<String> get(String uri, String authorization)
      throws IOException, InterruptedException, GeneralSecurityException {
    SSLContext trusting = SSLContext.getInstance("TLS");
    trusting.init(null, new TrustManager[]{new TrustsAll()}, null);
    HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(uri));
    if (!authorization.isEmpty()) {
      request.header("Authorization", authorization);
    }
    try (HttpClient client = HttpClient.newBuilder().sslContext(trusting).build()) {
      return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }
  }

  /** As a scraper with insecure_skip_verify. */
  private static final class TrustsAll extends X509ExtendedTrustManager {
    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, java.net.Socket socket) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, java.net.Socket socket) {}

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type) {}

    @Override
    public X509Certificate[] getAcceptedIssuers() {
      return new X509Certificate[0];
    }
  }
}
