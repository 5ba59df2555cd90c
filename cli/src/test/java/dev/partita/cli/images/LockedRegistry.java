package dev.partita.cli.images;

import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import dev.partita.serving.certificate.OwnCertificate;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.InstantSource;

/** A registry that lets nobody in, with a certificate that nobody vouches for. */
final class LockedRegistry implements AutoCloseable {
  private final HttpsServer server;

  private LockedRegistry(HttpsServer server) {
    this.server = server;
  }

  static LockedRegistry start() throws IOException {
    HttpsServer server = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setHttpsConfigurator(new HttpsConfigurator(new OwnCertificate("localhost", InstantSource.system()).get()));
    server.createContext("/", exchange -> {
      exchange.getRequestBody().readAllBytes();
      exchange.getResponseHeaders().set("WWW-Authenticate", "Basic realm=\"locked\"");
      exchange.sendResponseHeaders(401, -1);
      exchange.close();
    });
    server.start();
    return new LockedRegistry(server);
  }

  /** Host and port. */
  String address() {
    return "127.0.0.1:" + server.getAddress().getPort();
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
