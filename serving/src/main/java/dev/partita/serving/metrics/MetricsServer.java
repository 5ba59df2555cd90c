package dev.partita.serving.metrics;

import dev.partita.serving.access.BearerToken;
import dev.partita.serving.access.Verdict;
import dev.partita.serving.certificate.OwnCertificate;
import dev.partita.serving.http.Exchange;
import dev.partita.serving.http.HttpAnswer;
import dev.partita.serving.http.HttpListener;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import javax.net.ssl.SSLContext;

/**
 * Serves {@code /metrics} in Prometheus' text format. With a check of tokens it is served over HTTPS, since a token
 * must not be read on its way; the certificate is made in memory at the first connection, so scrapers do not verify it
 * (kube-rbac-proxy and controller-runtime do likewise).
 */
public final class MetricsServer implements AutoCloseable {
  /** The path of the metrics. */
  static final String PATH = "/metrics";

  private static final String TYPE = "text/plain; version=0.0.4; charset=utf-8";
  private static final int CONNECTIONS = 32;
  private static final Duration HOLDS = Duration.ofSeconds(1);

  private final Supplier<String> metrics;
  private final MetricsAccess access;
  private final HttpListener listener;
  private String made = "";
  private long madeAt; // by System.nanoTime

  private MetricsServer(
      int port,
      Supplier<String> metrics,
      MetricsAccess access,
      Optional<Supplier<SSLContext>> encryption) throws IOException {
    this.metrics = metrics;
    this.access = access;
    this.listener =
        HttpListener.start(new InetSocketAddress(port), "metrics", CONNECTIONS,
            Thread.ofPlatform().name("metrics-", 0).daemon().factory(), encryption, this::answer);
  }

  /**
   * Begins to listen as a setting says.
   *
   * @param port 0 for any free one
   * @param readers who may read
   * @param client asks the API server about tokens
   * @param metrics what is told
   * @throws IOException if the port cannot be had
   */
  public static MetricsServer start(int port, MetricsReaders readers, KubernetesClient client, Metrics metrics)
      throws IOException {
    return switch (readers) {
      case TOKEN -> secured(port, metrics::text, MetricsAccess.byToken(client, PATH, InstantSource.system()));
      case EVERYBODY -> plain(port, metrics::text);
    };
  }

  /**
   * Begins to listen over HTTPS.
   *
   * @param port 0 for any free one
   * @param metrics makes the text; called once a second at most, by one thread at a time
   * @throws IOException if the port cannot be had
   */
  static MetricsServer secured(int port, Supplier<String> metrics, MetricsAccess access) throws IOException {
    return new MetricsServer(port, metrics, access,
        Optional.of(new OwnCertificate("partita-metrics", InstantSource.system())));
  }

  /**
   * Begins to listen over HTTP, for everybody who reaches the port.
   *
   * @param port 0 for any free one
   * @param metrics makes the text; called once a second at most, by one thread at a time
   * @throws IOException if the port cannot be had
   */
  static MetricsServer plain(int port, Supplier<String> metrics) throws IOException {
    return new MetricsServer(port, metrics, MetricsAccess.EVERYBODY, Optional.empty());
  }

  /** The port that it listens on. */
  public int port() {
    return listener.port();
  }

  @Override
  public void close() {
    listener.close();
  }

  private HttpAnswer answer(Exchange exchange) {
    if (!exchange.path().equals(PATH)) {
      return HttpAnswer.text(HttpURLConnection.HTTP_NOT_FOUND, "there is " + PATH);
    }
    if (!exchange.method().equals("GET")) {
      return new HttpAnswer(HttpURLConnection.HTTP_BAD_METHOD, HttpAnswer.TEXT, "only GET is understood\n",
          Map.of("Allow", "GET"));
    }
    return switch (access.of(BearerToken.of(exchange))) {
      case Verdict.Allowed<String> _ -> new HttpAnswer(HttpURLConnection.HTTP_OK, TYPE, text());
      case Verdict.Refused<String> refused -> refused.answer();
    };
  }

  /**
   * Several scrapers, or one that asks without pause, cost what one costs; so do those that wait while a text is made
   * for longer than it holds, as where the driver hangs.
   */
  private synchronized String text() {
    if (made.isEmpty() || System.nanoTime() - madeAt >= HOLDS.toNanos()) {
      made = metrics.get();
      madeAt = System.nanoTime();
    }
    return made;
  }
}
