package dev.partita.controller.edge;

import io.fabric8.kubernetes.client.KubernetesClientException;
import io.github.resilience4j.circuitbreaker.CircuitBreaker;
import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig;
import io.github.resilience4j.core.IntervalFunction;
import io.github.resilience4j.retry.Retry;
import io.github.resilience4j.retry.RetryConfig;
import java.net.HttpURLConnection;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * Makes every write to the API server. It refuses a write when this instance does not lead, tries again when the server
 * is busy or out of reach, and does not try for a while when the server keeps failing. Answers about the request itself
 * (conflict, invalid, forbidden, not found) go to the caller at once.
 */
public final class ApiEdge {
  private static final int TOO_MANY_REQUESTS = 429;

  /** For how long at most calls in the background let others go first. */
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private final Retry retry;
  private final CircuitBreaker breaker;
  private final BooleanSupplier leads;
  private final WritePriority way;
  private final WritePriority.Turn turn;

  /**
   * @param leads asked before every attempt
   */
  public ApiEdge(BooleanSupplier leads) {
    this.leads = leads;
    this.way = new WritePriority(PATIENCE);
    this.turn = way.first();
    this.retry =
        Retry.of(
            "api",
            RetryConfig.custom()
                .maxAttempts(4)
                .intervalFunction(IntervalFunction.ofExponentialRandomBackoff(Duration.ofMillis(200), 2.0, 0.5))
                .retryOnException(ApiEdge::isTransient)
                .build());
    this.breaker = breaker("api");
  }

  private ApiEdge(ApiEdge other, WritePriority.Turn turn, String name) {
    this.retry = other.retry;
    this.breaker = breaker(name);
    this.leads = other.leads;
    this.way = other.way;
    this.turn = turn;
  }

  private static CircuitBreaker breaker(String name) {
    return CircuitBreaker.of(
        name,
        CircuitBreakerConfig.custom()
            .slidingWindowSize(20)
            .minimumNumberOfCalls(10)
            .failureRateThreshold(60)
            .waitDurationInOpenState(Duration.ofSeconds(5))
            .recordException(ApiEdge::isTransient)
            .build());
  }

  /**
   * The same for calls that nobody waits for, such as notes to people: they are made when none of the others is under
   * way, or when there has been one without a pause for {@link #PATIENCE}. When they keep failing, as where somebody's
   * webhook for events does not answer, only they pause.
   */
  public ApiEdge background() {
    return new ApiEdge(this, way.second(), "api-background");
  }

  /**
   * The same for calls of one kind that may keep failing by themselves: only they pause then.
   *
   * @param name of the kind
   */
  public ApiEdge isolated(String name) {
    return new ApiEdge(this, turn, "api-" + name);
  }

  /**
   * Makes the call.
   *
   * @throws NotLeadingException if this instance does not lead; nothing was sent then
   * @throws KubernetesClientException what the server said, or that it could not be reached
   * @throws io.github.resilience4j.circuitbreaker.CallNotPermittedException while the server keeps failing
   */
  public <T> T call(Supplier<T> request) {
    Supplier<T> fenced =
        () -> {
          if (!leads.getAsBoolean()) {
            throw new NotLeadingException();
          }
          return request.get();
        };
    turn.begin();
    try {
      return Retry.decorateSupplier(retry, CircuitBreaker.decorateSupplier(breaker, fenced)).get();
    } finally {
      turn.end();
    }
  }

  public static boolean isConflict(Throwable problem) {
    return problem instanceof KubernetesClientException e && e.getCode() == HttpURLConnection.HTTP_CONFLICT;
  }

  public static boolean isNotFound(Throwable problem) {
    return problem instanceof KubernetesClientException e && e.getCode() == HttpURLConnection.HTTP_NOT_FOUND;
  }

  /**
   * Whether nothing can be made any more in the object's namespace, for it is being deleted: the API server says so as
   * a refusal.
   */
  public static boolean isNamespaceEnding(Throwable problem) {
    return problem instanceof KubernetesClientException e
        && e.getStatus() != null
        && e.getStatus().getDetails() != null
        && e.getStatus().getDetails().getCauses().stream()
            .anyMatch(cause -> "NamespaceTerminating".equals(cause.getReason()));
  }

  private static boolean isTransient(Throwable problem) {
    return problem instanceof KubernetesClientException e
        && (e.getCode() == 0 || e.getCode() == TOO_MANY_REQUESTS
            || e.getCode() >= HttpURLConnection.HTTP_INTERNAL_ERROR);
  }

  /** Another instance leads, or none. */
  public static final class NotLeadingException extends RuntimeException {
    NotLeadingException() {
      super("this instance does not lead");
    }
  }
}
