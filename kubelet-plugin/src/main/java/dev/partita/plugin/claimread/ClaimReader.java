package dev.partita.plugin.claimread;

import dev.partita.plugin.grant.ClaimRef;
import dev.partita.plugin.kube.ApiCalls;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Reads claims and pods from the API server, a few at a time, and repeats a call where that can help. An object may
 * have 1.5 MiB, and takes some times as much while it is read.
 */
public final class ClaimReader {
  /** More answers of that size at once would not fit into the plugin's memory. */
  static final int AT_ONCE = 4;

  /**
   * For so long a call waits for others, in all its tries: as long as one try takes at most, so that callers do not
   * pile up where the API server does not answer.
   */
  private static final Duration PATIENCE = Duration.ofSeconds(15);

  private final KubernetesClient client;
  private final ApiCalls calls;
  private final Semaphore free = new Semaphore(AT_ONCE, true);

  public ClaimReader(KubernetesClient client, ApiCalls calls) {
    this.client = client;
    this.calls = calls;
  }

  /** The claim; empty if it is gone, or another one has its name. */
  public Optional<ResourceClaim> claim(ClaimRef claim) {
    return claim(claim.namespace(), claim.name()).filter(found -> claim.uid().equals(found.getMetadata().getUid()));
  }

  /** The claim of this name. */
  public Optional<ResourceClaim> claim(String namespace, String name) {
    return read(() -> client.resources(ResourceClaim.class).inNamespace(namespace).withName(name).get());
  }

  public Optional<Pod> pod(String namespace, String name) {
    return read(() -> client.pods().inNamespace(namespace).withName(name).get());
  }

  /** Between two tries others have their turn: a call that fails again and again keeps nobody waiting meanwhile. */
  private <T> Optional<T> read(Supplier<@Nullable T> reading) {
    long until = System.nanoTime() + PATIENCE.toNanos();
    return Optional.ofNullable(calls.<@Nullable T>call(() -> {
      awaitTurn(until);
      try {
        return reading.get();
      } finally {
        free.release();
      }
    }));
  }

  /** @param until by {@link System#nanoTime} */
  private void awaitTurn(long until) {
    try {
      if (free.tryAcquire(until - System.nanoTime(), TimeUnit.NANOSECONDS)) {
        return;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new KubernetesClientException("the plugin is stopping", e);
    }
    throw new KubernetesClientException("the plugin has waited for " + PATIENCE.toSeconds() + " s for "
        + AT_ONCE + " other reads, which the API server has not answered");
  }
}
