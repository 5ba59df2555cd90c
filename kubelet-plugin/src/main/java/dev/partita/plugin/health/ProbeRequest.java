package dev.partita.plugin.health;

import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;

/** A probe's request (RFC 9112), of which only the path matters. */
sealed interface ProbeRequest {
  /** A GET of a path, without its query. */
  record Get(String path) implements ProbeRequest {}

  /** Anything else. */
  record Other() implements ProbeRequest {}

  /** Bytes of a request line and its header; kubelet's has about 120. */
  int MOST_BYTES = 8192;

  int FIRST_BYTES = 256;

  /**
   * Reads a request up to the empty line behind its header; a body is left alone.
   *
   * @throws IOException if the request is not there in time, ends before or is larger than {@link #MOST_BYTES}
   */
  static ProbeRequest read(Socket socket, Duration within) throws IOException {
    long end = System.nanoTime() + within.toNanos();
    InputStream in = socket.getInputStream();
    byte[] bytes = new byte[FIRST_BYTES];
    int length = 0;
    int looked = 0;
    while (!endsHeader(bytes, looked, length)) {
      looked = length;
      if (length == MOST_BYTES) {
        throw new IOException("the request has more than " + MOST_BYTES + " bytes");
      }
      if (length == bytes.length) {
        bytes = Arrays.copyOf(bytes, Math.min(2 * length, MOST_BYTES));
      }
      long left = (end - System.nanoTime()) / 1_000_000;
      if (left <= 0) {
        throw new SocketTimeoutException("the request did not come in time");
      }
      socket.setSoTimeout((int) left);
      int read = in.read(bytes, length, bytes.length - length);
      if (read < 0) {
        throw new IOException("the connection was closed before the request had ended");
      }
      length += read;
    }
    return parse(new String(bytes, 0, length, StandardCharsets.ISO_8859_1));
  }

  /** Whether there is an empty line that ends behind the bytes that were looked at before. */
  private static boolean endsHeader(byte[] bytes, int looked, int length) {
    for (int i = Math.max(1, looked); i < length; i++) {
      if (bytes[i] == '\n' && (bytes[i - 1] == '\n' || (bytes[i - 1] == '\r' && i >= 2 && bytes[i - 2] == '\n'))) {
        return true;
      }
    }
    return false;
  }

  private static ProbeRequest parse(String request) {
    String[] line = request.lines().findFirst().orElse("").split(" ", -1);
    if (line.length != 3 || !line[0].equals("GET") || !line[2].startsWith("HTTP/1.")) {
      return new Other();
    }
    int query = line[1].indexOf('?');
    return new Get(query < 0 ? line[1] : line[1].substring(0, query));
  }
}
