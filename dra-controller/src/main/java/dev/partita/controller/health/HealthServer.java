package dev.partita.controller.health;

import dev.partita.serving.http.Exchange;
import dev.partita.serving.http.HttpAnswer;
import dev.partita.serving.http.HttpListener;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.InetSocketAddress;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Answers {@code /healthz} (no thread hangs) and {@code /readyz} (it has seen the cluster, and can be asked) with 200,
 * or with 503 and what is wrong. Its connections have threads of their own, so that it answers whatever else the
 * process does.
 */
public final class HealthServer {
  /** Kubelet makes one for every probe, and closes it with the answer. */
  private static final int CONNECTIONS = 64;

  private HealthServer() {}

  /**
   * Begins to listen.
   *
   * @param port 0 for any free one
   * @param ill what should be mended by a restart; empty if nothing is
   * @param unready why it must not be asked now; empty if it may
   * @throws IOException if the port cannot be had
   */
  public static HttpListener start(int port, Supplier<Optional<String>> ill, Supplier<Optional<String>> unready)
      throws IOException {
    return HttpListener.start(
        new InetSocketAddress(port),
        "health",
        CONNECTIONS,
        Thread.ofPlatform().name("health-", 0).daemon().factory(),
        Optional.empty(),
        exchange -> answer(exchange, ill, unready));
  }

  private static HttpAnswer answer(
      Exchange exchange,
      Supplier<Optional<String>> ill,
      Supplier<Optional<String>> unready) {
    return switch (exchange.path()) {
      case "/healthz" -> answer(ill.get());
      case "/readyz" -> answer(ill.get().or(unready));
      default -> HttpAnswer.text(HttpURLConnection.HTTP_NOT_FOUND, "/healthz or /readyz");
    };
  }

  private static HttpAnswer answer(Optional<String> problem) {
    return problem.map(words -> HttpAnswer.text(HttpURLConnection.HTTP_UNAVAILABLE, words))
        .orElse(HttpAnswer.text(HttpURLConnection.HTTP_OK, "ok"));
  }
}
