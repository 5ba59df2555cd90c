package dev.partita.controller.watch;

import io.fabric8.kubernetes.client.KubernetesClientException;
import java.net.HttpURLConnection;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/** A kind that the API server may not serve yet. Its informer keeps trying. */
final class OptionalKind {
  private static final Logger LOG = LoggerFactory.getLogger(OptionalKind.class);

  private final String name;
  private final Level level;
  private final String missingWords;
  private final CompletableFuture<@Nullable Void> foundMissing = new CompletableFuture<>();
  private volatile boolean missing;

  /**
   * @param name plural and group
   * @param level of the log line that says that it is missing
   * @param missingWords the rest of that line: what does not happen as long as it is, and what to do
   */
  private OptionalKind(String name, Level level, String missingWords) {
    this.name = name;
    this.level = level;
    this.missingWords = missingWords;
  }

  /**
   * A kind of our own. Helm installs CustomResourceDefinitions with a release and never again, so a release that was
   * upgraded may lack those that came later.
   *
   * @param without what does not happen as long as it is missing
   */
  static OptionalKind ofOurs(String name, String without) {
    return new OptionalKind(name, Level.WARN,
        "the CustomResourceDefinition is missing: " + without + ". Helm does not upgrade definitions: kubectl apply"
            + " --server-side --force-conflicts -f crds/ of the chart adds it, and is noticed without a restart");
  }

  /**
   * A kind of Kubernetes' that came with a release.
   *
   * @param release such as 1.37
   * @param without what does not happen as long as it is missing
   */
  static OptionalKind ofKubernetes(String name, String release, String without) {
    return new OptionalKind(name, Level.INFO,
        "the API server does not serve it, as those of Kubernetes " + release + " do: " + without);
  }

  /**
   * Takes what its informer's start gives.
   *
   * @return complete when the kind has been listed once, or has been found missing
   */
  CompletableFuture<?> started(CompletableFuture<?> start) {
    return CompletableFuture.anyOf(start.thenRun(this::markServed), foundMissing);
  }

  /** Takes that it is served, after all. */
  void markServed() {
    if (missing) {
      missing = false;
      LOG.info("{} exists now", name);
    }
  }

  /** Takes what its informer failed with. Gives whether that was because the kind is missing; then it has been said. */
  boolean markIfMissing(Throwable problem) {
    for (@Nullable Throwable cause = problem; cause != null; cause = cause.getCause()) {
      if (cause instanceof KubernetesClientException refused && refused.getCode() == HttpURLConnection.HTTP_NOT_FOUND) {
        if (!missing) {
          missing = true;
          LOG.atLevel(level).log("{}: {}", name, missingWords);
        }
        foundMissing.complete(null);
        return true;
      }
    }
    return false;
  }

  /**
   * Whether it was missing when it was last asked for. API servers of two releases may answer in turn while a control
   * plane is upgraded: then it goes and comes.
   *
   * @param isWatched whether its informer watches it now, which takes that it is served
   */
  boolean isMissing(boolean isWatched) {
    if (isWatched) {
      markServed();
    }
    return missing;
  }
}
