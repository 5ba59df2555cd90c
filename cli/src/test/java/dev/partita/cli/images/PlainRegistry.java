package dev.partita.cli.images;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/** A registry that answers over HTTP alone, and lets nobody in. It keeps the lines that it was sent. */
final class PlainRegistry implements AutoCloseable {
  private static final String NO_TLS = "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTPS request\n";
  private static final String LOCKED = "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"locked\"\r\n"
      + "Content-Length: 0\r\nConnection: close\r\n\r\n";

  private final ServerSocket socket = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
  private final List<String> sent = new CopyOnWriteArrayList<>();

  PlainRegistry() throws IOException {
    Thread.ofVirtual().start(this::serve);
  }

  /** Host and port. */
  String address() {
    return "127.0.0.1:" + socket.getLocalPort();
  }

  /** Lines of the heads of all requests. */
  List<String> sent() {
    return sent;
  }

  private void serve() {
    while (!socket.isClosed()) {
      try (Socket client = socket.accept()) {
        client.getOutputStream().write(answer(client).getBytes(StandardCharsets.ISO_8859_1));
      } catch (IOException gone) {
        // the next one
      }
    }
  }

  private String answer(Socket client) throws IOException {
    BufferedReader in =
        new BufferedReader(new InputStreamReader(client.getInputStream(), StandardCharsets.ISO_8859_1));
    in.mark(1);
    if (in.read() == 0x16) { // how TLS begins
      return NO_TLS;
    }
    in.reset();
    for (@Nullable String line = in.readLine(); line != null && !line.isEmpty(); line = in.readLine()) {
      sent.add(line);
    }
    return LOCKED;
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
