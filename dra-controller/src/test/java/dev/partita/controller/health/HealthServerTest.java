package dev.partita.controller.health;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.serving.http.HttpListener;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.ReentrantLock;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HealthServerTest {
  private volatile Optional<String> ill = Optional.empty();
  private volatile Optional<String> unready = Optional.empty();
  private final List<Socket> sockets = new ArrayList<>();
  private HttpListener server;

  @BeforeEach
  void start() throws IOException {
    server = HealthServer.start(0, () -> ill, () -> unready);
  }

  @AfterEach
  void stop() throws IOException {
    for (Socket socket : sockets) {
      socket.close();
    }
    server.close();
  }

  @Test
  void healthAndReadinessSayWhatIsWrong() throws IOException {
    assertThat(get("/healthz")).startsWith("HTTP/1.1 200").endsWith("\r\n\r\nok\n");
    unready = Optional.of("nothing seen");
    assertThat(get("/healthz")).startsWith("HTTP/1.1 200");
    assertThat(get("/readyz")).startsWith("HTTP/1.1 503").endsWith("\r\n\r\nnothing seen\n");
    ill = Optional.of("a thread hangs");
    assertThat(get("/healthz")).startsWith("HTTP/1.1 503").endsWith("\r\n\r\na thread hangs\n");
    assertThat(get("/readyz")).startsWith("HTTP/1.1 503").contains("a thread hangs");
    assertThat(get("/elsewhere")).startsWith("HTTP/1.1 404");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "G", "GET /healthz HTTP/1.1\r\n",
    "GET /healthz HTTP/1.1\r\nHost: x\r\nX: ", "POST /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 9999\r\n\r\nabc"})
  void aThousandConnectionsThatSendNothingOrHalfARequestHoldUpNobody(String half) throws IOException {
    for (int i = 0; i < 1000; i++) {
      Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port());
      sockets.add(socket);
      try {
        socket.getOutputStream().write(half.getBytes(StandardCharsets.US_ASCII));
      } catch (IOException e) {
        // ended already to make room
      }
    }
    for (int i = 0; i < 5; i++) {
      long begin = System.nanoTime();
      assertThat(get("/healthz")).startsWith("HTTP/1.1 200");
      assertThat(Duration.ofNanos(System.nanoTime() - begin)).as("the chart's probe waits so long")
          .isLessThan(Duration.ofSeconds(5));
    }
  }

  @Test
  void threadsThatWaitForEachOtherAreFound() throws InterruptedException {
    ReentrantLock first = new ReentrantLock();
    ReentrantLock second = new ReentrantLock();
    CountDownLatch both = new CountDownLatch(2);
    Thread one = Thread.ofPlatform().name("one-of-two").daemon().start(() -> lock(first, both, second));
    Thread two = Thread.ofPlatform().name("two-of-two").daemon().start(() -> lock(second, both, first));
    try {
      Awaitility.await().until(
          () -> new Deadlocks().get().equals(Optional.of("threads wait for each other: one-of-two, two-of-two")));
    } finally {
      one.interrupt();
      two.interrupt();
    }
    one.join();
    two.join();
    assertThat(new Deadlocks().get()).isEmpty();
  }

  private static void lock(ReentrantLock mine, CountDownLatch both, ReentrantLock other) {
    mine.lock();
    try {
      both.countDown();
      both.await();
      other.lockInterruptibly();
      other.unlock();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      mine.unlock();
    }
  }

  private String get(String path) throws IOException {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
      socket.setSoTimeout(10_000);
      socket.getOutputStream().write(
          ("GET " + path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").getBytes(StandardCharsets.US_ASCII));
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }
  }
}
