package dev.partita.controller.web;

import dev.partita.api.Driver;
import dev.partita.controller.lru.LruMap;
import dev.partita.controller.web.view.Sight;
import dev.partita.serving.access.AccessReview;
import io.fabric8.kubernetes.api.model.authentication.UserInfo;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A user who looks at the page, and what he may see: what the API server would let him list. What was asked once holds
 * as long as this object is kept, a minute. For any thread.
 */
final class Viewer {
  /** Namespaces whose claims or pods are asked about for one answer; the next answer asks about others. */
  static final int MOST_REVIEWS = 100;

  private static final int MOST_KNOWN = 8_192;
  private static final String EVERYWHERE = "";
  private static final String RESOURCE_GROUP = "resource.k8s.io";
  private static final String EVENTS = "events";
  private static final List<String> EVENT_GROUPS = List.of("events.k8s.io", "");

  private final AccessReview review;
  private final UserInfo user;
  private final Map<Right, Boolean> known = new LruMap<>(MOST_KNOWN);

  /** To list a resource. */
  private record Right(String group, String resource, String namespace) {}

  Viewer(AccessReview review, UserInfo user) {
    this.review = review;
    this.user = user;
  }

  private @Nullable Boolean known(Right right) {
    synchronized (known) {
      return known.get(right);
    }
  }

  private void note(Right right, boolean allowed) {
    synchronized (known) {
      known.put(right, allowed);
    }
  }

  /** What he may see, for one answer. */
  Look look() {
    return new Look();
  }

  /** Asks about a bounded number of namespaces; of the others nothing is shown. For one thread. */
  final class Look implements Sight {
    private int left = MOST_REVIEWS;
    private boolean complete = true;
    private long waited;

    private Look() {}

    /** The user's. */
    String name() {
      return user.getUsername();
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
      @Nullable Boolean before = known(right);
      if (before != null) {
        return before;
      }
      if (left == 0) {
        complete = false;
        return false;
      }
      left--;
      long begin = System.nanoTime();
      try {
        boolean now = review.mayList(user, group, resource, namespace);
        note(right, now);
        return now;
      } finally {
        waitedSince(begin);
      }
    }
  }
}
