package dev.partita.plugin.usage;

import dev.partita.plugin.usage.measure.CardTime;
import dev.partita.plugin.usage.measure.ShareRef;
import dev.partita.plugin.usage.verdict.CoreLending;
import dev.partita.plugin.usage.verdict.ProcessUse;
import dev.partita.plugin.usage.verdict.ShareUse;
import java.util.HashMap;
import java.util.Map;

/** Adds up what shares are used for over time. For any thread. */
public final class UseTotals {
  private final Map<ShareRef, Total> totals = new HashMap<>();

  /**
   * Since the plugin started, or since the claim was prepared.
   *
   * @param peakBytes the most that the share's processes held at any look
   * @param gpuNanos the card's time that they had, where the card's samples are followed
   * @param watchedNanos for how long these samples were followed
   * @param lending of that time, what it lent and borrowed
   * @param ledger what its ledger said when it was read last: while nobody uses the card it is not read
   */
  public record Total(
      long peakBytes,
      long gpuNanos,
      long watchedNanos,
      CoreLending lending,
      ShareUse.LedgerTotals ledger) {
    /** Of a share that was never looked at. */
    public static final Total NONE = new Total(0, 0, 0, CoreLending.NONE, ShareUse.LedgerTotals.NONE);

    private Total plus(ShareUse use, CardTime time, CoreLending lent) {
      return new Total(
          Math.max(peakBytes, use.bytes()),
          gpuNanos + use.processes().stream().mapToLong(ProcessUse::gpuNanos).sum(),
          watchedNanos + time.watchedNanos(),
          new CoreLending(lending.lentNanos() + lent.lentNanos(), lending.borrowedNanos() + lent.borrowedNanos()),
          use.ledger().equals(ShareUse.LedgerTotals.NONE) ? ledger : use.ledger());
    }
  }

  /**
   * Adds a look; shares that are not in it are gone.
   *
   * @param times what processes had of the cards since the look before
   */
  synchronized void take(Map<ShareRef, ShareUse> uses, Map<String, CardTime> times) {
    totals.keySet().retainAll(uses.keySet());
    Map<ShareRef, CoreLending> lending = CoreLending.of(uses.values(), times);
    uses.forEach((ref, use) -> totals.put(ref,
        of(ref).plus(use, times.getOrDefault(use.share().card(), CardTime.NONE),
            lending.getOrDefault(ref, CoreLending.NONE))));
  }

  /** The share's total so far. */
  public synchronized Total of(ShareRef ref) {
    return totals.getOrDefault(ref, Total.NONE);
  }
}
