package dev.partita.plugin.health;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers {@code /healthz}, whether the process works, and {@code /readyz}, whether it can do its work, each with the
 * reason if not.
 *
 * <p>Everybody who can reach the node's pods can connect, and kubelet's probes must be answered all the same. So each
 * connection has a virtual thread of its own, serves one request, and must send that within 3 s. When there are too
 * many connections, the oldest one is closed; the newest one is not refused. A probe sends its request at once and has
 * its answer before that many others have come. A server that refuses connections beyond a number, as the JDK's does,
 * can be blocked by whoever opens that many.
 */
public final class HealthEndpoint implements AutoCloseable {
  static final int MOST_CONNECTIONS = 1024;

  private static final Logger LOG = LoggerFactory.getLogger(HealthEndpoint.class);
  private static final Duration REQUEST_WITHIN = Duration.ofSeconds(3);
  private static final int BACKLOG = 512;
  private static final int PAUSE_MS = 50;

  private final ServerSocket server;
  private final Supplier<Optional<String>> notAlive;
  private final Supplier<Optional<String>> notReady;
  private final Set<Socket> open = new LinkedHashSet<>(); // the oldest first; its own lock
  private final Thread acceptor = Thread.ofPlatform().name("health").daemon().unstarted(this::accept);

  private HealthEndpoint(
      ServerSocket server,
      Supplier<Optional<String>> notAlive,
      Supplier<Optional<String>> notReady) {
    this.server = server;
    this.notAlive = notAlive;
    this.notReady = notReady;
  }

  /**
   * Listens on all addresses.
   *
   * @param notAlive empty, or why only a new process would help
   * @param notReady empty, or why the plugin cannot do its work
   */
  public static HealthEndpoint listen(
      int port,
      Supplier<Optional<String>> notAlive,
      Supplier<Optional<String>> notReady)
      throws IOException {
    ServerSocket server = new ServerSocket();
    try {
      server.setReuseAddress(true);
      server.bind(new InetSocketAddress(port), BACKLOG);
    } catch (IOException e) {
      server.close();
      throw e;
    }
    HealthEndpoint endpoint = new HealthEndpoint(server, notAlive, notReady);
    endpoint.acceptor.start();
    return endpoint;
  }

  /** The port that it listens on. */
  public int port() {
    return server.getLocalPort();
  }

  @Override
  public void close() throws IOException {
    server.close();
    synchronized (open) {
      open.forEach(HealthEndpoint::close);
      open.clear();
    }
  }

  private void accept() {
    boolean failed = false;
    while (!server.isClosed()) {
      try {
        Socket socket = server.accept();
        failed = false;
        add(socket);
        var _ = Thread.ofVirtual().name("health-request").start(() -> serve(socket));
      } catch (Throwable e) { // too many open files, for instance: whatever it is, the next probe is to be answered
        if (!failed && !server.isClosed()) {
          LOG.warn("cannot serve a connection to the health port; trying again: {}", e.toString());
        }
        failed = true;
        closeOldest();
        pause();
      }
    }
  }

  private void add(Socket socket) {
    boolean tooMany;
    synchronized (open) {
      open.add(socket);
      tooMany = open.size() > MOST_CONNECTIONS;
    }
    if (tooMany) {
      closeOldest();
    }
  }

  private void closeOldest() {
    synchronized (open) {
      Iterator<Socket> oldest = open.iterator();
      if (oldest.hasNext()) {
        close(oldest.next());
        oldest.remove();
      }
    }
  }

  private void serve(Socket socket) {
    try {
      ProbeRequest request = ProbeRequest.read(socket, REQUEST_WITHIN);
      socket.getOutputStream().write(answer(request));
    } catch (IOException e) {
      LOG.trace("a connection to the health port ended without a request", e);
    } finally {
      close(socket);
      synchronized (open) {
        open.remove(socket);
      }
    }
  }

  private byte[] answer(ProbeRequest request) {
    return switch (request) {
      case ProbeRequest.Get(String path) when path.equals("/healthz") -> state(notAlive.get());
      case ProbeRequest.Get(String path) when path.equals("/readyz") -> state(notReady.get());
      case ProbeRequest.Get _ -> response("404 Not Found", "there are /healthz and /readyz");
      case ProbeRequest.Other _ -> response("400 Bad Request", "only GET is understood");
    };
  }

  private static byte[] state(Optional<String> problem) {
    return response(problem.isPresent() ? "503 Service Unavailable" : "200 OK", problem.orElse("ok"));
  }

  private static byte[] response(String status, String text) {
    byte[] body = (text + "\n").getBytes(StandardCharsets.UTF_8);
    String head =
        "HTTP/1.1 " + status + "\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: " + body.length
            + "\r\nConnection: close\r\n\r\n";
    byte[] start = head.getBytes(StandardCharsets.US_ASCII);
    byte[] all = java.util.Arrays.copyOf(start, start.length + body.length);
    System.arraycopy(body, 0, all, start.length, body.length);
    return all;
  }

  private static void close(Socket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      LOG.trace("a connection to the health port did not close well", e);
    }
  }

  private static void pause() {
    try {
      Thread.sleep(PAUSE_MS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
