package dev.partita.plugin.usage;

import dev.partita.plugin.usage.excess.ExcessAction;
import dev.partita.plugin.usage.measure.ShareRef;
import dev.partita.plugin.usage.measure.WatchedShare;
import dev.partita.plugin.usage.region.Ledger;
import dev.partita.plugin.usage.region.RegionFile;
import dev.partita.plugin.usage.region.RegionLocks;
import dev.partita.plugin.usage.verdict.CoreAccount;
import dev.partita.plugin.usage.verdict.ShareUse;
import dev.partita.plugin.usage.verdict.ShareVerdict;
import dev.partita.plugin.usage.verdict.StableVerdict;
import java.time.Instant;
import java.util.Map;

/** What is remembered of one share from look to look, for as long as it is prepared. */
final class ShareState {
  private final QuotaOverhead quota;
  private final ShareEvents events;
  private final ExcessAction excessAction;
  private final StableVerdict memory = new StableVerdict();
  private final CoreAccount cores = new CoreAccount();
  private boolean overLocked; // whether the last search of its locks did not come to its end
  private boolean isToBeTold;

  ShareState(QuotaOverhead quota, ShareEvents events, ExcessAction excessAction) {
    this.quota = quota;
    this.events = events;
    this.excessAction = excessAction;
  }

  /** Reads the share's region; with less patience if that took too long the last time. */
  Ledger read(RegionFile region) {
    Ledger ledger = region.read(overLocked ? RegionLocks.MOST_NANOS_AGAIN : RegionLocks.MOST_NANOS);
    overLocked = !ledger.searched();
    return ledger;
  }

  /**
   * Has its claim told how it is now: what the plugin before this one told, maybe under another kernel, may be over.
   */
  void replaceEarlierReport() {
    isToBeTold = true;
  }

  /** Tells the claim what is wrong with the share's region, if anything is. */
  void tell(WatchedShare share, Ledger ledger, Instant now) {
    events.tell(share, ledger, now);
  }

  /**
   * Judges a reading.
   *
   * @param uses of all shares
   * @param look at the share's card
   */
  ShareVerdict judge(ShareUse use, Map<ShareRef, ShareUse> uses, CoreAccount.Look look) {
    isToBeTold |= !use.processes().isEmpty();
    return new ShareVerdict(use, memory.take(use.memory()), cores.take(use, uses, look));
  }

  /**
   * Writes the quota file, where it says something else.
   *
   * @param contextBytes what a context takes on cards of the model; 0 where nobody has measured it
   */
  void writeQuota(ShareUse use, long contextBytes, Instant now) {
    quota.write(use.share(), use.unchargedOverheadBytes(), contextBytes, now);
  }

  /** Tells the claim what its processes do that they may not. */
  void tell(ShareVerdict verdict, Instant now) {
    events.tell(verdict, now);
  }

  /** Does to processes that hold more than they may what was asked for. */
  void act(ShareVerdict verdict) {
    excessAction.against(verdict.use(), verdict.memory());
  }

  /** Whether its claim says something of its use: a process was seen, or a plugin before this one may have told. */
  boolean isToBeTold() {
    return isToBeTold;
  }
}
