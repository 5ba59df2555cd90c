package dev.partita.serving.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.partita.serving.access.Verdict;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

class MetricsServerTest {
  private static final MetricsAccess READER =
      token -> token.equals(Optional.of("reader"))
          ? new Verdict.Allowed<>("reader")
          : new Verdict.Unknown<>("who is it?");

  @Test
  void readersAreAnsweredOverHttps() throws Exception {
    try (MetricsServer server = MetricsServer.secured(0, () -> "up 1\n", READER)) {
      HttpResponse<String> answer = TlsScrape.of(server.port(), "Bearer reader").answer();
      assertThat(answer.statusCode()).isEqualTo(200);
      assertThat(answer.body()).isEqualTo("up 1\n");
      assertThat(answer.headers().firstValue("Content-Type")).contains("text/plain; version=0.0.4; charset=utf-8");
    }
  }

  @Test
  void theSchemeOfATokenMayHaveAnyCase() throws Exception {
    try (MetricsServer server = MetricsServer.secured(0, () -> "up 1\n", READER)) {
      assertThat(TlsScrape.of(server.port(), "bearer reader").status()).isEqualTo(200);
      assertThat(TlsScrape.of(server.port(), "BEARER   reader").status()).isEqualTo(200);
    }
  }

  @Test
  void othersAreTold() throws Exception {
    try (MetricsServer server = MetricsServer.secured(0, () -> "up 1\n", READER)) {
      HttpResponse<String> answer = TlsScrape.of(server.port(), "Bearer eve").answer();
      assertThat(answer.statusCode()).isEqualTo(401);
      assertThat(answer.headers().firstValue("WWW-Authenticate")).contains("Bearer");
      assertThat(answer.body()).isEqualTo("who is it?\n");
    }
  }

  @Test
  void aLinePerVerdict() throws Exception {
    MetricsAccess byName = token -> switch (token.orElse("")) {
      case "forbidden" -> new Verdict.Forbidden<>("may not");
      case "undecided" -> new Verdict.Undecided<>("later");
      default -> new Verdict.Unknown<>("unknown");
    };
    try (MetricsServer server = MetricsServer.secured(0, () -> "up 1\n", byName)) {
      assertThat(TlsScrape.of(server.port(), "Bearer forbidden").status()).isEqualTo(403);
      assertThat(TlsScrape.of(server.port(), "Bearer undecided").status()).isEqualTo(503);
      assertThat(TlsScrape.of(server.port(), "Basic cmVhZGVy").status()).isEqualTo(401);
    }
  }

  @Test
  void plainNeedsNoToken() throws Exception {
    try (MetricsServer server = MetricsServer.plain(0, () -> "up 1\n")) {
      assertThat(get(server.port(), "/metrics").body()).isEqualTo("up 1\n");
      assertThat(get(server.port(), "/other").statusCode()).isEqualTo(404);
    }
  }

  @Test
  void manyScrapesOfOneMomentMakeTheTextOnce() throws Exception {
    AtomicInteger made = new AtomicInteger();
    try (MetricsServer server = MetricsServer.plain(0, () -> "made " + made.incrementAndGet() + "\n")) {
      long start = System.nanoTime();
      int scrapes = 0;
      while (System.nanoTime() - start < 500_000_000L) {
        assertThat(get(server.port(), "/metrics").statusCode()).isEqualTo(200);
        scrapes++;
      }
      assertThat(scrapes).isGreaterThan(2);
      assertThat(made).hasValueLessThanOrEqualTo(2);
    }
  }

  @Test
  void scrapersThatWaitForATextThatTakesLongGetTheOneThatIsMade() throws Exception {
    AtomicInteger made = new AtomicInteger();
    CountDownLatch begun = new CountDownLatch(1);
    Supplier<String> slow = () -> {
      begun.countDown();
      await().pollDelay(Duration.ofMillis(1_100)).until(() -> true); // as long as a driver that hangs is waited for
      return "made " + made.incrementAndGet() + "\n";
    };
    try (MetricsServer server = MetricsServer.plain(0, slow);
        ExecutorService scrapers = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<HttpResponse<String>>> answers = new ArrayList<>();
      answers.add(scrapers.submit(() -> get(server.port(), "/metrics")));
      begun.await();
      for (int i = 0; i < 5; i++) {
        answers.add(scrapers.submit(() -> get(server.port(), "/metrics")));
      }
      for (Future<HttpResponse<String>> answer : answers) {
        assertThat(answer.get().statusCode()).isEqualTo(200);
      }
      assertThat(made).as("one, and one more if a scraper was late").hasValueLessThanOrEqualTo(2);
    }
  }

  private static HttpResponse<String> get(int port, String path) throws IOException, InterruptedException {
    try (HttpClient client = HttpClient.newHttpClient()) {
      return client.send(HttpRequest.newBuilder(URI.create("http://localhost:" + port + path)).build(),
          HttpResponse.BodyHandlers.ofString());
    }
  }
}
