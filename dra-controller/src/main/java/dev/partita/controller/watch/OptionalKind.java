package dev.partita.controller.watch;

import io.fabric8.kubernetes.client.KubernetesClientException;
import java.net.HttpURLConnection;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A kind that the cluster may not know yet. Helm installs CustomResourceDefinitions with a release and never again, so
 * a release that was upgraded may lack those that came later. Its informer keeps trying.
 */
final class OptionalKind {
  private static final Logger LOG = LoggerFactory.getLogger(OptionalKind.class);

  private final String name;
  private final String without;
  private final CompletableFuture<@Nullable Void> foundMissing = new CompletableFuture<>();
  private volatile boolean missing;

  /**
   * @param name of its CustomResourceDefinition
   * @param without what does not happen as long as it is missing
   */
  OptionalKind(String name, String without) {
    this.name = name;
    this.without = without;
  }

  /**
   * Takes what its informer's start gives.
   *
   * @return complete when the kind has been listed once, or has been found missing
   */
  CompletableFuture<?> started(CompletableFuture<?> start) {
    return CompletableFuture.anyOf(start.thenRun(this::isListed), foundMissing);
  }

  private void isListed() {
    if (missing) {
      missing = false;
      LOG.info("{} exists now", name);
    }
  }

  /** Takes what its informer failed with. Gives whether that was because the kind is missing; then it has been said. */
  boolean isMissing(Throwable problem) {
    for (@Nullable Throwable cause = problem; cause != null; cause = cause.getCause()) {
      if (cause instanceof KubernetesClientException refused && refused.getCode() == HttpURLConnection.HTTP_NOT_FOUND) {
        if (!missing) {
          missing = true;
          LOG.warn(
              "the CustomResourceDefinition {} is missing: {}. Helm does not upgrade definitions: kubectl apply --server-side --force-conflicts"
                  + " -f crds/ of the chart adds it, and is noticed without a restart",
              name,
              without);
        }
        foundMissing.complete(null);
        return true;
      }
    }
    return false;
  }

  /** Whether it was missing when it was last asked for. */
  boolean isMissing() {
    return missing;
  }
}
