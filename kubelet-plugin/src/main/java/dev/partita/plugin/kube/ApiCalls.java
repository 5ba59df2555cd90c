package dev.partita.plugin.kube;

import com.fasterxml.jackson.databind.JsonMappingException;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.github.resilience4j.core.IntervalFunction;
import io.github.resilience4j.retry.Retry;
import io.github.resilience4j.retry.RetryConfig;
import java.net.HttpURLConnection;
import java.time.Duration;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Repeats a call to the API server where another try can help: after a conflict, or when the server is overloaded,
 * fails or cannot be reached. The call must read anew whatever it depends on.
 */
public final class ApiCalls {
  private static final Logger LOG = LoggerFactory.getLogger(ApiCalls.class);
  private static final int UNPROCESSABLE = 422;
  private static final int TOO_MANY_REQUESTS = 429;

  private final Retry retry;

  public ApiCalls(Retry retry) {
    this.retry = retry;
  }

  /** Five tries within about 6 s, which leaves time in the 45 s that kubelet waits. */
  public static ApiCalls standard() {
    return new ApiCalls(
        Retry.of(
            "api",
            RetryConfig.custom()
                .maxAttempts(5)
                .intervalFunction(IntervalFunction.ofExponentialRandomBackoff(Duration.ofMillis(200), 2.2, 0.3))
                .retryOnException(ApiCalls::mayPass)
                .build()));
  }

  /** Calls until it succeeds, fails for good, or the tries are used up; throws the last failure. */
  public <T> T call(Supplier<T> call) {
    return retry.executeSupplier(
        () -> {
          try {
            return call.get();
          } catch (KubernetesClientException e) {
            LOG.debug("call to the API server failed", e);
            throw e;
          }
        });
  }

  /** The same for a call without a value. */
  public void run(Runnable call) {
    retry.executeRunnable(call);
  }

  /** Whether the object is not there, or not there any more. */
  public static boolean isNotFound(KubernetesClientException e) {
    return e.getCode() == HttpURLConnection.HTTP_NOT_FOUND;
  }

  /** Whether the object is there already, or has changed since it was read. */
  public static boolean isConflict(KubernetesClientException e) {
    return e.getCode() == HttpURLConnection.HTTP_CONFLICT;
  }

  /** Whether the server refuses because of missing rights; for a claim's status that is a 422 with the words in it. */
  public static boolean isForbidden(KubernetesClientException e) {
    return e.getCode() == HttpURLConnection.HTTP_FORBIDDEN
        || (e.getCode() == UNPROCESSABLE && String.valueOf(e.getMessage()).contains("is forbidden"));
  }

  /**
   * Whether the server understood the request and cannot do it to the object as it is, such as a patch whose test
   * fails.
   */
  public static boolean isUnprocessable(KubernetesClientException e) {
    return e.getCode() == UNPROCESSABLE;
  }

  /**
   * Whether nothing can be made any more in the object's namespace, for it is being deleted: the API server says so as
   * a refusal.
   */
  public static boolean isNamespaceEnding(KubernetesClientException e) {
    return e.getStatus() != null
        && e.getStatus().getDetails() != null
        && e.getStatus().getDetails().getCauses().stream()
            .anyMatch(cause -> "NamespaceTerminating".equals(cause.getReason()));
  }

  /** What went wrong in one line: the client's own words, and the cause that they often leave out. */
  public static String explain(KubernetesClientException e) {
    Throwable root = rootOf(e);
    return root == e ? String.valueOf(e.getMessage()) : e.getMessage() + " " + root;
  }

  private static Throwable rootOf(Throwable e) {
    Throwable root = e;
    while (root.getCause() != null) {
      root = root.getCause();
    }
    return root;
  }

  /** Whether there was an answer that has something else than it must in a field: it will have that again. */
  private static boolean isNotUnderstood(KubernetesClientException e) {
    return rootOf(e) instanceof JsonMappingException;
  }

  /** Whether another try can help, soon or later. */
  public static boolean mayPass(Throwable failure) {
    if (!(failure instanceof KubernetesClientException e)) {
      return false;
    }
    int code = e.getCode();
    return (code <= 0 && !isNotUnderstood(e)) // fabric8's code where there was no answer
        || isConflict(e)
        || code == TOO_MANY_REQUESTS
        || code >= HttpURLConnection.HTTP_INTERNAL_ERROR;
  }
}
