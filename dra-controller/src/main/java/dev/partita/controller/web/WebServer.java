package dev.partita.controller.web;

import com.fasterxml.jackson.core.JsonFactoryBuilder;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonpCharacterEscapes;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.partita.controller.explain.Answer;
import dev.partita.controller.explain.Question;
import dev.partita.controller.history.History;
import dev.partita.controller.lru.LruMap;
import dev.partita.controller.watch.ClusterView;
import dev.partita.controller.web.view.Query;
import dev.partita.serving.access.AccessReview;
import dev.partita.serving.access.BearerToken;
import dev.partita.serving.access.TokenAccess;
import dev.partita.serving.access.Verdict;
import dev.partita.serving.http.Exchange;
import dev.partita.serving.http.HttpAnswer;
import dev.partita.serving.http.HttpListener;
import io.fabric8.kubernetes.api.model.authentication.UserInfo;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Semaphore;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

/**
 * Serves the web page, read-only. {@code GET /api/VIEW} answers with JSON, {@code GET /api/stream/VIEW} with
 * server-sent events: one at once, and one whenever the view has changed. Views are {@code nodes}, {@code claims},
 * {@code pods}, {@code quotas}, {@code history}, {@code claim/NAMESPACE/NAME} and {@code pod/NAMESPACE/NAME};
 * {@code q}, {@code page} and {@code sort} choose of a list. Each needs the bearer token of a user, who is shown what
 * the cluster's RBAC lets him list.
 *
 * <p>It listens on the loopback address only: who looks at it has a port forwarded by the API server, which encrypts
 * what is sent, or runs a proxy beside it that does.
 */
public final class WebServer implements AutoCloseable {
  private static final String API = "/api/";
  private static final String STREAM = "/api/stream/";
  private static final int CONNECTIONS = 64;

  /** Who are more have their rights asked about anew when their token is. */
  private static final int MOST_VIEWERS = 64;

  /** The others are left for what is asked once. */
  private static final int STREAMS = 48;

  /** A user's token may name hundreds of groups. */
  private static final int LONGEST_TOKEN = 64 << 10;

  private static final Duration LOOK_AGAIN = Duration.ofSeconds(2);

  /** All viewers together take a tenth of a processor at most: what takes long, or many look at, is made less often. */
  private static final int PART = 10;

  /** A proxy on the way may close what is silent for longer. */
  private static final Duration SILENCE = Duration.ofSeconds(15);

  /** Escapes U+2028 and U+2029 as well, which some readers of lines take for their ends, and tenants can write. */
  private static final ObjectMapper JSON =
      new ObjectMapper(new JsonFactoryBuilder().characterEscapes(JsonpCharacterEscapes.instance()).build());

  private final Assets assets = new Assets();
  private final FleetNow fleet;
  private final Views views;
  private final Map<UserInfo, Viewer> viewers = new LruMap<>(MOST_VIEWERS);
  private final TokenAccess<Viewer> access;
  private final BooleanSupplier leads;
  private final Semaphore streams = new Semaphore(STREAMS);
  private final HttpListener listener;

