package dev.partita.controller;

import dev.partita.controller.admission.AdmissionEndpoint;
import dev.partita.controller.admission.KnownClaims;
import dev.partita.controller.explain.Answer;
import dev.partita.controller.explain.ExplanationServer;
import dev.partita.controller.explain.Question;
import dev.partita.controller.health.Deadlocks;
import dev.partita.controller.health.HealthServer;
import dev.partita.controller.history.History;
import dev.partita.controller.history.HistoryStore;
import dev.partita.controller.leader.Campaign;
import dev.partita.controller.metrics.ClusterMetrics;
import dev.partita.controller.metrics.LeaderMetrics;
import dev.partita.controller.metrics.ReviewMetrics;
import dev.partita.controller.metrics.WriteCounts;
import dev.partita.controller.watch.ClusterView;
import dev.partita.controller.web.WebServer;
import dev.partita.serving.http.HttpListener;
import dev.partita.serving.metrics.Metrics;
import dev.partita.serving.metrics.MetricsServer;
import dev.partita.serving.probe.LoggedProbe;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs the controller. It watches and answers admission webhooks from the start. While it leads it also writes: it
 * publishes slices and classes, allocates claims, and keeps the webhooks' certificate. When it loses the lease it stops
 * writing at once and campaigns again.
 */
