package dev.partita.plugin.usage;

import dev.partita.plugin.claimstatus.ClaimReports;
import dev.partita.plugin.usage.measure.WatchedShare;
import dev.partita.plugin.usage.region.Ledger;
import dev.partita.plugin.usage.verdict.CoreUse;
import dev.partita.plugin.usage.verdict.MemoryState;
import dev.partita.plugin.usage.verdict.ProcessUse;
import dev.partita.plugin.usage.verdict.ShareUse;
import dev.partita.plugin.usage.verdict.ShareVerdict;
import dev.partita.plugin.usage.verdict.UsageWords;
import java.time.Instant;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Makes events of what the processes of one share do that they may not: one when it begins. */
final class ShareEvents {
  private static final Logger LOG = LoggerFactory.getLogger(ShareEvents.class);

  private record Blame(String reason, List<Long> pids) {}

  private final ClaimReports reports;
  private Blame blamed = new Blame("", List.of());
  private boolean beyondCores;
  private final Debounce overLocked = new Debounce();
  private final Debounce grown = new Debounce();

  ShareEvents(ClaimReports reports) {
    this.reports = reports;
  }

  /**
   * An event when the share's region has more locks than can be searched for those of its slots, and one when a
   * container has let it grow; no other until that was not so for a minute.
   */
  void tell(WatchedShare share, Ledger ledger, Instant now) {
    if (!ledger.searched() && overLocked.begins(now)) {
      warn(share, UsageWords.TOO_MANY_LOCKS, UsageWords.TOO_MANY_LOCKS_MESSAGE);
    }
    if (ledger.grown() && grown.begins(now)) {
      warn(share, UsageWords.USAGE_REGION_GROWN, UsageWords.USAGE_REGION_GROWN_MESSAGE);
    }
  }

  private void warn(WatchedShare share, String reason, String message) {
    LOG.warn("claim {}: {}", share.claim(), message);
    reports.misused(share.claim(), reason, message);
  }

  /** Events for a verdict that is another than the last one. */
  void tell(ShareVerdict verdict) {
    blame(verdict.use(), verdict.memory());
    blame(verdict.use(), verdict.cores());
  }

  /** An event when somebody is to blame, and another one when it is somebody else. */
  private void blame(ShareUse use, MemoryState memory) {
    List<Long> pids = memory.blamed().stream().map(ProcessUse::pid).sorted().toList();
    Blame now = new Blame(UsageWords.reason(memory), pids);
    boolean known = now.equals(blamed);
    blamed = now;
    if (!pids.isEmpty() && !known) {
      reports.misused(use.share().claim(), now.reason(), UsageWords.message(use, memory));
    }
  }

  /**
   * An event when the share is beyond its core limit, and no other until it was within: who of its processes is at work
   * changes all the time.
   */
  private void blame(ShareUse use, CoreUse core) {
    switch (core) {
      case CoreUse.Exceeded exceeded -> {
        if (!beyondCores) {
          reports.misused(use.share().claim(), UsageWords.CORE_LIMIT_EXCEEDED, UsageWords.message(use, exceeded));
        }
        beyondCores = true;
      }
      case CoreUse.NotLimited ignored -> beyondCores = false;
      case CoreUse.Within ignored -> beyondCores = false;
      case CoreUse.Watched ignored -> {}
      case CoreUse.Untold ignored -> {}
    }
  }
}
