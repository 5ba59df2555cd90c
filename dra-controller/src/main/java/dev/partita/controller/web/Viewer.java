package dev.partita.controller.web;

import dev.partita.api.Driver;
import dev.partita.controller.lru.LruMap;
import dev.partita.controller.web.view.Sight;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * A user who looks at the page, and what he may see: what the API server would let him list. What was answered holds
 * for {@link #HOLDS}. Then it is asked anew, a bounded number for each look and those first that were asked longest
 * ago; until its turn comes the answer before counts, for at most {@link #LASTS} and only for who keeps looking. For
 * any thread.
 */
final class Viewer {
  /** Namespaces whose claims or pods are asked about for one answer; the next answer asks about others. */
  static final int MOST_REVIEWS = 100;

  static final Duration HOLDS = Duration.ofMinutes(1);
  static final Duration LASTS = Duration.ofMinutes(5);

  /** Of those for one answer; the others are left for what is not known yet. */
  private static final int MOST_RENEWED = MOST_REVIEWS / 2;

  /** How long one answer waits for reviews, and for those that renew what is known. */
  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static final Duration PATIENCE_TO_RENEW = PATIENCE.dividedBy(2);

  private static final int MOST_KNOWN = 8_192;
  private static final String EVERYWHERE = "";
  private static final String RESOURCE_GROUP = "resource.k8s.io";
  private static final String EVENTS = "events";
  private static final List<String> EVENT_GROUPS = List.of("events.k8s.io", "");

  private final String name;
  private final Review review;
  private final InstantSource clock;
  private final Map<Right, Known> known = new LruMap<>(MOST_KNOWN);

  /** Asks the API server about the user. */
  interface Review {
    /** @throws KubernetesClientException if it does not say */
    boolean mayList(String group, String resource, String namespace);
  }

  /** To list a resource. */
  private record Right(String group, String resource, String namespace) {}

  /**
   * What was answered.
   *
   * @param asked when
   * @param wanted by which look last
   */
  private record Known(boolean allowed, Instant asked, Instant wanted) {
    private boolean isOld(Instant now) {
      return !now.isBefore(asked.plus(HOLDS));
    }

    private boolean isOver(Instant now) {
      return now.isBefore(asked) || !now.isBefore(asked.plus(LASTS))
          || (isOld(now) && !now.isBefore(wanted.plus(HOLDS)));
    }
  }

  /** @param name the user's */
  Viewer(String name, Review review, InstantSource clock) {
    this.name = name;
    this.review = review;
    this.clock = clock;
  }

  /** What is to be asked anew when it is wanted, of what is known. */
  private Set<Right> due(Instant now) {
    synchronized (known) {
      known.values().removeIf(answer -> answer.isOver(now));
      return known.entrySet().stream().filter(entry -> entry.getValue().isOld(now))
          .sorted(Comparator.comparing(entry -> entry.getValue().asked())).limit(MOST_RENEWED)
          .map(Map.Entry::getKey).collect(Collectors.toCollection(HashSet::new));
    }
  }

  private Optional<Boolean> wanted(Right right, Instant now) {
    synchronized (known) {
      return Optional.ofNullable(known.computeIfPresent(right,
          (_, answer) -> answer.wanted().equals(now) ? answer : new Known(answer.allowed(), answer.asked(), now)))
          .map(Known::allowed);
    }
  }

  private void note(Right right, boolean allowed, Instant now) {
    synchronized (known) {
      known.put(right, new Known(allowed, now, now));
    }
  }

  /** What he may see, for one answer. */
  Look look() {
    return new Look();
  }

  /** Asks about a bounded number of namespaces; of the others nothing is shown. For one thread. */
  final class Look implements Sight {
    private final Instant now = clock.instant();
    private final Set<Right> due = due(now);
    private int left = MOST_REVIEWS;
    private boolean complete = true;
    private long waited;
    private long reviewed;

    private Look() {}

    /** The user's. */
    String name() {
      return name;
    }

    /** Notes that since then, by System.nanoTime, others were at work on this answer. */
    void waitedSince(long begin) {
      waited += System.nanoTime() - begin;
    }

    /** How long others were, in ns: meanwhile this process did nothing for it. */
    long waited() {
      return waited;
    }

    /** Whether all that was asked was answered. */
    boolean isComplete() {
      return complete;
    }

    @Override
    public boolean nodes() {
      return may(Driver.NAME, "gpunodes", EVERYWHERE);
    }

    @Override
    public boolean quotas() {
      return may(Driver.NAME, "gpuquotas", EVERYWHERE);
    }

    @Override
    public boolean claimsOf(String namespace) {
      return may(RESOURCE_GROUP, "resourceclaims", EVERYWHERE)
          || may(RESOURCE_GROUP, "resourceclaims", namespace);
    }

    @Override
    public boolean podsOf(String namespace) {
      return may("", "pods", EVERYWHERE) || may("", "pods", namespace);
    }

    /** By either of the groups under which the API server shows events: the built-in role view has the core's. */
    boolean eventsOf(String namespace) {
      return EVENT_GROUPS.stream().anyMatch(group -> may(group, EVENTS, EVERYWHERE) || may(group, EVENTS, namespace));
    }

    private boolean may(String group, String resource, String namespace) {
      Right right = new Right(group, resource, namespace);
      Optional<Boolean> before = wanted(right, now);
      if (before.isPresent() && !(due.contains(right) && isTimeFor(PATIENCE_TO_RENEW))) {
        return before.get();
      }
      if (!isTimeFor(PATIENCE)) {
        complete = false;
        return false;
      }
      left--;
      due.remove(right);
      long begin = System.nanoTime();
      try {
        boolean allowed = review.mayList(group, resource, namespace);
        note(right, allowed, now);
        return allowed;
      } finally {
        reviewed += System.nanoTime() - begin;
        waitedSince(begin);
      }
    }

    private boolean isTimeFor(Duration most) {
      return left > 0 && reviewed < most.toNanos();
    }
  }
}
