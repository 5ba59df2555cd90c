package dev.partita.controller.admission;

import dev.partita.serving.certificate.ServingKeys;
import dev.partita.serving.http.Exchange;
import dev.partita.serving.http.HttpAnswer;
import dev.partita.serving.http.HttpListener;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.IntConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers AdmissionReviews over HTTPS. API servers show no certificate of their own by default, so anybody who reaches
 * the port can send some. Therefore answers tell nothing but what follows from the question, and the time, length and
 * number of questions are bounded. What cannot be answered gets an HTTP status, and the webhook's failure policy says
 * what that means. Where whoever makes an object could pass a quota by that, the object is refused instead.
 */
public final class AdmissionServer implements AutoCloseable {
  /** Bytes of a request: the API server itself takes no object beyond 3 MiB, and stores none beyond 1.5 MiB. */
  static final int MAX_BODY = 4 << 20;

  /** Bytes of all requests that arrive, or wait to be worked on. */
  private static final long BODIES = 32 << 20;

  /** How many reviews are worked on at once: as trees they take many times their bytes. */
  static final int AT_ONCE = 4;

  /** How many of these may be large, so that small ones need not wait for them. */
  static final int LARGE_AT_ONCE = 2;

  private static final Duration MAX_WAIT = Duration.ofSeconds(3);
  private static final Duration STOPPING = Duration.ofSeconds(2);

  /** An API server makes one for each review that it asks about at the same time, and keeps some of them. */
  private static final int CONNECTIONS = 256;

  private static final Logger LOG = LoggerFactory.getLogger(AdmissionServer.class);

  private final HttpListener server;
  private final ServingKeys keys;
  private final Map<String, Function<AdmissionRequest, Verdict>> reviews;
  private final Set<String> strict;
  private final IntConsumer unreviewed;
  private final Duration maxWait;
  private final FailureLog failures = new FailureLog(System::nanoTime, e -> LOG.error("an admission review failed", e));
  private final Bodies bodies = new Bodies(MAX_BODY, BODIES);
  private final Semaphore working = new Semaphore(AT_ONCE, true);
  private final Semaphore workingOnLarge = new Semaphore(LARGE_AT_ONCE, true);
  private volatile boolean draining;
  private volatile long lastAsked = System.nanoTime();

  private AdmissionServer(
      int port,
      ServingKeys keys,
      Map<String, Function<AdmissionRequest, Verdict>> reviews,
      Set<String> strict,
      IntConsumer unreviewed,
      int connections,
      Duration maxWait) throws IOException {
    this.keys = keys;
    this.maxWait = maxWait;
    this.unreviewed = unreviewed;
    this.reviews = Map.copyOf(reviews);
    this.strict = Set.copyOf(strict);
    this.server =
        HttpListener.start(
            new InetSocketAddress(port), "admission", connections, Thread.ofVirtual().name("admission-", 0).factory(),
            Optional.of(keys::context), this::handle);
  }

  /**
   * Begins to listen.
   *
   * @param port 0 for any free one
   * @param keys what to serve with, now or later
   * @param reviews what to ask at which path
   * @param strict paths at which an object is refused that cannot be reviewed
   * @param unreviewed is told of each request that cannot be reviewed, by the HTTP status that says why
   * @throws IOException if the port cannot be had
   */
  public static AdmissionServer start(
      int port,
      ServingKeys keys,
      Map<String, Function<AdmissionRequest, Verdict>> reviews,
      Set<String> strict,
      IntConsumer unreviewed) throws IOException {
    return start(port, keys, reviews, strict, unreviewed, CONNECTIONS, MAX_WAIT);
  }

  /** The same, with fewer connections, and a time for which each waits to be worked on. */
  static AdmissionServer start(
      int port,
      ServingKeys keys,
      Map<String, Function<AdmissionRequest, Verdict>> reviews,
      Set<String> strict,
      IntConsumer unreviewed,
      int connections,
      Duration maxWait) throws IOException {
    return new AdmissionServer(port, keys, reviews, strict, unreviewed, connections, maxWait);
  }

  public int port() {
    return server.port();
  }

  /**
   * Answers as before, but on every connection only once more: an API server that keeps one finds another instance by
   * its next.
   */
  void drain() {
    draining = true;
  }

  /** Since somebody last asked, or since it began to listen. */
  Duration unasked() {
    return Duration.ofNanos(System.nanoTime() - lastAsked);
  }

