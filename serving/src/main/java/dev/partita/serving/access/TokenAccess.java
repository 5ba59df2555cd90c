package dev.partita.serving.access;

import io.fabric8.kubernetes.api.model.authentication.TokenReview;
import io.fabric8.kubernetes.api.model.authentication.TokenReviewBuilder;
import io.fabric8.kubernetes.api.model.authentication.UserInfo;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Says what whoever shows a bearer token may: the API server says whose the token is (TokenReview), and a judge what
 * that user may. What was said holds for a minute.
 *
 * <p>Whoever reaches the port can send tokens that nobody knows, each of which costs the API server a request. So only
 * so many are asked about at a time and in a minute; others are told to come again. A token that was allowed before is
 * asked about whatever strangers send.
 *
 * @param <U> what is known of a user who is let in
 */
public final class TokenAccess<U> {
  /** How many tokens that are not known as readers' are asked about in a minute. */
  public static final int STRANGERS_A_MINUTE = 120;

  private static final Duration HOLDS = Duration.ofMinutes(1);

  private static final Logger LOG = LoggerFactory.getLogger(TokenAccess.class);

  /** Readers of one process are a few Prometheus servers, whose tokens change every hour, and people. */
  private static final int MOST_KNOWN = 64;

  private static final Duration READER_FOR = Duration.ofHours(2);
  private static final int AT_ONCE = 2;

  private final KubernetesClient client;
  private final String what;
  private final Function<UserInfo, Verdict<U>> judge;
  private final InstantSource clock;
  private final Semaphore underWay = new Semaphore(AT_ONCE);
  private final Map<String, Answer<U>> answers = new LinkedHashMap<>(); // by the token's digest, the last used last
  private Instant minute = Instant.MIN;
  private int strangers;

  private record Answer<U>(Verdict<U> verdict, Instant at) {}

  /**
   * Asks that API server.
   *
   * @param what is to be read, for people, such as {@code /metrics}
   * @param judge what a user may; may throw what its requests throw
   */
  public TokenAccess(KubernetesClient client, String what, Function<UserInfo, Verdict<U>> judge, InstantSource clock) {
    this.client = client;
    this.what = what;
    this.judge = judge;
    this.clock = clock;
  }

  /**
   * Decides about one request.
   *
   * @param token what it carries as bearer token; empty if it carries none
   */
  public Verdict<U> of(Optional<String> token) {
    if (token.isEmpty()) {
      return new Verdict.Unknown<>("a bearer token is needed, of a user who may get " + what);
    }
    String digest = digest(token.get());
    Instant now = clock.instant();
    Optional<Answer<U>> known = known(digest, now);
    if (known.isPresent() && holds(known.get().at(), now)) {
      return known.get().verdict();
    }
    boolean reader = known.isPresent() && known.get().verdict() instanceof Verdict.Allowed<?>;
    if (!reader && !admitStranger(now)) {
      return new Verdict.Undecided<>("too many unknown tokens were sent in this minute; try again");
    }
    return ask(token.get(), digest, reader, now);
  }

  private Verdict<U> ask(String token, String digest, boolean reader, Instant now) {
    if (!reader && !underWay.tryAcquire()) {
      return new Verdict.Undecided<>("other tokens are being asked about; try again");
    }
    try {
      Verdict<U> verdict = review(token);
      remember(digest, new Answer<>(verdict, now));
      return verdict;
    } catch (KubernetesClientException e) {
      LOG.warn("cannot ask the API server who may read {}: {}", what, e.getMessage());
      return new Verdict.Undecided<>("the API server does not say who may read this: " + e.getMessage());
    } finally {
      if (!reader) {
        underWay.release();
      }
    }
  }

  private Verdict<U> review(String token) {
    TokenReview asked =
        new TokenReviewBuilder().withNewMetadata().endMetadata().withNewSpec().withToken(token).endSpec().build();
    TokenReview review = client.tokenReviews().create(asked);
    if (review.getStatus() == null || !Boolean.TRUE.equals(review.getStatus().getAuthenticated())) {
      return new Verdict.Unknown<>("the API server does not know this token");
    }
    return judge.apply(review.getStatus().getUser());
  }

  /** Whether what is of that time holds still; not what was dated by a clock that was ahead and has been put right. */
  private static boolean holds(Instant at, Instant now) {
    return !now.isBefore(at) && now.isBefore(at.plus(HOLDS));
  }

  private synchronized boolean admitStranger(Instant now) {
    if (!holds(minute, now)) {
      minute = now;
      strangers = 0;
    }
    return ++strangers <= STRANGERS_A_MINUTE;
  }

  private synchronized Optional<Answer<U>> known(String digest, Instant now) {
    answers.values().removeIf(answer -> now.isAfter(answer.at().plus(keptFor(answer))));
    Optional<Answer<U>> answer = Optional.ofNullable(answers.remove(digest));
    answer.ifPresent(found -> answers.put(digest, found));
    return answer;
  }

  /** Of refused tokens at most as many are kept as of those allowed; strangers never push a reader out. */
  private synchronized void remember(String digest, Answer<U> answer) {
    answers.remove(digest);
    boolean allowed = answer.verdict() instanceof Verdict.Allowed<?>;
    long alike = answers.values().stream().filter(a -> a.verdict() instanceof Verdict.Allowed<?> == allowed).count();
    if (alike >= MOST_KNOWN) {
      answers.entrySet().stream().filter(e -> e.getValue().verdict() instanceof Verdict.Allowed<?> == allowed)
          .findFirst().map(Map.Entry::getKey).ifPresent(answers::remove);
    }
    answers.put(digest, answer);
  }

  private static Duration keptFor(Answer<?> answer) {
    return answer.verdict() instanceof Verdict.Allowed<?> ? READER_FOR : HOLDS;
  }

  /** Tokens themselves are not kept. */
  private static String digest(String token) {
    try {
      return HexFormat.of()
          .formatHex(MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.UTF_8)));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }
}
