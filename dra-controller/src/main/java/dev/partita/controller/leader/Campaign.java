package dev.partita.controller.leader;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderCallbacks;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderElectionConfigBuilder;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderElector;
import io.fabric8.kubernetes.client.extended.leaderelection.resourcelock.LeaseLock;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Campaigns for a Lease as long as it lives: it leads, loses, and campaigns again. It gives the lease back on
 * {@link #close}.
 */
public final class Campaign implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Campaign.class);

  private final KubernetesClient client;
  private final Terms terms;
  private final Runnable begin;
  private final Runnable end;
  private final Thread thread;
  private volatile boolean closed;
  private volatile @Nullable CompletableFuture<?> term;

  /**
   * How the lease is held.
   *
   * @param namespace where the Lease is
   * @param name the Lease's name
   * @param identity who campaigns: unique among the instances
   * @param lease how long others wait before they take it over
   * @param renew how long a leader tries to renew before it gives up; shorter than the lease
   * @param retry pause between attempts
   */
  public record Terms(String namespace, String name, String identity, Duration lease, Duration renew, Duration retry) {}

  /**
   * @param begin called when this instance begins to lead
   * @param end called when it no longer does; must return soon
   */
  public Campaign(KubernetesClient client, Terms terms, Runnable begin, Runnable end) {
    this.client = client;
    this.terms = terms;
    this.begin = begin;
    this.end = end;
    this.thread = Thread.ofPlatform().name("campaign").daemon().unstarted(this::run);
  }

  public void start() {
    thread.start();
  }

  @Override
  public void close() {
    closed = true;
    @Nullable CompletableFuture<?> current = term;
    if (current != null) {
      current.cancel(true);
    }
    thread.interrupt();
    try {
      thread.join(Duration.ofSeconds(10));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void run() {
    while (!closed) {
      try {
        CompletableFuture<?> running = elector().start();
        term = running;
        if (closed) {
          running.cancel(true);
        }
        var _ = running.join();
      } catch (CancellationException e) {
        // closed
      } catch (CompletionException e) {
        LOG.warn("cannot run for lease {}/{}: {}", terms.namespace(), terms.name(), e.getMessage());
      } catch (RuntimeException e) {
        LOG.warn("cannot run for lease {}/{}", terms.namespace(), terms.name(), e);
      }
      if (!closed) {
        pause();
      }
    }
  }

  private void pause() {
    try {
      Thread.sleep(terms.retry());
    } catch (InterruptedException e) {
      // closed, or try at once
    }
  }

  private LeaderElector elector() {
    return client
        .leaderElector()
        .withConfig(
            new LeaderElectionConfigBuilder()
                .withName(terms.name())
                .withLock(new LeaseLock(terms.namespace(), terms.name(), terms.identity()))
                .withLeaseDuration(terms.lease())
                .withRenewDeadline(terms.renew())
                .withRetryPeriod(terms.retry())
                .withReleaseOnCancel(true)
                .withLeaderCallbacks(
                    new LeaderCallbacks(
                        begin, end,
                        leader -> LOG.info("lease {}/{} is held by {}", terms.namespace(), terms.name(), leader)))
                .build())
        .build();
  }
}
