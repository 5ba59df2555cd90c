package dev.partita.plugin.usage;

import dev.partita.plugin.claimstatus.ClaimReports;
import dev.partita.plugin.claimstatus.EventReason;
import dev.partita.plugin.usage.measure.WatchedShare;
import dev.partita.plugin.usage.region.Ledger;
import dev.partita.plugin.usage.verdict.CoreUse;
import dev.partita.plugin.usage.verdict.MemoryState;
import dev.partita.plugin.usage.verdict.ProcessUse;
import dev.partita.plugin.usage.verdict.ShareUse;
import dev.partita.plugin.usage.verdict.ShareVerdict;
import dev.partita.plugin.usage.verdict.UsageWords;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Makes an event when the processes of one share begin to do what they may not. */
final class ShareEvents {
  private static final Logger LOG = LoggerFactory.getLogger(ShareEvents.class);

  /** Who is to blame may change all the time: so many changes are told at once, and then one of them a minute. */
  private static final int AT_ONCE = 5;

  private static final Duration BETWEEN = Duration.ofMinutes(1);

  private record Blame(EventReason reason, List<Long> pids) {}

  private final ClaimReports reports;
  private Optional<Blame> blamed = Optional.empty();
  private Instant used = Instant.EPOCH; // up to when events have been made, at one a minute
  private boolean beyondCores;
  private final Debounce overLocked = new Debounce();
  private final Debounce grown = new Debounce();

  ShareEvents(ClaimReports reports) {
    this.reports = reports;
  }

  /**
   * Makes an event when the share's region has more locks than can be searched for those of its slots, and one when a
   * container has let the region grow. There is no other one until that was not so for a minute.
   */
  void tell(WatchedShare share, Ledger ledger, Instant now) {
    if (!ledger.searched() && overLocked.begins(now)) {
      warn(share, EventReason.TooManyLocks, UsageWords.TOO_MANY_LOCKS_MESSAGE);
    }
    if (ledger.grown() && grown.begins(now)) {
      warn(share, EventReason.UsageRegionGrown, UsageWords.USAGE_REGION_GROWN_MESSAGE);
    }
  }

  private void warn(WatchedShare share, EventReason reason, String message) {
    LOG.warn("claim {}: {}", share.claim(), message);
    reports.misused(share.claim(), reason, message);
  }

  /** Makes events when a verdict is another than the last one. */
  void tell(ShareVerdict verdict, Instant now) {
    blame(verdict.use(), verdict.memory(), now);
    blame(verdict.use(), verdict.cores());
  }

  /** Makes an event when processes are to blame, and another one when they are other processes. */
  private void blame(ShareUse use, MemoryState memory, Instant at) {
    Optional<Blame> now = switch (memory) {
      case MemoryState.Held ignored -> Optional.empty();
      case MemoryState.OverheadBeyond ignored -> Optional.empty();
      case MemoryState.Exceeded exceeded -> Optional.of(blame(EventReason.LimitExceeded, exceeded.offenders()));
      case MemoryState.Bypassed bypassed -> Optional.of(blame(EventReason.LedgerBypassed, bypassed.offenders()));
    };
    if (now.isPresent() && !now.equals(blamed)) {
      if (!mayTell(at)) {
        return; // later, if it is still so
      }
      reports.misused(use.share().claim(), now.get().reason(), UsageWords.message(use, memory));
    }
    blamed = now;
  }

  private boolean mayTell(Instant now) {
    Instant from = used.isBefore(now) ? now : used;
    if (from.isAfter(now.plus(BETWEEN.multipliedBy(AT_ONCE - 1)))) {
      return false;
    }
    used = from.plus(BETWEEN);
    return true;
  }

  private static Blame blame(EventReason reason, List<ProcessUse> offenders) {
    return new Blame(reason, offenders.stream().map(ProcessUse::pid).sorted().toList());
  }

  /**
   * Makes an event when the share is beyond its core limit, and no other until it was within: which of its processes
   * are at work changes all the time.
   */
  private void blame(ShareUse use, CoreUse core) {
    switch (core) {
      case CoreUse.Exceeded exceeded -> {
        if (!beyondCores) {
          reports.misused(use.share().claim(), EventReason.CoreLimitExceeded, UsageWords.message(use, exceeded));
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
