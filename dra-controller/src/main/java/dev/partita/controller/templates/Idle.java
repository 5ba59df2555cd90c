package dev.partita.controller.templates;

import dev.partita.controller.watch.ObjectKey;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;

/**
 * Keeps since when templates have been unused, as far as this term of leadership has seen. A Deployment's pods come and
 * go, and its template is not to come and go with them. For one thread.
 */
final class Idle {
  private record Since(String uid, Instant when) {}

  private final Duration grace;
  private final Map<ObjectKey, Since> since = new HashMap<>();

  /**
   * @param grace how long a template is kept for nobody
   */
  Idle(Duration grace) {
    this.grace = grace;
  }

  /** The template is unused now. Gives how much longer it is kept; nothing or less: its time is over. */
  Duration left(ObjectKey template, String uid, Instant now) {
    Since begun = since.compute(template,
        (key, before) -> before != null && before.uid().equals(uid) ? before : new Since(uid, now));
    return Duration.between(now, begun.when().plus(grace));
  }

  /** The template is used, or gone. */
  void forget(ObjectKey template) {
    since.remove(template);
  }
}
