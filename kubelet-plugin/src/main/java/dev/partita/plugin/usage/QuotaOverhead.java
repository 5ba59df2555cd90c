package dev.partita.plugin.usage;

import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.share.QuotaFile;
import dev.partita.plugin.share.ShareFolders;
import dev.partita.plugin.store.OperationLock;
import dev.partita.plugin.usage.measure.WatchedShare;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes what contexts and modules of a share take into its quota file, as far as the ledger does not have it, in whole
 * pages of the card and no more often than it must: a larger figure at once, a smaller one only after a while.
 */
final class QuotaOverhead {
  private static final Logger LOG = LoggerFactory.getLogger(QuotaOverhead.class);
  private static final long PAGE = 2L << 20;

  /**
   * How long a figure stays before a smaller one takes its place: processes that come and go do not rewrite the file
   * each second.
   */
  private static final Duration DOWN_AFTER = Duration.ofSeconds(5);

  /** How long a figure that was read is believed: another plugin of a rolling update writes there, too. */
  private static final Duration KNOWN_FOR = Duration.ofSeconds(30);

  private final ShareFolders folders;
  private final OperationLock lock;
  private @Nullable Instant neededAt;
  private @Nullable Known known;
  private final Debounce failures = new Debounce();

  /**
   * What a quota file says.
   *
   * @param prepared the preparation that it was written by: a later one writes it anew
   */
  private record Known(PreparedClaim prepared, QuotaFile.Overhead there, Instant until) {}

  QuotaOverhead(ShareFolders folders, OperationLock lock) {
    this.folders = folders;
    this.lock = lock;
  }

  /**
   * Has the share's quota file say it.
   *
   * @param bytes what the ledger does not have; written in whole pages and not more than the quota
   * @param contextBytes what a context takes on cards of the model; 0 where nobody has measured it
   */
  void write(WatchedShare share, long bytes, long contextBytes, Instant now) {
    try {
      long pages = Math.min((bytes + PAGE - 1) / PAGE * PAGE, share.share().memoryBytes());
      if (isKnown(share, new QuotaFile.Overhead(pages, contextBytes), now)) {
        neededAt = now;
        return;
      }
      Optional<QuotaFile.Overhead> found = folders.overhead(share.ref().uid(), share.ref().key());
      if (found.isEmpty()) {
        return; // being released
      }
      QuotaFile.Overhead there = found.get();
      known = new Known(share.prepared(), there, now.plus(KNOWN_FOR));
      if (neededAt == null || pages >= there.bytes()) {
        neededAt = now;
      }
      boolean lower = !now.isBefore(neededAt.plus(DOWN_AFTER));
      QuotaFile.Overhead due =
          new QuotaFile.Overhead(pages > there.bytes() || lower ? pages : there.bytes(), contextBytes);
      if (!due.equals(there)) {
        lock.onClaim(
            share.claim().uid(),
            () -> {
              folders.writeOverhead(share.ref().uid(), share.ref().key(), due);
              return true;
            });
        known = null;
        neededAt = due.bytes() == there.bytes() ? neededAt : now;
      }
    } catch (IOException e) {
      if (failures.begins(now)) { // a full disk stays full for long
        LOG.warn("claim {}: cannot write into its quota file what contexts take; trying again: {}", share.claim(),
            e.toString());
      }
    }
  }

  @SuppressWarnings("ReferenceEquality") // a claim that was prepared anew has another record, and maybe an equal one
  private boolean isKnown(WatchedShare share, QuotaFile.Overhead due, Instant now) {
    Known last = known;
    return last != null && last.prepared() == share.prepared() && last.there().equals(due)
        && now.isBefore(last.until());
  }
}
