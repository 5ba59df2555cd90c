package dev.partita.controller.health;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.partita.controller.http.HttpLimits;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.BooleanSupplier;

/** Answers {@code /healthz} (the process lives) and {@code /readyz} (it has seen the cluster): 200 or 503. */
public final class HealthServer implements AutoCloseable {
  private final HttpServer server;
  private final ExecutorService threads;

  private HealthServer(HttpServer server, ExecutorService threads) {
    this.server = server;
    this.threads = threads;
  }

  /**
   * Begins to listen.
   *
   * @param port 0 for any free one
   * @throws IOException if the port cannot be had
   */
  public static HealthServer start(int port, BooleanSupplier healthy, BooleanSupplier ready) throws IOException {
    HttpLimits.set();
    HttpServer server = HttpServer.create(new InetSocketAddress(port), 16);
    ExecutorService threads = Executors.newSingleThreadExecutor(Thread.ofPlatform().name("health").daemon().factory());
    server.setExecutor(threads);
    server.createContext("/healthz", exchange -> answer(exchange, healthy.getAsBoolean()));
    server.createContext("/readyz", exchange -> answer(exchange, ready.getAsBoolean()));
    server.start();
    return new HealthServer(server, threads);
  }

  public int port() {
    return server.getAddress().getPort();
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }

  private static void answer(HttpExchange exchange, boolean good) throws IOException {
    byte[] body = (good ? "ok\n" : "not ready\n").getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("Content-Type", "text/plain; charset=utf-8");
    exchange.sendResponseHeaders(good ? 200 : 503, body.length);
    try (OutputStream out = exchange.getResponseBody()) {
      out.write(body);
    }
  }
}
