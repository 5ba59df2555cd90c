package dev.partita.plugin.health;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.function.Supplier;

/** {@code /healthz}: the process answers. {@code /readyz}: it can do its work, or why not. */
public final class HealthEndpoint implements AutoCloseable {
  private final HttpServer server;

  private HealthEndpoint(HttpServer server) {
    this.server = server;
  }

  /**
   * Listens on all addresses.
   *
   * @param notReady empty, or why the plugin cannot do its work
   */
  public static HealthEndpoint listen(int port, Supplier<Optional<String>> notReady) throws IOException {
    HttpLimits.set();
    HttpServer server = HttpServer.create(new InetSocketAddress(port), 0);
    server.createContext("/healthz", exchange -> answer(exchange, Optional.empty()));
    server.createContext("/readyz", exchange -> answer(exchange, notReady.get()));
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    server.start();
    return new HealthEndpoint(server);
  }

  /** The port that it listens on. */
  public int port() {
    return server.getAddress().getPort();
  }

  @Override
  public void close() {
    server.stop(0);
  }

  private static void answer(HttpExchange exchange, Optional<String> problem) throws IOException {
    byte[] body = (problem.orElse("ok") + "\n").getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("Content-Type", "text/plain; charset=utf-8");
    exchange.sendResponseHeaders(
        problem.isPresent() ? HttpURLConnection.HTTP_UNAVAILABLE : HttpURLConnection.HTTP_OK, body.length);
    exchange.getResponseBody().write(body);
    exchange.close();
  }
}
