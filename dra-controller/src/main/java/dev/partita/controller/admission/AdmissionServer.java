package dev.partita.controller.admission;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsExchange;
import com.sun.net.httpserver.HttpsServer;
import dev.partita.controller.certificate.ServingKeys;
import dev.partita.controller.http.HttpLimits;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers AdmissionReviews over HTTPS. API servers show no certificate of their own by default, so anybody who reaches the port can
 * ask: answers tell nothing but what follows from the question, and one asks in bounded time, length and number. What cannot be
 * answered gets an HTTP status, for which the webhook's failure policy says what it means.
 */
public final class AdmissionServer implements AutoCloseable {
  /** Bytes of a request: the API server itself takes no object beyond 3 MiB, and stores none beyond 1.5 MiB. */
  static final int MAX_BODY = 4 << 20;

  /** Bytes up to which anybody may take his time to send a request; of longer ones, few at once may arrive. */
  private static final int SMALL_BODY = 128 << 10;

  private static final int LARGE_AT_ONCE = 2;

  /** How many reviews are worked on at once: as trees they take many times their bytes. */
  private static final int AT_ONCE = 4;

  private static final int MAX_WAIT_SECONDS = 3;
  private static final int STOP_SECONDS = 2;
  private static final Logger LOG = LoggerFactory.getLogger(AdmissionServer.class);

  private final HttpsServer server;
  private final ExecutorService threads;
  private final ServingKeys keys;
  private final Map<String, Function<AdmissionRequest, Verdict>> reviews;
  private final Semaphore large = new Semaphore(LARGE_AT_ONCE);
  private final Semaphore working = new Semaphore(AT_ONCE);
  private volatile boolean draining;

  private AdmissionServer(
      HttpsServer server, ExecutorService threads, ServingKeys keys, Map<String, Function<AdmissionRequest, Verdict>> reviews) {
    this.server = server;
    this.threads = threads;
    this.keys = keys;
    this.reviews = Map.copyOf(reviews);
  }

  /**
   * Begins to listen.
   *
   * @param port 0 for any free one
   * @param keys what to serve with, now or later
   * @param reviews what to ask at which path
   * @throws IOException if the port cannot be had
   */
  public static AdmissionServer start(int port, ServingKeys keys, Map<String, Function<AdmissionRequest, Verdict>> reviews) throws IOException {
    HttpLimits.set();
    HttpsServer https = HttpsServer.create(new InetSocketAddress(port), 64);
    https.setHttpsConfigurator(new HttpsConfigurator(keys.context()));
    ExecutorService threads = Executors.newThreadPerTaskExecutor(Thread.ofVirtual().name("admission-", 0).factory());
    https.setExecutor(threads);
    AdmissionServer server = new AdmissionServer(https, threads, keys, reviews);
    https.createContext("/", server::handle);
    https.start();
    return server;
  }

  public int port() {
    return server.getAddress().getPort();
  }

  /** Answers as before, but on every connection only once more: an API server that keeps one finds another instance by its next. */
  void drain() {
    draining = true;
  }

  /** Lets what is being answered end, but not for ever. */
  @Override
  public void close() {
    server.stop(STOP_SECONDS);
    threads.shutdownNow();
  }

  private record Reply(int status, String type, String body) {
    static Reply text(int status, String words) {
      return new Reply(status, "text/plain; charset=utf-8", words + "\n");
    }
  }

  private void handle(HttpExchange exchange) throws IOException {
    try (exchange) {
      Reply reply = reply(exchange);
      exchange.getResponseHeaders().set("Content-Type", reply.type());
      if (reply.status() == 405) {
        exchange.getResponseHeaders().set("Allow", "POST");
      }
      if (draining || (exchange instanceof HttpsExchange secured && !keys.areOf(secured.getSSLSession()))) {
        exchange.getResponseHeaders().set("Connection", "close"); // the next one is made to who stays, with the present certificate
      }
      byte[] body = reply.body().getBytes(StandardCharsets.UTF_8);
      exchange.sendResponseHeaders(reply.status(), body.length);
      try (OutputStream out = exchange.getResponseBody()) {
        out.write(body);
      }
    }
  }

  private Reply reply(HttpExchange exchange) throws IOException {
    Optional<Function<AdmissionRequest, Verdict>> review = Optional.ofNullable(reviews.get(exchange.getRequestURI().getPath()));
    if (review.isEmpty()) {
      return Reply.text(404, "there is nothing here");
    }
    if (!exchange.getRequestMethod().equals("POST")) {
      return Reply.text(405, "only POST is answered");
    }
    String type = Optional.ofNullable(exchange.getRequestHeaders().getFirst("Content-Type")).orElse("");
    if (!type.split(";", 2)[0].strip().toLowerCase(Locale.ROOT).equals("application/json")) {
      return Reply.text(415, "the body must be application/json");
    }
    InputStream in = exchange.getRequestBody();
    byte[] start = in.readNBytes(SMALL_BODY);
    return start.length < SMALL_BODY
        ? within(working, () -> answer(start, review.get()))
        : within(large, () -> answerLarge(start, in, review.get()));
  }

  private Reply answerLarge(byte[] start, InputStream in, Function<AdmissionRequest, Verdict> review) throws IOException {
    byte[] rest = in.readNBytes(MAX_BODY - start.length + 1);
    if (start.length + rest.length > MAX_BODY) {
      in.readNBytes(MAX_BODY); // with more left unread the connection is reset, and the answer may be lost with it
      return Reply.text(413, "the body has more than " + MAX_BODY + " bytes");
    }
    byte[] body = Arrays.copyOf(start, start.length + rest.length);
    System.arraycopy(rest, 0, body, start.length, rest.length);
    return within(working, () -> answer(body, review));
  }

  private static Reply answer(byte[] body, Function<AdmissionRequest, Verdict> review) {
    try {
      AdmissionRequest request = ReviewCodec.decode(body);
      return new Reply(200, "application/json", ReviewCodec.encode(request.uid(), review.apply(request)));
    } catch (ReviewCodec.BadReviewException e) {
      return Reply.text(400, e.why());
    } catch (RuntimeException | StackOverflowError e) {
      LOG.error("a review was not answered", e);
      return Reply.text(500, "the review failed; the controller's log says why");
    }
  }

  private interface Work {
    Reply done() throws IOException;
  }

  private static Reply within(Semaphore places, Work work) throws IOException {
    try {
      if (!places.tryAcquire(MAX_WAIT_SECONDS, TimeUnit.SECONDS)) {
        return Reply.text(503, "too much is asked at once");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Reply.text(503, "the server stops");
    }
    try {
      return work.done();
    } finally {
      places.release();
    }
  }
}
