package dev.partita.controller.claims;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/** Pauses that grow with every failure in a row of the same thing. For one thread. */
final class Backoff<K> {
  static final Duration FIRST_PAUSE = Duration.ofMillis(100);
  private static final int MOST_DOUBLINGS = 8;

  private final Map<K, Integer> failures = new HashMap<>();

  /** It has failed: how long to wait. */
  Duration failed(K what) {
    int before = failures.merge(what, 1, Integer::sum) - 1;
    return FIRST_PAUSE.multipliedBy(1L << Math.min(before, MOST_DOUBLINGS));
  }

  /** It has succeeded, or is gone. */
  void forget(K what) {
    failures.remove(what);
  }
}
