package dev.partita.controller.turns;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Remembers about which pods nothing is decided for a while, because a decision about them failed or took long: they
 * are set aside, as kube-scheduler's pods are in backoff. Whatever happens meanwhile, the pause lasts; it doubles with
 * every failure in a row. For one thread.
 *
 * @param <K> what is decided about, one by one
 */
public final class SetAside<K> {
  public static final Duration FIRST = Duration.ofMillis(500);
  private static final int MOST_DOUBLINGS = 7;

  private record Past(int failures, boolean isHeld) {}

  private final Duration first;
  private final Map<K, Past> past = new HashMap<>();

  /** @param first the pause after one failure */
  public SetAside(Duration first) {
    this.first = first;
  }

  /**
   * A decision failed.
   *
   * @return for how long nothing is to be decided; {@link #over} is to be called after that
   */
  public Duration failed(K what) {
    int failures = failures(what);
    past.put(what, new Past(failures + 1, true));
    return first.multipliedBy(1L << Math.min(failures, MOST_DOUBLINGS));
  }

  /** A decision took too long, and goes on at its next turn. */
  public void goesOn(K what) {
    past.put(what, new Past(failures(what) + 1, false));
  }

  /** Sets it aside although nothing failed, until {@link #over} is called. */
  public void rests(K what) {
    past.put(what, new Past(failures(what), true));
  }

  /** The pause is over: it may be decided about. */
  public void over(K what) {
    past.computeIfPresent(what, (_, before) -> before.failures() == 0 ? null : new Past(before.failures(), false));
  }

  /** A decision was made. */
  public void succeeded(K what) {
    past.remove(what);
  }

  /** Whether nothing is to be decided about it now. */
  public boolean holds(K what) {
    @Nullable Past before = past.get(what);
    return before != null && before.isHeld();
  }

  /** How often in a row it has failed. */
  public int failures(K what) {
    return Objects.requireNonNullElse(past.get(what), new Past(0, false)).failures();
  }
}
