package dev.partita.serving.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;

import java.io.BufferedReader;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class HttpListenerTest {
  @Test
  void aStreamsPiecesArriveAsTheyAreSent() throws Exception {
    SynchronousQueue<String> pieces = new SynchronousQueue<>();
    HttpAnswer.Source source = sink -> {
      for (int i = 0; i < 2; i++) {
        sink.send(taken(pieces) + "\n");
      }
    };
    try (HttpListener listener = listener(_ -> streamed(source));
        BufferedReader lines = lines(get(listener, "/"))) {
      pieces.put("first");
      assertThat(lines.readLine()).isEqualTo("first");
      pieces.put("second");
      assertThat(lines.readLine()).isEqualTo("second");
      assertThat(lines.readLine()).isNull();
    }
  }

  @Test
  void aStreamEndsWhenNobodyReadsItAnyMore() throws Exception {
    CountDownLatch ended = new CountDownLatch(1);
    HttpAnswer.Source source = sink -> {
      try {
        while (true) {
          sink.send("more\n");
        }
      } finally {
        ended.countDown();
      }
    };
    try (HttpListener listener = listener(_ -> streamed(source))) {
      try (BufferedReader lines = lines(get(listener, "/"))) {
        assertThat(lines.readLine()).isEqualTo("more");
      }
      ended.await();
    }
  }

  @Test
  void aStreamThatHasNothingToSendLearnsThatNobodyWaitsForIt() throws Exception {
    CountDownLatch ended = new CountDownLatch(1);
    HttpAnswer.Source source = sink -> {
      sink.send("first\n");
      while (!sink.awaitGone(Duration.ofMinutes(1))) {}
      ended.countDown();
    };
    try (HttpListener listener = listener(_ -> streamed(source))) {
      try (BufferedReader lines = lines(get(listener, "/"))) {
        assertThat(lines.readLine()).isEqualTo("first");
        assertThat(ended.getCount()).isOne();
      }
      assertThat(ended.await(20, TimeUnit.SECONDS)).isTrue();
    }
  }

  @Test
  void aStreamHasEndedAlsoIfWhoAskedForItWasGoneBeforeItsHeadWasSent() throws Exception {
    CountDownLatch asked = new CountDownLatch(1);
    CountDownLatch gone = new CountDownLatch(1);
    CountDownLatch ended = new CountDownLatch(1);
    AtomicBoolean begun = new AtomicBoolean();
    HttpAnswer.Body stream = new HttpAnswer.Body.Stream(_ -> begun.set(true), ended::countDown);
    Exchange.Handler handler = _ -> {
      asked.countDown();
      await(gone);
      return new HttpAnswer(200, HttpAnswer.TEXT, stream, Map.of());
    };
    try (HttpListener listener = listener(handler)) {
      try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), listener.port())) {
        socket.getOutputStream().write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        asked.await();
        socket.setSoLinger(true, 0); // a reset, so that the first write fails already
      }
      gone.countDown();
      assertThat(ended.await(20, TimeUnit.SECONDS)).isTrue();
      assertThat(begun).isFalse();
    }
  }

  @Test
  void aStreamEndsOnce() throws Exception {
    AtomicInteger ends = new AtomicInteger();
    Exchange.Handler handler = _ -> new HttpAnswer(200, HttpAnswer.TEXT,
        new HttpAnswer.Body.Stream(sink -> sink.send("it\n"), ends::incrementAndGet), Map.of());
    try (HttpListener listener = listener(handler);
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), listener.port())) {
      byte[] request = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
      socket.getOutputStream().write(request);
      socket.getOutputStream().write(request);
      try (BufferedReader lines = lines(socket.getInputStream())) {
        assertThat(lines.lines().filter(line -> line.equals("it")).limit(2)).hasSize(2);
      }
    }
    while (ends.get() < 2) {
      Thread.onSpinWait();
    }
    assertThat(ends).hasValue(2);
  }

  @Test
  void whoAsksForMoreMeanwhileIsNotTakenToHaveGone() throws Exception {
    HttpAnswer.Source source = sink -> sink.send(sink.awaitGone(Duration.ofMillis(300)) ? "gone\n" : "there\n");
    try (HttpListener listener = listener(_ -> streamed(source));
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), listener.port())) {
      byte[] request = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
      socket.getOutputStream().write(request);
      socket.getOutputStream().write(request);
      assertThat(lines(socket.getInputStream()).lines().filter(line -> line.equals("there")).limit(2)).hasSize(2);
    }
  }

  @Test
  void theQueryIsDecodedAndIsNoPartOfThePath() throws Exception {
    try (HttpListener listener = listener(
        asked -> HttpAnswer.text(200, asked.path() + " " + new TreeMap<>(asked.query())));
        BufferedReader lines = lines(get(listener, "/nodes?q=a%26b+c&page=2&page=3&bare"))) {
      assertThat(lines.readLine()).isEqualTo("/nodes {page=3, q=a&b c}");
    }
  }

  /** Anybody who reaches a port may send it: it is neither left without an answer nor an error of this program. */
  @Test
  void aTargetThatIsNoAddressIsRefusedWithTheReason() throws Exception {
    try (HttpListener listener = listener(_ -> HttpAnswer.text(200, "it"));
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), listener.port())) {
      socket.getOutputStream()
          .write("GET http://h:70000/ HTTP/1.1\r\nHost: h\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
      try (BufferedReader lines = lines(socket.getInputStream())) {
        assertThat(lines.readLine()).isEqualTo("HTTP/1.1 400 Bad Request");
        assertThat(lines.lines()).last(STRING).contains("no address", "70000");
      }
    }
  }

  /** Each connection could make a node's plugin keep megabytes before anybody asks whose it is. */
  @Test
  void headersThatAreTooLargeTogetherAreRefusedWithTheReason() throws Exception {
    String header = "x".repeat(7 << 10) + "\r\n";
    try (HttpListener listener = listener(_ -> HttpAnswer.text(200, "it"));
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), listener.port())) {
      socket.getOutputStream().write(("GET / HTTP/1.1\r\nHost: h\r\na: " + header + "b: " + header + "c: " + header
          + "d: " + header + "e: " + header).getBytes(StandardCharsets.US_ASCII));
      socket.shutdownOutput();
      try (BufferedReader lines = lines(socket.getInputStream())) {
        assertThat(lines.readLine()).startsWith("HTTP/1.1 431 ");
        assertThat(lines.lines()).last(STRING).contains("headers of more than 32 KiB together");
      }
    }
  }

  @Test
  void whatFollowsABodyInChunksIsBoundedToo() throws Exception {
    Exchange.Handler handler = asked -> HttpAnswer.text(200, new String(asked.body().readAllBytes(),
        StandardCharsets.US_ASCII));
    try (HttpListener listener = listener(handler)) {
      assertThat(answerToChunks(listener, "a: 1\r\n")).isEqualTo("HTTP/1.1 200 OK");
      assertThat(answerToChunks(listener, "a: 1\r\nb: 2\r\n")).isNull();
    }
  }

  /** Four is all that the listener has. */
  @Test
  @Timeout(20)
  void whoAsksAndDoesNotReadTheAnswerKeepsNobodyOut() throws Exception {
    CountDownLatch asked = new CountDownLatch(4);
    String large = "x".repeat(8 << 20);
    Exchange.Handler handler = exchange -> {
      asked.countDown();
      return HttpAnswer.text(200, exchange.path().equals("/large") ? large : "it");
    };
    List<Socket> silent = new ArrayList<>();
    try (HttpListener listener = listener(handler)) {
      for (int i = 0; i < 4; i++) {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), listener.port());
        silent.add(socket);
        socket.getOutputStream()
            .write("GET /large HTTP/1.1\r\nHost: h\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
      }
      asked.await();
      String answer = "";
      while (!answer.equals("HTTP/1.1 200 OK")) { // as long as the answers are not begun, there is no room
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), listener.port())) {
          socket.getOutputStream().write("GET / HTTP/1.1\r\nHost: h\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
          answer = String.valueOf(lines(socket.getInputStream()).readLine());
        } catch (SocketException e) {
          answer = "";
        }
      }
    } finally {
      for (Socket socket : silent) {
        socket.close();
      }
    }
  }

  private static @Nullable String answerToChunks(HttpListener listener, String trailers) throws Exception {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), listener.port())) {
      socket.getOutputStream().write(("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nit\r\n0\r\n"
          + trailers + "\r\n").getBytes(StandardCharsets.US_ASCII));
      socket.shutdownOutput();
      return lines(socket.getInputStream()).readLine();
    }
  }

  private static HttpAnswer streamed(HttpAnswer.Source source) {
    return new HttpAnswer(200, HttpAnswer.TEXT, new HttpAnswer.Body.Stream(source, () -> {}), Map.of());
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static String taken(SynchronousQueue<String> pieces) {
    try {
      return pieces.take();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static HttpListener listener(Exchange.Handler handler) throws Exception {
    return HttpListener.start(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), "test", 4,
        Thread.ofVirtual().factory(), Optional.empty(), handler);
  }

  private static InputStream get(HttpListener listener, String path) throws Exception {
    HttpClient http = HttpClient.newHttpClient();
    return http.send(HttpRequest.newBuilder(URI.create("http://localhost:" + listener.port() + path)).build(),
        HttpResponse.BodyHandlers.ofInputStream()).body();
  }

  private static BufferedReader lines(InputStream body) {
    return new BufferedReader(new InputStreamReader(body, StandardCharsets.UTF_8));
  }
}
