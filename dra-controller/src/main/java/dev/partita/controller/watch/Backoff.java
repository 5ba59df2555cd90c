package dev.partita.controller.watch;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Says when to try again what failed: after a pause that grows with every failure in a row. However often something
 * fails meanwhile, because other events have it tried too, only one further attempt is planned. For one thread.
 */
public final class Backoff<K> {
  private record Past(int failures, boolean isSetUp) {}

  private final Duration first;
  private final int mostDoublings;
  private final Map<K, Past> past = new HashMap<>();

  /**
   * @param first the pause after one failure, which doubles with every further one
   * @param mostDoublings how often it does
   */
  public Backoff(Duration first, int mostDoublings) {
    this.first = first;
    this.mostDoublings = mostDoublings;
  }

  /** Something failed. Gives how long to wait before the next attempt; empty if one is planned already. */
  public Optional<Duration> failed(K what) {
    Past before = past.getOrDefault(what, new Past(0, false));
    if (before.isSetUp()) {
      return Optional.empty();
    }
    past.put(what, new Past(before.failures() + 1, true));
    return Optional.of(first.multipliedBy(1L << Math.min(before.failures(), mostDoublings)));
  }

  /** The planned attempt is made now. */
  public void tried(K what) {
    @Nullable Past before = past.get(what);
    if (before != null && before.failures() > 0) {
      past.put(what, new Past(before.failures(), false));
    } else {
      past.remove(what);
    }
  }

  /** Something succeeded, or is gone. A planned attempt is made all the same. */
  public void succeeded(K what) {
    past.computeIfPresent(what, (same, before) -> before.isSetUp() ? new Past(0, true) : null);
  }
}
