package dev.partita.plugin.cardreport;

import dev.partita.plugin.cardreport.CardLoad.Moment;
import dev.partita.plugin.nvml.CardSamples;
import dev.partita.plugin.nvml.ProcessSample;
import java.util.List;

/**
 * Notices when the time of day is set back, as happens at the start of a machine whose own clock is ahead. NVML's
 * samples carry the time of day. So samples from before then seem to lie in the future, and for as long as the clock
 * was ahead none is newer than those.
 */
final class SetBack {
  /** Microseconds; clocks that are only slowed down go back by far less between two looks. */
  private static final long STEP = 1_000_000;

  private boolean begun;
  private long offset; // of the time of day from the monotonic clock, microseconds
  private long last;
  private long reached; // by the time of day, before it was set back; 0 if it never was

  /** Whether the clock was set back since the last look. If so, what is known of samples must be forgotten. */
  boolean since(Moment now) {
    long offsetNow = now.epochMicros() - now.nanos() / 1000;
    boolean back = begun && offsetNow < offset - STEP;
    if (back) {
      reached = Math.max(reached, last);
    }
    begun = true;
    offset = offsetNow;
    last = now.epochMicros();
    return back;
  }

  /**
   * The answer, or one that tells nothing if it has samples from before: then NVML may have none yet of a process that
   * is at work.
   */
  CardSamples judge(CardSamples answer, Moment now) {
    List<ProcessSample> samples = answer.known();
    boolean old = reached > 0 && samples.stream().mapToLong(ProcessSample::timestampMicros)
        .anyMatch(time -> time > now.epochMicros() + STEP && time <= reached + STEP);
    return old ? new CardSamples.NotTold("its samples are from before the node's clock was set back") : answer;
  }
}
