package dev.partita.plugin.cardreport;

import dev.partita.plugin.usage.measure.ShareRef;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;

/**
 * Finds GPU time that a share's region hides. A container writes its region, so a share that is named in far more of
 * NVML's samples than its region accounts for is not believed: what NVML gives it beyond that counts as its own, less a
 * fifth of the time.
 *
 * <p>NVML may name, for all of a period, whoever had most of it. So what samples give to the share with the most time,
 * or nearly that, is held against it only as far as it is more than all shares had.
 *
 * <p>Another share's region may say that launches are pending which are not. Then the first one seems to have had too
 * little for what it is named for. So nobody is charged more than if it had always had launches pending, which no
 * region that hides something gains by.
 */
final class HiddenUse {
  /** Ten seconds, where NVML's periods are 200 ms long. */
  private static final int PERIODS = 50;

  /** What part of these seconds samples may give it too much. */
  private static final int TOLERATED_PART = 5;

  /** Who has less than the most by no more than this part of the period may be named in its place. */
  private static final int NEARLY_PART = 10;

  private static final class Window {
    final Deque<Long> unexplained = new ArrayDeque<>();
    long sum;

    /** The part of what is not explained that the window has beyond what is tolerated. */
    long take(long more, long period) {
      if (unexplained.size() == PERIODS) {
        sum -= unexplained.removeFirst();
      }
      unexplained.addLast(more);
      sum += more;
      long beyond = sum - PERIODS * period / TOLERATED_PART;
      return beyond <= 0 ? 0 : Math.clamp(Math.round((double) more * beyond / sum), 0, period);
    }
  }

  private final Map<ShareRef, Window> windows = new HashMap<>();

  /**
   * What a period shows that shares have hidden, in ns; no more than the period.
   *
   * @param timed shares whose regions say what they use
   */
  Map<ShareRef, Long> take(SampledPeriod period, Collection<ShareRef> timed) {
    windows.keySet().retainAll(timed);
    Map<ShareRef, Long> hidden = new HashMap<>();
    for (ShareRef share : timed) {
      long beyond = windows.computeIfAbsent(share, s -> new Window()).take(unexplained(period, share), period.nanos());
      hidden.put(share, Math.clamp(period.mostOf(share) - period.dividedTo(share), 0, beyond));
    }
    return hidden;
  }

  private static long unexplained(SampledPeriod period, ShareRef share) {
    long own = period.dividedTo(share);
    return own >= period.mostOfOthers(share) - period.nanos() / NEARLY_PART
        ? Math.max(0, period.sampledBy(share) - period.dividedToAll())
        : period.sampledBy(share) - own;
  }
}
