package dev.partita.controller.health;

import com.sun.net.httpserver.HttpExchange;
import dev.partita.controller.http.PlainServer;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.function.BooleanSupplier;

/** Answers {@code /healthz} (the process lives) and {@code /readyz} (it has seen the cluster): 200 or 503. */
public final class HealthServer {
  private HealthServer() {}

  /**
   * Begins to listen.
   *
   * @param port 0 for any free one
   * @throws IOException if the port cannot be had
   */
  public static PlainServer start(int port, BooleanSupplier healthy, BooleanSupplier ready) throws IOException {
    return PlainServer.start(
        new InetSocketAddress(port),
        "health",
        1,
        Map.of("/healthz", exchange -> answer(exchange, healthy.getAsBoolean()), "/readyz", exchange -> answer(exchange, ready.getAsBoolean())));
  }

  private static void answer(HttpExchange exchange, boolean good) throws IOException {
    PlainServer.send(exchange, good ? HttpURLConnection.HTTP_OK : HttpURLConnection.HTTP_UNAVAILABLE, "text/plain", good ? "ok\n" : "not ready\n");
  }
}
