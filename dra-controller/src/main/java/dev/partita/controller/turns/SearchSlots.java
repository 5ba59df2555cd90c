package dev.partita.controller.turns;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Spreads searches that look at the whole cluster, so that they take no more than a part of the thread's time, however
 * many pods wait. For one thread.
 */
public final class SearchSlots {
  private final Clock clock;
  private final int parts;
  private final Map<String, Instant> slots = new HashMap<>();
  private Instant next = Instant.EPOCH;
  private Duration length = Duration.ZERO;

  /** @param parts of so many parts of the time one is for searching */
  public SearchSlots(Clock clock, int parts) {
    this.clock = clock;
    this.parts = parts;
  }

  /**
   * Zero if the pod may search now; how long it has to wait if a slot was given to it; empty if it waits for one
   * already.
   */
  public Optional<Duration> ask(String podUid) {
    Instant now = clock.instant();
    @Nullable Instant given = slots.get(podUid);
    if (given != null) {
      return now.isBefore(given) ? Optional.empty() : Optional.of(Duration.ZERO);
    }
    Instant slot = next.isAfter(now) ? next : now;
    next = slot.plus(length.multipliedBy(parts));
    if (slot.isAfter(now)) {
      slots.put(podUid, slot);
    }
    return Optional.of(Duration.between(now, slot));
  }

  /** Whether the pod has a slot, and has not searched in it yet. */
  public boolean isGiven(String podUid) {
    return slots.containsKey(podUid);
  }

  /** The pod's search took that long. */
  public void done(String podUid, Duration took) {
    slots.remove(podUid);
    length = took;
  }

  /** The pod is gone. */
  public void forget(String podUid) {
    slots.remove(podUid);
  }
}