public final class DraController implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(DraController.class);

  /** No event and no decision takes as long. */
  private static final Duration MOST_AT_ONE = Duration.ofSeconds(60);

  private final Deadlocks deadlocks = new Deadlocks();
  private final ControllerSettings settings;
  private final KubernetesClient client;
  private final ClusterView view;
  private final Metrics metrics = new Metrics();
  private final WriteCounts writes = new WriteCounts();
  private final History history = new History();
  private final Optional<HistoryStore> stored;
  private final Clock clock;
  private @Nullable HttpListener health;
  private @Nullable HttpListener explanations;
  private @Nullable MetricsServer metricsServer;
  private @Nullable WebServer web;
  private @Nullable AdmissionEndpoint admission;
  private @Nullable Campaign campaign;
  private @Nullable Term term;
  private @Nullable Term last; // which ends as this is closed
  private boolean closed;

  private DraController(ControllerSettings settings, KubernetesClient client, Clock clock) {
    this.clock = clock;
    this.settings = settings;
    this.client = client;
    this.view = new ClusterView(client);
    this.stored = settings.web().map(page -> new HistoryStore(client, page.namespace(), clock, history));
  }

  /**
   * Starts a controller, and returns when it has seen the cluster once.
   *
   * @param client stays the caller's: it is not closed
   * @throws IOException if a port cannot be had
   */
  public static DraController start(ControllerSettings settings, KubernetesClient client) throws IOException {
    return start(settings, client, Clock.systemUTC());
  }

  /**
   * The same by another clock.
   *
   * @throws IOException if a port cannot be had
   */
  static DraController start(ControllerSettings settings, KubernetesClient client, Clock clock) throws IOException {
    DraController controller = new DraController(settings, client, clock);
    try {
      controller.start();
      return controller;
    } catch (IOException | RuntimeException e) {
      controller.close();
      throw e;
    }
  }

  /** Port of /healthz and /readyz; empty if there is none. */
  public synchronized Optional<Integer> healthPort() {
    return Optional.ofNullable(health).map(HttpListener::port);
  }

  /** Port of /metrics; empty if there is none. */
  public synchronized Optional<Integer> metricsPort() {
    return Optional.ofNullable(metricsServer).map(MetricsServer::port);
  }

  /** Port at which it explains why pods wait, on the loopback address; empty if there is none. */
  public synchronized Optional<Integer> explainPort() {
    return Optional.ofNullable(explanations).map(HttpListener::port);
  }

  /** Port of the web page, on the loopback address; empty if there is none. */
  public synchronized Optional<Integer> webPort() {
    return Optional.ofNullable(web).map(WebServer::port);
  }

  private CompletionStage<Answer> explain(Question question) {
    @Nullable Term now;
    synchronized (this) {
      now = term;
    }
    return now == null ? CompletableFuture.completedStage(new Answer.NotLeading()) : now.explain(question);
  }

  private synchronized Optional<LeaderMetrics.Leader> leading() {
    return Optional.ofNullable(term);
  }

  /** Port of the admission webhooks; empty if none are served. */
  public synchronized Optional<Integer> webhookPort() {
    return Optional.ofNullable(admission).map(AdmissionEndpoint::port);
  }

  /** For tests. */
  ClusterView view() {
    return view;
  }

  /** Whether this instance publishes and allocates now. */
  public synchronized boolean leads() {
    return term != null;
  }

  private void start() throws IOException {
    if (settings.healthPort().isPresent()) {
      int port = settings.healthPort().get();
      HttpListener server = listening(port, () -> HealthServer.start(port, LoggedProbe.alive(this::illness),
          LoggedProbe.ready(this::unready)));
      synchronized (this) {
        health = server;
      }
    }
    if (settings.explainPort().isPresent()) {
      int port = settings.explainPort().get();
      HttpListener server = listening(port, () -> ExplanationServer.start(port, this::explain));
      synchronized (this) {
        explanations = server;
      }
    }
    view.start();
    if (settings.metrics().isPresent()) {
      ControllerSettings.MetricsEndpoint endpoint = settings.metrics().get();
      metrics.add(new ClusterMetrics(view, this::leads));
      metrics.add(new LeaderMetrics(this::leading));
      metrics.add(writes);
      MetricsServer server = listening(endpoint.port(),
          () -> MetricsServer.start(endpoint.port(), endpoint.readers(), client, metrics));
      synchronized (this) {
        metricsServer = server;
      }
    }
    if (settings.web().isPresent()) {
      int port = settings.web().get().port();
      HistoryStore store = stored.orElseThrow();
      store.recall();
      history.listen(store::recall);
      WebServer server = listening(port,
          () -> WebServer.start(port, client, view, this::leads, this::explain, history, clock));
      synchronized (this) {
        web = server;
      }
    }
    if (settings.webhook().isPresent()) {
      ControllerSettings.Webhook webhook = settings.webhook().get();
      AdmissionEndpoint endpoint =
          listening(webhook.port(), () -> new AdmissionEndpoint(client, view, new KnownClaims(client, view),
              webhook.names(), webhook.port(), new ReviewMetrics(metrics.registry())));
      synchronized (this) {
        admission = endpoint;
      }
    }
    settings
        .election()
        .ifPresentOrElse(
            election -> {
              Campaign.Terms terms =
                  new Campaign.Terms(
                      election.namespace(),
                      election.leaseName(),
                      settings.identity(),
                      election.leaseDuration(),
                      election.renewDeadline(),
                      election.retryPeriod());
              Campaign running = new Campaign(client, terms, this::begin, this::end);
              synchronized (this) {
                campaign = running;
              }
              running.start();
            },
            this::begin);
  }

  private interface Start<T> {
    T listening() throws IOException;
  }

  private static <T> T listening(int port, Start<T> start) throws IOException {
    try {
      return start.listening();
    } catch (IOException e) {
      throw new IOException("port " + port + " cannot be used: " + e.getMessage(), e);
    }
  }

  /**
   * What a restart would mend: a thread that hangs, a lock that is held too long, or threads that wait for each other.
   * An API server that does not answer is nothing of the kind.
   */
  private Optional<String> illness() {
    @Nullable Term now;
    @Nullable AdmissionEndpoint asked;
    synchronized (this) {
      now = term;
      asked = admission;
    }
    Optional<String> deciding = now == null ? Optional.empty() : now.stuck(MOST_AT_ONE);
    Optional<String> reviewing = asked == null ? Optional.empty() : asked.stuck(MOST_AT_ONE);
    return deciding.or(() -> reviewing).or(() -> view.problem(MOST_AT_ONE)).or(deadlocks);
  }

  /** Why it cannot be asked: it has not seen the cluster, or has no certificate to be asked with. */
  private Optional<String> unready() {
    @Nullable AdmissionEndpoint asked;
    synchronized (this) {
      asked = admission;
    }
    if (!view.isWatching()) {
      return Optional.of("not ready: the cluster is not followed yet");
    }
    return settings.webhook().isEmpty() || (asked != null && asked.isReady())
        ? Optional.empty()
        : Optional.of("not ready: there is no certificate for the webhooks");
  }

  private synchronized void begin() {
    if (!closed && term == null) {
      LOG.info("{} leads", settings.identity());
      term = new Term(client, view, clock, settings, writes, metrics.registry(), stored);
    }
  }

  private void end() {
    @Nullable Term ending;
    @Nullable Term closing;
    synchronized (this) {
      ending = term;
      closing = last;
      term = null;
    }
    if (closing != null) {
      closing.stopWriting(); // what it still writes would be written without the lease
    }
    if (ending != null) {
      ending.stopWriting();
      LOG.info("{} no longer leads", settings.identity());
      ending.close();
    }
  }

  /**
   * Stops: finishes what is being written, gives the lease back, ends every thread. API servers are answered until they
   * have learnt that it goes ({@link ControllerSettings.Webhook#drain}): what they ask of nobody, they let pass
   * unchanged.
   */
  @Override
  public void close() {
    long begin = System.nanoTime();
    @Nullable Campaign running;
    @Nullable HttpListener listening;
    @Nullable HttpListener explaining;
    @Nullable MetricsServer measured;
    @Nullable WebServer shown;
    @Nullable AdmissionEndpoint asked;
    @Nullable Term ending;
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
      running = campaign;
      listening = health;
      explaining = explanations;
      measured = metricsServer;
      shown = web;
      asked = admission;
      ending = term;
      last = term;
      term = null;
    }
    if (asked != null) {
      asked.drain();
    }
    try {
      if (ending != null) {
        ending.close(); // before the lease goes: nothing is written without it
      }
      if (running != null) {
        running.close();
      }
    } catch (RuntimeException e) {
      LOG.error("{} stops, and could not finish what it was writing", settings.identity(), e);
    }
    if (asked != null) {
      LOG.info("{} answers API servers until they know that it stops", settings.identity());
      asked.awaitDrained(settings.webhook().orElseThrow().drain(), Duration.ofNanos(System.nanoTime() - begin));
      asked.close();
    }
    if (explaining != null) {
      explaining.close();
    }
    if (measured != null) {
      measured.close();
    }
    if (shown != null) {
      shown.close();
    }
    if (listening != null) {
      listening.close();
    }
    view.close();
  }
}
