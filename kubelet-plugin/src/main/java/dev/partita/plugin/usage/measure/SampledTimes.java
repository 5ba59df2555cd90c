package dev.partita.plugin.usage.measure;

import dev.partita.plugin.nvml.CardSamples;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Collects what processes had of the cards' time. One thread asks NVML for samples several times a second and adds
 * them; another one takes the sums.
 */
public final class SampledTimes {
  private final Map<String, SampledTime> cards = new HashMap<>();

  /** The time of the newest sample of a card, by its UUID, in NVML's microseconds; later samples are asked for. */
  public synchronized long newest(String card) {
    SampledTime time = cards.get(card);
    return time == null ? 0 : time.newest();
  }

  /**
   * Takes an answer in.
   *
   * @param answer with samples newer than {@link #newest}
   * @param nanos when NVML was asked, of a clock that only goes on
   */
  public synchronized void take(String card, CardSamples answer, long nanos) {
    cards.computeIfAbsent(card, c -> new SampledTime()).take(answer, nanos);
  }

  /**
   * Takes back from processes what samples gave them that others had.
   *
   * @param overNamed by pid, in ns; below 0 what samples gave others of theirs
   */
  public synchronized void correct(String card, Map<Long, Long> overNamed) {
    Optional.ofNullable(cards.get(card)).ifPresent(time -> time.correct(overNamed));
  }

  /** Forgets all other cards. */
  public synchronized void retain(Collection<String> asked) {
    cards.keySet().retainAll(asked);
  }

  /** What there was since the last time, by card. */
  public synchronized Map<String, CardTime> drain() {
    Map<String, CardTime> times = new HashMap<>();
    cards.forEach((card, time) -> times.put(card, time.drain()));
    return times;
  }
}
