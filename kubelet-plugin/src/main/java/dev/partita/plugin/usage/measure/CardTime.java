package dev.partita.plugin.usage.measure;

import java.util.Map;

/**
 * What processes had of a card's time between two readings.
 *
 * @param watchedNanos for how long it was seen
 * @param gpuNanos what each had of that, by pid; who was idle is not in it
 * @param untold why nothing was seen last, for people; empty if something was
 */
public record CardTime(long watchedNanos, Map<Long, Long> gpuNanos, String untold) {
  public static final CardTime NONE = new CardTime(0, Map.of(), "it was not asked yet");

  public CardTime {
    gpuNanos = Map.copyOf(gpuNanos);
  }

  public long of(long pid) {
    return gpuNanos.getOrDefault(pid, 0L);
  }
}
