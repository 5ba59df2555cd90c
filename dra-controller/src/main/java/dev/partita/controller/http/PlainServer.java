package dev.partita.controller.http;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** An HTTP server without encryption, within {@link HttpLimits}, that answers on threads of its own. */
public final class PlainServer implements AutoCloseable {
  private static final int BACKLOG = 16;

  private final HttpServer server;
  private final ExecutorService threads;

  private PlainServer(HttpServer server, ExecutorService threads) {
    this.server = server;
    this.threads = threads;
  }

  /**
   * Begins to listen.
   *
   * @param name what its threads are called
   * @param threads how many questions it answers at a time
   * @param handlers what answers, by the beginning of the path
   * @throws IOException if the port cannot be had
   */
  public static PlainServer start(InetSocketAddress address, String name, int threads, Map<String, HttpHandler> handlers) throws IOException {
    HttpLimits.set();
    HttpServer server = HttpServer.create(address, BACKLOG);
    ExecutorService executor = Executors.newFixedThreadPool(threads, Thread.ofPlatform().name(name + "-", 0).daemon().factory());
    server.setExecutor(executor);
    handlers.forEach(server::createContext);
    server.start();
    return new PlainServer(server, executor);
  }

  /** Answers in full. */
  public static void send(HttpExchange exchange, int code, String type, String text) throws IOException {
    byte[] body = text.getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("Content-Type", type + "; charset=utf-8");
    exchange.sendResponseHeaders(code, body.length);
    try (OutputStream out = exchange.getResponseBody()) {
      out.write(body);
    }
  }

  /** Where it listens, also if any free port would do. */
  public int port() {
    return server.getAddress().getPort();
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }
}
