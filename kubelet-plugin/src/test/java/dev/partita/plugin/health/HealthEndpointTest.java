package dev.partita.plugin.health;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class HealthEndpointTest {
  private static final int MANY = 1000;
  private static final Duration PROBE = Duration.ofSeconds(1); // kubelet's default timeout

  private final List<Socket> others = new ArrayList<>();

  @AfterEach
  void closeOthers() throws IOException {
    for (Socket socket : others) {
      socket.close();
    }
  }

  @Test
  void aProbeIsAnsweredWithinASecondBesideAThousandConnectionsThatSendNothing() throws IOException {
    try (HealthEndpoint endpoint = healthy()) {
      open(endpoint, MANY, "");
      assertAnswered(endpoint);
    }
  }

  @Test
  void aProbeIsAnsweredWithinASecondBesideAThousandRequestsThatDoNotEnd() throws IOException {
    try (HealthEndpoint endpoint = healthy()) {
      open(endpoint, MANY, "GET /healthz HTTP/1.1\r\nX-Slow: ");
      assertAnswered(endpoint);
    }
  }

  @Test
  void whoOpensMoreConnectionsThanThereMayBeClosesTheOldest() throws IOException {
    try (HealthEndpoint endpoint = healthy()) {
      open(endpoint, HealthEndpoint.MOST_CONNECTIONS + MANY, "GET /");
      assertAnswered(endpoint);
      Socket oldest = others.getFirst();
      oldest.setSoTimeout(20_000);
      assertThat(endsWithoutAnswer(oldest)).isTrue();
    }
  }

  @Test
  void aRequestThatDoesNotEndIsGivenUp() throws IOException {
    try (HealthEndpoint endpoint = healthy()) {
      open(endpoint, 1, "GET /healthz HTTP/1.1\r\n");
      others.getFirst().setSoTimeout(20_000);
      assertThat(endsWithoutAnswer(others.getFirst())).isTrue();
    }
  }

  @Test
  void aRequestWithoutEndIsCutOffAtItsSize() throws IOException {
    try (HealthEndpoint endpoint = healthy()) {
      open(endpoint, 1, "GET /healthz HTTP/1.1\r\n" + "X-Large: y\r\n".repeat(1000));
      others.getFirst().setSoTimeout(20_000);
      assertThat(endsWithoutAnswer(others.getFirst())).isTrue();
      assertAnswered(endpoint);
    }
  }

  @Test
  void eachQuestionHasItsOwnAnswer() throws IOException {
    try (HealthEndpoint endpoint =
        HealthEndpoint.listen(0, () -> Optional.of("the loop usage has done nothing"),
            () -> Optional.of("not registered"))) {
      assertThat(answer(endpoint, "GET /healthz HTTP/1.1\r\nHost: node\r\n\r\n"))
          .startsWith("HTTP/1.1 503 ")
          .endsWith("\r\n\r\nthe loop usage has done nothing\n");
      assertThat(answer(endpoint, "GET /readyz?verbose HTTP/1.1\n\n")).startsWith("HTTP/1.1 503 ")
          .endsWith("not registered\n");
      assertThat(answer(endpoint, "GET /metrics HTTP/1.1\r\n\r\n")).startsWith("HTTP/1.1 404 ");
      assertThat(answer(endpoint, "POST /healthz HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc"))
          .startsWith("HTTP/1.1 400 ");
      assertThat(answer(endpoint, "\r\n\r\n")).startsWith("HTTP/1.1 400 ");
    }
  }

  private static HealthEndpoint healthy() throws IOException {
    return HealthEndpoint.listen(0, Optional::empty, Optional::empty);
  }

  private void open(HealthEndpoint endpoint, int count, String start) throws IOException {
    for (int i = 0; i < count; i++) {
      Socket socket = new Socket(InetAddress.getLoopbackAddress(), endpoint.port());
      others.add(socket);
      try {
        socket.getOutputStream().write(start.getBytes(StandardCharsets.US_ASCII));
      } catch (IOException e) {
        assertThat(i).as("only a connection that was closed for newer ones, or given up, can fail").isNotNegative();
      }
    }
  }

  private static void assertAnswered(HealthEndpoint endpoint) throws IOException {
    long begin = System.nanoTime();
    assertThat(answer(endpoint, "GET /healthz HTTP/1.1\r\nHost: node\r\nConnection: close\r\n\r\n"))
        .startsWith("HTTP/1.1 200 ")
        .endsWith("\r\n\r\nok\n");
    assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(PROBE);
  }

  private static String answer(HealthEndpoint endpoint, String request) throws IOException {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), endpoint.port())) {
      socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
    }
  }

  private static boolean endsWithoutAnswer(Socket socket) throws IOException {
    try {
      return socket.getInputStream().read() < 0;
    } catch (java.net.SocketException e) {
      return true; // reset
    }
  }
}
