package dev.partita.controller;

import dev.partita.controller.health.HealthServer;
import dev.partita.controller.leader.Campaign;
import dev.partita.controller.watch.ClusterView;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.time.Clock;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The controller, running. It watches from the start, and writes while it leads: it publishes slices and classes, and
 * allocates claims. When it loses the lease it stops writing at once and campaigns again.
 */
public final class DraController implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(DraController.class);

  private final ControllerSettings settings;
  private final KubernetesClient client;
  private final ClusterView view;
  private @Nullable HealthServer health;
  private @Nullable Campaign campaign;
  private @Nullable Term term;
  private boolean closed;

  private DraController(ControllerSettings settings, KubernetesClient client) {
    this.settings = settings;
    this.client = client;
    this.view = new ClusterView(client);
  }

  /**
   * Starts a controller, and returns when it has seen the cluster once.
   *
   * @param client stays the caller's: it is not closed
   * @throws IOException if the health port cannot be had
   */
  public static DraController start(ControllerSettings settings, KubernetesClient client) throws IOException {
    DraController controller = new DraController(settings, client);
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
    return Optional.ofNullable(health).map(HealthServer::port);
  }

  /** Whether this instance publishes and allocates now. */
  public synchronized boolean leads() {
    return term != null;
  }

  private void start() throws IOException {
    if (settings.healthPort().isPresent()) {
      HealthServer server = HealthServer.start(settings.healthPort().get(), () -> true, view::isWatching);
      synchronized (this) {
        health = server;
      }
    }
    view.start();
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

  private synchronized void begin() {
    if (!closed && term == null) {
      LOG.info("{} leads", settings.identity());
      term = new Term(client, view, Clock.systemUTC(), settings.identity());
    }
  }

  private void end() {
    @Nullable Term ending;
    synchronized (this) {
      ending = term;
      term = null;
    }
    if (ending != null) {
      ending.stopWriting();
      LOG.info("{} no longer leads", settings.identity());
      ending.close();
    }
  }

  /** Stops: finishes what is being written, gives the lease back, ends every thread. */
  @Override
  public void close() {
    @Nullable Campaign running;
    @Nullable HealthServer listening;
    @Nullable Term ending;
    synchronized (this) {
      closed = true;
      running = campaign;
      listening = health;
      ending = term;
      term = null;
    }
    if (ending != null) {
      ending.close(); // before the lease goes: nothing is written without it
    }
    if (running != null) {
      running.close();
    }
    if (listening != null) {
      listening.close();
    }
    view.close();
  }
}
