package dev.partita.controller.edge;

import io.fabric8.kubernetes.client.KubernetesClientException;
import io.github.resilience4j.circuitbreaker.CallNotPermittedException;
import io.github.resilience4j.circuitbreaker.CircuitBreaker;
import io.github.resilience4j.core.IntervalFunction;
import io.github.resilience4j.retry.Retry;
import io.github.resilience4j.retry.RetryConfig;
import java.net.HttpURLConnection;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Makes every write to the API server, and the reads that belong to one. It refuses a call when this instance does not
 * lead, tries again when the server is busy or out of reach, and does not try for a while when the server keeps
 * failing: {@linkplain #in in that namespace}, for a webhook there may be what fails. Answers about the request itself
 * (conflict, invalid, forbidden, not found) go to the caller at once.
 */
public final class ApiEdge {
  private static final int TOO_MANY_REQUESTS = 429;
  private static final int UNPROCESSABLE = 422;

  /** For so long no request is sent once they keep failing. */
  public static final Duration PAUSE = Duration.ofSeconds(5);

  /** For how long at most calls in the background let others go first. */
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private final Retry retry;
  private final Breakers breakers;
  private final CircuitBreaker breaker;
  private final BooleanSupplier leads;
  private final WriteOutcomes outcomes;
  private final WritePriority way;
  private final WritePriority.Turn turn;

  /**
   * @param leads asked before every attempt
   */
  public ApiEdge(BooleanSupplier leads) {
    this(leads, WriteOutcomes.IGNORED);
  }

  /**
   * The same, of which somebody learns how writes end.
   *
   * @param leads asked before every attempt
   */
  public ApiEdge(BooleanSupplier leads, WriteOutcomes outcomes) {
    this.leads = leads;
    this.outcomes = outcomes;
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
    this.breakers = new Breakers("api");
    this.breaker = breakers.ofCluster();
  }

  private ApiEdge(ApiEdge other, WritePriority.Turn turn, Breakers breakers, CircuitBreaker breaker) {
    this.retry = other.retry;
    this.breakers = breakers;
    this.breaker = breaker;
    this.leads = other.leads;
    this.outcomes = other.outcomes;
    this.way = other.way;
    this.turn = turn;
  }

  /**
   * The same for calls that nobody waits for, such as notes to people: they are made when none of the others is under
   * way, or when there has been one without a pause for {@link #PATIENCE}. When they keep failing, as where somebody's
   * webhook for events does not answer, only they pause.
   */
  public ApiEdge background() {
    return isolated("background", way.second());
  }

  /**
   * The same for calls of one kind that may keep failing by themselves, as where somebody's webhook for pods does not
   * answer: only they pause then.
   *
   * @param name of the kind
   */
  public ApiEdge isolated(String name) {
    return isolated(name, turn);
  }

  private ApiEdge isolated(String name, WritePriority.Turn other) {
    Breakers own = new Breakers("api-" + name);
    return new ApiEdge(this, other, own, own.ofCluster());
  }

  /**
   * The same for calls to objects of a namespace: when they keep failing, as where a webhook for that namespace does
   * not answer, only they pause.
   *
   * @param namespace null for objects of none
   */
  public ApiEdge in(@Nullable String namespace) {
    return new ApiEdge(this, turn, breakers,
        namespace == null ? breakers.ofCluster() : breakers.ofNamespace(namespace));
  }

  /**
   * Makes a write.
   *
   * @throws NotLeadingException if this instance does not lead; nothing was sent then
   * @throws KubernetesClientException what the server said, or that it could not be reached
   * @throws CallNotPermittedException while the server keeps failing
   */
  public <T> T write(WriteKind what, Supplier<T> request) {
    return write(what, request, answer -> true);
  }

  /**
   * The same for one whose answer can be a refusal.
   *
   * @param isDone whether by this answer it is done
   */
  public <T> T write(WriteKind what, Supplier<T> request, Predicate<T> isDone) {
    try {
      T answer = read(request);
      outcomes.ended(what, isDone.test(answer) ? WriteOutcome.DONE : WriteOutcome.REFUSED);
      return answer;
    } catch (RuntimeException e) {
      outcomes.ended(what, outcome(e));
      throw e;
    }
  }

  private static WriteOutcome outcome(RuntimeException problem) {
    if (isNotSent(problem)) {
      return WriteOutcome.NOT_SENT;
    }
    if (!(problem instanceof KubernetesClientException e) || isTransient(e)) {
      return WriteOutcome.FAILED;
    }
    return switch (e.getCode()) {
      case HttpURLConnection.HTTP_CONFLICT -> WriteOutcome.CONFLICT;
      case HttpURLConnection.HTTP_NOT_FOUND -> WriteOutcome.NOT_FOUND;
      case UNPROCESSABLE -> WriteOutcome.INVALID;
      default -> WriteOutcome.REFUSED;
    };
  }

  /** Makes a call that changes nothing, in the same way. */
  public <T> T read(Supplier<T> request) {
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

  /** Whether the request was not made: this instance does not lead, or such requests pause, for they kept failing. */
  public static boolean isNotSent(Throwable problem) {
    return problem instanceof NotSentException || problem instanceof CallNotPermittedException;
  }

  /** Whether it says nothing of the request: the API server did not answer, or could not. */
  public static boolean isTransient(Throwable problem) {
    return problem instanceof KubernetesClientException e
        && (e.getCode() == 0 || e.getCode() == TOO_MANY_REQUESTS
            || e.getCode() >= HttpURLConnection.HTTP_INTERNAL_ERROR);
  }

  /** The caller has found, before a try, that the write is out of date: nothing was sent. */
  public static class NotSentException extends RuntimeException {
    public NotSentException(String why) {
      super(why);
    }
  }

  /** This instance does not lead, so that nothing was sent: another one does, or none. */
  public static final class NotLeadingException extends NotSentException {
    NotLeadingException() {
      super("this instance does not lead");
    }
  }
}
