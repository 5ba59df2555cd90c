package dev.partita.plugin.health;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class HealthEndpointTest {
  private static final int MOST_CONNECTIONS = 256;
  private static final int PATIENCE_MS = 20_000;

  @Test
  void connectionsThatSendNothingAreNotKeptWithoutEnd() throws IOException {
    List<Socket> idle = new ArrayList<>();
    try (HealthEndpoint endpoint = HealthEndpoint.listen(0, Optional::empty)) {
      for (int i = 0; i < MOST_CONNECTIONS + 10; i++) {
        idle.add(new Socket(InetAddress.getLoopbackAddress(), endpoint.port()));
      }
      assertThat(isClosed(idle.getLast())).as("one more than there may be").isTrue();
      for (Socket socket : idle) {
        socket.close();
      }
      assertThat(answer(endpoint.port())).startsWith("HTTP/1.1 200");
    } finally {
      for (Socket socket : idle) {
        socket.close();
      }
    }
  }

  private static boolean isClosed(Socket socket) throws IOException {
    socket.setSoTimeout(PATIENCE_MS);
    try {
      return socket.getInputStream().read() < 0;
    } catch (SocketException e) {
      return true; // reset
    }
  }

  /** Tries on until the server has noticed that the others have gone. */
  private static String answer(int port) throws IOException {
    long end = System.nanoTime() + PATIENCE_MS * 1_000_000L;
    String answer = "";
    while (answer.isEmpty() && System.nanoTime() < end) {
      try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
        socket.getOutputStream().write("GET /healthz HTTP/1.1\r\nHost: node\r\nConnection: close\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
      } catch (SocketException e) {
        answer = "";
      }
    }
    return answer;
  }
}
