package dev.partita.plugin.diagnosis;

import dev.partita.api.gpu.GpuHealth;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Keeps a card unhealthy that becomes unhealthy again and again. Each change costs writes to the GpuNode, slices,
 * claims and pods, and a card that is well for a moment would get claims that fail. A card that became unhealthy three
 * times within 10 min counts as healthy again once it was well for 5 min.
 */
final class FlapDamping {
  static final Duration WITHIN = Duration.ofMinutes(10);
  static final Duration WELL_FOR = Duration.ofMinutes(5);
  private static final int TIMES = 3;

  private final Map<String, Card> cards = new HashMap<>();
  private final History history;
  private boolean changed;

  /** Keeps what was seen for the next plugin. */
  interface History {
    /** Keeps nothing. */
    History NONE = new History() {
      @Override
      public Map<String, Past> read() {
        return Map.of();
      }

      @Override
      public void write(Map<String, Past> cards) {}
    };

    /** What was kept, by the card's UUID. */
    Map<String, Past> read();

    void write(Map<String, Past> cards);
  }

  /**
   * A card's past, told from now back.
   *
   * @param onsets when it became unhealthy, the latest last
   * @param last what was seen last
   * @param lastWrong what was wrong with it last
   * @param wellSince for how long it has been well, if it is
   */
  record Past(List<Duration> onsets, GpuHealth last, GpuHealth lastWrong, Duration wellSince) {
    Past {
      Objects.requireNonNull(last);
      Objects.requireNonNull(lastWrong);
      onsets = List.copyOf(onsets);
    }
  }

  /** @param nanos now, by a clock that cannot be set */
  FlapDamping(History history, long nanos) {
    this.history = history;
    history.read().forEach((uuid, past) -> {
      Card card = cards.computeIfAbsent(uuid, u -> new Card());
      past.onsets().stream().skip(Math.max(0, past.onsets().size() - TIMES))
          .forEach(ago -> card.onsets.addLast(nanos - ago.toNanos()));
      card.last = past.last();
      card.lastWrong = past.lastWrong();
      card.wellSince = nanos - past.wellSince().toNanos();
    });
  }

  private static final class Card {
    final Deque<Long> onsets = new ArrayDeque<>(); // at most TIMES
    GpuHealth last = GpuHealth.HEALTHY;
    GpuHealth lastWrong = GpuHealth.HEALTHY;
    long wellSince;
  }

  /** What was seen last of each card that was ever unhealthy, before the first update by the plugin before this one. */
  Map<String, GpuHealth> seenLast() {
    Map<String, GpuHealth> seen = new HashMap<>();
    cards.forEach((uuid, card) -> seen.put(uuid, card.last));
    return seen;
  }

  /**
   * What to say of the card.
   *
   * @param card its UUID
   * @param health as it is now
   * @param nanos now, by a clock that cannot be set
   */
  GpuHealth update(String card, GpuHealth health, long nanos) {
    Card known = cards.computeIfAbsent(card, c -> new Card());
    boolean isWell = health.state() == GpuHealth.State.Healthy;
    GpuHealth before = known.last;
    boolean wasWell = before.state() == GpuHealth.State.Healthy;
    known.last = health;
    if (!Objects.equals(health.reason(), before.reason())) {
      changed = true;
    }
    if (!isWell) {
      if (wasWell) {
        known.onsets.addLast(nanos);
        if (known.onsets.size() > TIMES) {
          known.onsets.removeFirst();
        }
      }
      known.lastWrong = health;
      return health;
    }
    if (!wasWell) {
      known.wellSince = nanos;
    }
    boolean flaps =
        known.onsets.size() == TIMES && known.onsets.getLast() - known.onsets.getFirst() < WITHIN.toNanos()
            && nanos - known.wellSince < WELL_FOR.toNanos();
    return flaps
        ? GpuHealth.unhealthy(
            String.valueOf(known.lastWrong.reason()),
            known.lastWrong.message() + "; it is well now, but became unhealthy " + TIMES + " times within "
                + WITHIN.toMinutes() + " min: it counts as healthy once it was well for " + WELL_FOR.toMinutes()
                + " min")
        : health;
  }

  /** Keeps what has changed since the last time, if anything has. */
  void keep(long nanos) {
    if (!changed) {
      return;
    }
    Map<String, Past> pasts = new HashMap<>();
    cards.forEach((uuid, card) -> {
      if (!card.onsets.isEmpty()) {
        pasts.put(uuid, new Past(card.onsets.stream().map(onset -> Duration.ofNanos(nanos - onset)).toList(), card.last,
            card.lastWrong, Duration.ofNanos(nanos - card.wellSince)));
      }
    });
    history.write(pasts);
    changed = false;
  }
}