  /** Lets what is being answered end, but not for ever. */
  @Override
  public void close() {
    server.close(STOPPING);
  }

  private HttpAnswer handle(Exchange exchange) throws IOException {
    lastAsked = System.nanoTime();
    HttpAnswer answer = answer(exchange);
    if (answer.status() != HttpURLConnection.HTTP_OK) {
      unreviewed.accept(answer.status());
    }
    Map<String, String> headers = new HashMap<>(answer.headers());
    if (draining || !exchange.session().map(keys::areOf).orElse(true)) {
      headers.put("Connection", "close"); // the next one is made to who stays, with the present certificate
    }
    return new HttpAnswer(answer.status(), answer.type(), answer.body(), headers);
  }

  private HttpAnswer answer(Exchange exchange) throws IOException {
    Optional<Function<AdmissionRequest, Verdict>> review = Optional.ofNullable(reviews.get(exchange.path()));
    if (review.isEmpty()) {
      return HttpAnswer.text(404, "there is nothing here");
    }
    if (!exchange.method().equals("POST")) {
      return new HttpAnswer(405, HttpAnswer.TEXT, "only POST is answered\n", Map.of("Allow", "POST"));
    }
    String type = exchange.header("Content-Type").orElse("");
    if (!type.split(";", 2)[0].strip().toLowerCase(Locale.ROOT).equals("application/json")) {
      return HttpAnswer.text(415, "the body must be application/json");
    }
    try (Bodies.Body body = bodies.begin()) {
      InputStream in = exchange.body();
      if (body.read(in)) {
        return worked(exchange, body, review.get());
      }
      // with some left unread the connection is reset, and the answer may be lost with it
      in.transferTo(OutputStream.nullOutputStream());
      return body.isTooLong()
          ? unreviewed(413, "the review has more than " + MAX_BODY + " bytes" + ReviewTree.ADVICE, exchange.path(),
              ReviewCodec.uid(body.beginning()))
          : tooMuch(exchange, body);
    }
  }

  /** As long as it waits for a place, whoever asks may be cut off for others. */
  private HttpAnswer worked(Exchange exchange, Bodies.Body body, Function<AdmissionRequest, Verdict> review)
      throws IOException {
    long until = System.nanoTime() + maxWait.toNanos();
    List<Semaphore> places = body.isLarge() ? List.of(workingOnLarge, working) : List.of(working);
    Deque<Semaphore> taken = new ArrayDeque<>();
    try {
      for (Semaphore place : places) {
        if (!place.tryAcquire(until - System.nanoTime(), TimeUnit.NANOSECONDS)) {
          return tooMuch(exchange, body);
        }
        taken.push(place);
      }
      exchange.arrived();
      Optional<byte[]> all = body.taken();
      return all.isPresent() ? answer(all.get(), exchange.path(), review) : tooMuch(exchange, body);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return HttpAnswer.text(503, "the server stops");
    } finally {
      taken.forEach(Semaphore::release);
    }
  }

  private HttpAnswer tooMuch(Exchange exchange, Bodies.Body body) {
    return unreviewed(503, "too much is asked at once; try again", exchange.path(), ReviewCodec.uid(body.beginning()));
  }

  private HttpAnswer answer(byte[] body, String path, Function<AdmissionRequest, Verdict> review) {
    AdmissionRequest request;
    try {
      request = ReviewCodec.decode(body);
    } catch (ReviewCodec.BadReviewException e) {
      return unreviewed(400, e.why(), path, e.uid());
    }
    try {
      return verdict(request.uid(), review.apply(request));
    } catch (RuntimeException | StackOverflowError e) {
      failures.failed(e);
      return unreviewed(500, "the review failed; the controller's log says why", path, Optional.of(request.uid()));
    }
  }

  private static HttpAnswer verdict(String uid, Verdict verdict) {
    return new HttpAnswer(200, "application/json", ReviewCodec.encode(uid, verdict));
  }

  /** Refuses the object, or leaves it to the failure policy what becomes of it. */
  private HttpAnswer unreviewed(int status, String why, String path, Optional<String> uid) {
    if (uid.isEmpty() || !strict.contains(path)) {
      return HttpAnswer.text(status, why);
    }
    unreviewed.accept(status);
    return verdict(uid.get(),
        new Verdict.Forbidden("Partita cannot review it, and it could pass a quota: " + why, List.of()));
  }
}
