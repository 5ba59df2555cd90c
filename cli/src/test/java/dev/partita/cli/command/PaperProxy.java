package dev.partita.cli.command;

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

/** A proxy that wants a name and password, and reaches nobody. It keeps the lines that it was sent. */
public final class PaperProxy implements AutoCloseable {
  private static final String UNKNOWN = "HTTP/1.1 407 Proxy Authentication Required\r\n"
      + "Proxy-Authenticate: Basic realm=\"corp\"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
  private static final String UNREACHED =
      "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

  private final ServerSocket socket = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
  private final List<String> sent = new CopyOnWriteArrayList<>();

  /** Opens it on a free port. */
  public PaperProxy() throws IOException {
    Thread.ofVirtual().start(this::serve);
  }

  /** Where it listens. */
  public String address() {
    return "127.0.0.1:" + socket.getLocalPort();
  }

  /** Lines of the heads of all requests. */
  public List<String> sent() {
    return sent;
  }

  private void serve() {
    while (!socket.isClosed()) {
      try (Socket client = socket.accept()) {
        BufferedReader in =
            new BufferedReader(new InputStreamReader(client.getInputStream(), StandardCharsets.ISO_8859_1));
        boolean isKnown = false;
        for (@Nullable String line = in.readLine(); line != null && !line.isEmpty(); line = in.readLine()) {
          sent.add(line);
          isKnown |= line.startsWith("Proxy-Authorization: ");
        }
        client.getOutputStream().write((isKnown ? UNREACHED : UNKNOWN).getBytes(StandardCharsets.ISO_8859_1));
      } catch (IOException gone) {
        // the next one
      }
    }
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
