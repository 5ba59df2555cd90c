package dev.partita.plugin.claimstatus;

import dev.partita.api.Driver;
import dev.partita.plugin.claim.ClaimRef;
import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.kube.ApiCalls;
import io.fabric8.kubernetes.api.model.resource.v1.AllocatedDeviceStatus;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.time.Clock;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells a claim's user what happened to it, by the claim's device status and by events. Reports are written in order, after
 * the call that they report on has been answered: a container never waits for them, and they never make a preparation fail.
 */
public final class ClaimReports implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ClaimReports.class);
  private static final int PATCH_ATTEMPTS = 3;
  static final int MOST_REPEATS = 5;

  /** Of one claim: a tenant can do wrong in another way every second. */
  static final int MOST_WAITING = 8;

  private final KubernetesClient client;
  private final ApiCalls calls;
  private final ClaimEvents events;
  private final String nodeName;
  private final String pool;
  private final Clock clock;
  private final Duration firstRepeat;
  private final ExecutorService writer;

  /** How many reports of a claim wait to be repeated; the writer's alone. */
  private final Map<ClaimRef, Integer> waiting = new HashMap<>();

  public ClaimReports(KubernetesClient client, ApiCalls calls, String nodeName, Clock clock) {
    this(client, calls, nodeName, clock, Duration.ofMinutes(1));
  }

  /**
   * The same.
   *
   * @param firstRepeat how long after a report that was lost it is repeated; each time after that twice as long
   */
  ClaimReports(KubernetesClient client, ApiCalls calls, String nodeName, Clock clock, Duration firstRepeat) {
    this.client = client;
    this.calls = calls;
    this.events = new ClaimEvents(client, calls, nodeName, clock);
    this.nodeName = nodeName;
    this.pool = Driver.poolOf(nodeName);
    this.clock = clock;
    this.firstRepeat = firstRepeat;
    this.writer = Executors.newSingleThreadExecutor(Thread.ofPlatform().name("claim-reports").daemon().factory());
  }

  /** The claim is ready. */
  public void prepared(PreparedClaim claim) {
    later(claim.claim(), () -> writeStatusOverOthers(claim, Map.of()));
    later(claim.claim(), () -> events.normal(claim.claim(), "Prepared", ClaimWords.message(claim.grants(), nodeName)));
  }

  /**
   * How the claim is used.
   *
   * @param notes by share key
   */
  public void used(PreparedClaim claim, Map<String, DeviceNotes> notes) {
    later(claim.claim(), () -> writeStatusOverOthers(claim, notes));
  }

  /**
   * Something is wrong with how the claim is used. That is said once, so if the API server cannot be reached, it is tried again for half an
   * hour: who means harm could choose the moment.
   *
   * @param reason CamelCase
   */
  public void misused(ClaimRef claim, String reason, String note) {
    untilWritten(claim, () -> events.warning(claim, reason, note), 0);
  }

  /** The claim cannot be prepared; kubelet tries again. */
  public void failed(ClaimRef claim, String error) {
    later(claim, () -> events.warning(claim, "PrepareFailed", error));
  }

  /** The claim has been taken back. */
  public void released(ClaimRef claim) {
    later(claim, () -> events.normal(claim, "Released", "no longer prepared on " + nodeName));
  }

  /** Writes what is waiting, for at most 5 s. */
  @Override
  public void close() {
    writer.shutdown();
    try {
      if (!writer.awaitTermination(5, TimeUnit.SECONDS)) {
        writer.shutdownNow();
      }
    } catch (InterruptedException e) {
      writer.shutdownNow();
      Thread.currentThread().interrupt();
    }
  }

  /** The server refuses a patch whose tests no longer hold; then the claim is read again. */
  private void writeStatusOverOthers(PreparedClaim prepared, Map<String, DeviceNotes> notes) {
    for (int attempt = 1; ; attempt++) {
      try {
        calls.run(() -> writeStatus(prepared, notes));
        return;
      } catch (KubernetesClientException e) {
        if (attempt == PATCH_ATTEMPTS || !ApiCalls.isUnprocessable(e) || ApiCalls.isForbidden(e)) {
          throw e;
        }
      }
    }
  }

  private void writeStatus(PreparedClaim prepared, Map<String, DeviceNotes> notes) {
    ClaimRef ref = prepared.claim();
    ResourceClaim claim = client.resources(ResourceClaim.class).inNamespace(ref.namespace()).withName(ref.name()).get();
    if (claim == null
        || !ref.uid().equals(claim.getMetadata().getUid())
        || claim.getStatus() == null
        || claim.getStatus().getAllocation() == null) {
      LOG.info("claim {} is no longer allocated: its device status is not written", ref);
      return;
    }
    List<AllocatedDeviceStatus> wanted = new DeviceStatuses(claim, prepared, nodeName, clock.instant()).wanted(notes);
    List<Map<String, Object>> patch = StatusPatch.of(claim, wanted, pool);
    if (!patch.isEmpty()) {
      client
          .resource(claim)
          .subresource("status")
          .patch(PatchContext.of(PatchType.JSON), client.getKubernetesSerialization().asJson(patch));
    }
  }

  private void untilWritten(ClaimRef claim, Runnable report, int tries) {
    later(
        claim,
        () -> {
          try {
            report.run();
          } catch (KubernetesClientException e) {
            if (tries == MOST_REPEATS || !ApiCalls.mayPass(e) || waiting.getOrDefault(claim, 0) >= MOST_WAITING) {
              throw e;
            }
            LOG.info("claim {}: what happened to it cannot be reported now, another try follows: {}", claim, ApiCalls.explain(e));
            waiting.merge(claim, 1, Integer::sum);
            CompletableFuture.delayedExecutor(firstRepeat.toMillis() << tries, TimeUnit.MILLISECONDS, writer)
                .execute(
                    () -> {
                      waiting.computeIfPresent(claim, (c, count) -> count == 1 ? null : count - 1);
                      untilWritten(claim, report, tries + 1);
                    });
          }
        });
  }

  private void later(ClaimRef claim, Runnable report) {
    try {
      writer.execute(
          () -> {
            try {
              report.run();
            } catch (KubernetesClientException e) {
              explain(claim, e);
            } catch (RuntimeException e) {
              LOG.warn("claim {}: what happened to it cannot be reported: {}", claim, e.toString());
            }
          });
    } catch (RejectedExecutionException e) {
      LOG.debug("claim {}: no report, the plugin is stopping", claim);
    }
  }

  private void explain(ClaimRef claim, KubernetesClientException e) {
    if (ApiCalls.isNamespaceEnding(e)) {
      LOG.debug("claim {}: no report, its namespace is being deleted", claim);
    } else if (ApiCalls.isForbidden(e)) {
      LOG.error(
          "claim {}: the plugin may not report on it: {}. Its ServiceAccount needs patch on resourceclaims/status,"
              + " associated-node:patch on resourceclaims/driver for the resource name {}, and get, create and update on events"
              + " of events.k8s.io; the token must be bound to node {}",
          claim,
          e.getMessage(),
          Driver.NAME,
          nodeName);
    } else {
      LOG.warn("claim {}: what happened to it cannot be reported: {}", claim, ApiCalls.explain(e));
    }
  }
}
