package dev.partita.plugin.usage.measure;

import dev.partita.plugin.nvml.CardSamples;
import dev.partita.plugin.nvml.ProcessSample;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Adds up what processes had of one card's time, by NVML's samples; rather too little than too much.
 *
 * <p>A sample is an average over a period that ends with it. A card's periods are of one length, from 1/6 s to 1 s by
 * model (nvmlUtilization_t), and a process that was idle in a period has no sample of it. So between two samples of a
 * process there may be many periods, while each sample stands for one alone. How long a period is, two samples of the
 * card that follow each other closely must have shown first. Without that, a program that works for a moment every
 * second on a card with short periods leaves the same samples as one that never pauses on a card with long ones.
 */
public final class SampledTime {
  /** Samples of one period carry times this close to each other, in microseconds. */
  private static final long SAME_PERIOD = 100_000;

  /**
   * Those further apart than this may have idle periods in between: one and a half of the shortest, in microseconds.
   */
  private static final long NEXT_PERIOD = 250_000;

  /**
   * Two of the shortest periods, in nanoseconds. NVML tells nothing of periods before the newest one, so whoever asks
   * later than that has missed some.
   */
  private static final long LATE = 333_000_000;

  /**
   * No more is kept of what samples gave too much or too little, in ns, and half of that from one drain to the next:
   * corrections come a period after samples.
   */
  private static final long KEPT = 1_000_000_000;

  private static final String TOO_LATE = "the plugin could not ask often enough";
  private static final String TOO_FEW = "its samples are so far apart that it is unclear how much time each stands for";

  private final Map<Long, Long> gpuNanos = new HashMap<>();
  private final Map<Long, Long> overNamed = new HashMap<>(); // what samples gave too much and still stands, by pid
  private long watchedNanos;
  private String untold = CardTime.NONE.untold();
  private long newest;
  private long period; // microseconds; 0 until it is known
  private boolean asked;
  private long askedAt;

  /** The time of the newest sample, in microseconds as NVML has it; later samples are asked for. */
  public long newest() {
    return newest;
  }

  /**
   * Takes an answer in.
   *
   * @param answer with samples newer than {@link #newest}
   * @param nanos when NVML was asked, of a clock that only goes on
   */
  public void take(CardSamples answer, long nanos) {
    long passed = nanos - askedAt;
    boolean first = !asked;
    asked = true;
    askedAt = nanos;
    switch (answer) {
      case CardSamples.NotTold not -> {
        untold = not.why();
        asked = false; // what was missed is unknown
      }
      case CardSamples.Told told -> {
        learn(told.samples());
        if (!first && passed > LATE) {
          untold = TOO_LATE;
        } else if (newest > 0 && period == 0) {
          untold = TOO_FEW;
        } else if (!first) {
          untold = "";
          watchedNanos += passed;
          told.samples().forEach(sample -> gpuNanos.merge(sample.pid(), sample.smPercent() * period * 10, Long::sum));
        }
      }
    }
  }

  /**
   * Takes back from processes what samples gave them that others had: NVML may name one process in each period and give
   * it all of the card. Nobody gets more than samples gave it by that.
   *
   * @param byPid in ns; below 0 what samples gave others of theirs
   */
  void correct(Map<Long, Long> byPid) {
    byPid.forEach((pid, nanos) -> overNamed.merge(pid, nanos, Long::sum));
  }

  /** What there was since the last time. */
  public CardTime drain() {
    gpuNanos.replaceAll((pid, nanos) -> nanos - takeBack(pid, nanos));
    overNamed.replaceAll((pid, nanos) -> Math.clamp(nanos, -KEPT, KEPT) / 2);
    overNamed.values().removeIf(nanos -> nanos == 0);
    CardTime time = new CardTime(watchedNanos, gpuNanos, untold);
    watchedNanos = 0;
    gpuNanos.clear();
    untold = untold.isEmpty() ? TOO_LATE : untold; // should there be no answer until the next time
    return time;
  }

  private long takeBack(long pid, long given) {
    long taken = Math.clamp(overNamed.getOrDefault(pid, 0L), 0, given);
    overNamed.merge(pid, -taken, Long::sum);
    return taken;
  }

  private void learn(List<ProcessSample> samples) {
    if (samples.isEmpty()) { // as several times a second on an idle card
      return;
    }
    long before = newest;
    for (long time : samples.stream().mapToLong(ProcessSample::timestampMicros).sorted().toArray()) {
      long apart = time - before;
      if (before > 0 && apart >= SAME_PERIOD && apart <= NEXT_PERIOD) {
        period = period == 0 ? apart : Math.min(period, apart);
      }
      before = apart >= SAME_PERIOD ? time : before;
      newest = Math.max(newest, time);
    }
  }
}