  private WebServer(
      int port,
      KubernetesClient client,
      ClusterView view,
      BooleanSupplier leads,
      Function<Question, CompletionStage<Answer>> explanations,
      History history,
      InstantSource clock) throws IOException {
    AccessReview review = new AccessReview(client);
    this.fleet = new FleetNow(view, clock, history);
    this.views = new Views(view, fleet, history, new ClaimDetails(client), explanations);
    this.access =
        new TokenAccess<>(client, "the page", user -> new Verdict.Allowed<>(viewer(user, review, clock)),
            clock);
    this.leads = leads;
    this.listener =
        HttpListener.start(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), "web", CONNECTIONS,
            Thread.ofVirtual().name("web-", 0).factory(), LONGEST_TOKEN, Optional.empty(), this::answer);
  }

  /**
   * Begins to listen.
   *
   * @param port 0 for any free one
   * @param client asks the API server about tokens, and reads claims and their events
   * @param leads whether this instance leads now
   * @param explanations why a pod waits
   * @param history gets a sample a minute, and is shown
   * @param clock when samples are taken, and how long holds what was said of a token
   * @throws IOException if the port cannot be had
   */
  public static WebServer start(
      int port,
      KubernetesClient client,
      ClusterView view,
      BooleanSupplier leads,
      Function<Question, CompletionStage<Answer>> explanations,
      History history,
      InstantSource clock) throws IOException {
    return new WebServer(port, client, view, leads, explanations, history, clock);
  }

  /** The port that it listens on. */
  public int port() {
    return listener.port();
  }

  @Override
  public void close() {
    listener.close();
    fleet.close();
  }

  /** The same for as long as the user's groups are, though his token is asked about every minute. */
  private Viewer viewer(UserInfo user, AccessReview review, InstantSource clock) {
    synchronized (viewers) {
      return viewers.computeIfAbsent(user, of -> new Viewer(of.getUsername(),
          (group, resource, namespace) -> review.mayList(of, group, resource, namespace), clock));
    }
  }

  /** What anybody may know: it chooses between instances. */
  private record About(boolean leads) {}

  private HttpAnswer answer(Exchange exchange) {
    if (!exchange.method().equals("GET")) {
      return new HttpAnswer(HttpURLConnection.HTTP_BAD_METHOD, HttpAnswer.TEXT, "only GET is understood\n",
          Map.of("Allow", "GET"));
    }
    Optional<HttpAnswer> asset = assets.at(exchange.path());
    if (asset.isPresent()) {
      return asset.get();
    }
    if (exchange.path().equals("/api/about")) {
      return json(new About(leads.getAsBoolean()));
    }
    if (!exchange.path().startsWith(API)) {
      return HttpAnswer.text(HttpURLConnection.HTTP_NOT_FOUND, "there is no " + exchange.path());
    }
    Optional<String> token = BearerToken.of(exchange);
    return switch (access.of(token)) {
      case Verdict.Refused<Viewer> refused -> refused.answer();
      case Verdict.Allowed<Viewer>(Viewer viewer) -> exchange.path().startsWith(STREAM)
          ? stream(exchange.path().substring(STREAM.length()), Query.of(exchange.query()), token)
          : once(views.of(exchange.path().substring(API.length()), Query.of(exchange.query()), viewer.look()));
    };
  }

  private static HttpAnswer once(Shown shown) {
    return switch (shown) {
      case Shown.As as -> json(as);
      case Shown.Not(int status, String why) -> HttpAnswer.text(status, why);
    };
  }

  private HttpAnswer stream(String path, Query query, Optional<String> token) {
    if (!streams.tryAcquire()) {
      return HttpAnswer.text(HttpURLConnection.HTTP_UNAVAILABLE,
          STREAMS + " pages are open, and no more are served; close one");
    }
    return new HttpAnswer(HttpURLConnection.HTTP_OK, "text/event-stream; charset=utf-8",
        new HttpAnswer.Body.Stream(sink -> follow(path, query, token, sink), streams::release),
        Map.of("Cache-Control", "no-store"));
  }

  /** Until the viewer goes, or the token is nobody's any more: with it nothing will be shown again. */
  private void follow(String path, Query query, Optional<String> token, HttpAnswer.Sink sink) throws IOException {
    String last = "";
    long sent = System.nanoTime();
    while (true) {
      Verdict<Viewer> verdict = access.of(token);
      long counted = fleet.counted();
      long waited = 0;
      long begin = System.nanoTime();
      String now = switch (verdict) {
        case Verdict.Allowed<Viewer>(Viewer viewer) -> {
          Viewer.Look look = viewer.look();
          String shown = event(views.of(path, query, look));
          waited = look.waited();
          yield shown;
        }
        case Verdict.Undecided<Viewer>(String why) -> event(Shown.Not.now(why));
        case Verdict.Refused<Viewer> refused -> event(new Shown.Not(refused.answer().status(), refused.why()));
      };
      // counting has its own part of the processor, and who waits takes none
      long took = Math.max(0, System.nanoTime() - begin - waited - (fleet.counted() - counted));
      if (!now.equals(last)) {
        sink.send(now);
        sent = System.nanoTime();
      }
      if (verdict instanceof Verdict.Unknown<Viewer>) {
        return;
      }
      last = now;
      long again = System.nanoTime()
          + Math.max(LOOK_AGAIN.toNanos(), took * PART * (STREAMS - streams.availablePermits()));
      while (System.nanoTime() - again < 0) {
        if (sink.awaitGone(Duration.ofNanos(Math.clamp(again - System.nanoTime(), 0, LOOK_AGAIN.toNanos())))) {
          return;
        }
        if (System.nanoTime() - sent > SILENCE.toNanos()) {
          sink.send(":\n\n");
          sent = System.nanoTime();
        }
      }
    }
  }

  private static String event(Shown shown) {
    return switch (shown) {
      case Shown.As as -> "event: view\ndata: " + text(as) + "\n\n";
      case Shown.Not not -> "event: problem\ndata: " + text(not) + "\n\n";
    };
  }

  private static HttpAnswer json(Object value) {
    return new HttpAnswer(HttpURLConnection.HTTP_OK, HttpAnswer.JSON, text(value), Map.of("Cache-Control", "no-store"));
  }

  private static String text(Object value) {
    try {
      return JSON.writeValueAsString(value);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }
}
