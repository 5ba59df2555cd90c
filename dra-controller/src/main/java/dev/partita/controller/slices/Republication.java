package dev.partita.controller.slices;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Says how soon a pool that somebody deleted may be published again. kubelet deletes slices when it starts and when the
 * plugin is gone. For somebody else who does so again and again the pause grows, so that there is no fight. For one
 * thread.
 */
final class Republication {
  static final Duration FIRST_PAUSE = Duration.ofSeconds(1);
  static final Duration LONGEST_PAUSE = Duration.ofMinutes(1);

  /** How long a pool must have existed for its pauses to begin again from the first. */
  static final Duration CALM = Duration.ofMinutes(5);

  private record Past(int times, Instant last) {}

  private final Map<String, Past> published = new HashMap<>();

  /** From when on the node's pool may be created. */
  Instant notBefore(String node) {
    @Nullable Past past = published.get(node);
    return past == null || past.times() == 1 ? Instant.MIN : past.last().plus(pause(past.times()));
  }

  /** The node's pool has been created at that time. */
  void created(String node, Instant now) {
    published.compute(
        node,
        (n, past) -> past == null || past.last().plus(CALM).isBefore(now)
            ? new Past(1, now)
            : new Past(past.times() + 1, now));
  }

  private static Duration pause(int times) {
    long factor = 1L << Math.min(times - 2, 16);
    Duration pause = FIRST_PAUSE.multipliedBy(factor);
    return pause.compareTo(LONGEST_PAUSE) > 0 ? LONGEST_PAUSE : pause;
  }
}
