package dev.partita.plugin.metrics;

import dev.partita.plugin.usage.measure.ShareRef;
import dev.partita.plugin.usage.verdict.ProcessUse;
import dev.partita.plugin.usage.verdict.ShareUse;
import java.util.HashMap;
import java.util.Map;

/** What becomes of shares' use over time: it is told of every look at them. For any thread. */
public final class UseTotals {
  private final Map<ShareRef, Total> totals = new HashMap<>();

  /**
   * Since the plugin started, or since the claim was prepared.
   *
   * @param peakBytes the most that the share's processes held at any look
   * @param gpuNanos the card's time that they had, where the card's samples are followed
   */
  record Total(long peakBytes, long gpuNanos) {
    static final Total NONE = new Total(0, 0);
  }

  /** Takes a look in; shares that are not in it are gone. */
  public synchronized void take(Map<ShareRef, ShareUse> uses) {
    totals.keySet().retainAll(uses.keySet());
    uses.forEach((ref, use) -> totals.merge(ref,
        new Total(use.bytes(), use.processes().stream().mapToLong(ProcessUse::gpuNanos).sum()),
        (before, now) -> new Total(Math.max(before.peakBytes(), now.peakBytes()),
            before.gpuNanos() + now.gpuNanos())));
  }

  synchronized Total of(ShareRef ref) {
    return totals.getOrDefault(ref, Total.NONE);
  }
}
