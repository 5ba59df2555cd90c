package dev.partita.plugin.usage.verdict;

import dev.partita.api.config.GpuShareConfig.CoreLimit;
import dev.partita.plugin.grant.Share;
import dev.partita.plugin.usage.measure.CardTime;
import dev.partita.plugin.usage.measure.ProcessIdentity;
import dev.partita.plugin.usage.measure.ShareRef;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Keeps account of how much more GPU time a share has had than its hard core limit gives it, by NVML's samples.
 *
 * <p>It is an account and not an average over a window, since the interception library keeps one too: a long kernel is
 * paid for afterwards. So a program that launches kernels of seconds is never ahead by more than one of them, while it
 * would be beyond its limit in any window of as many seconds.
 */
public final class CoreAccount {
  /**
   * Percentage points beyond the limit that are held against nobody: five times the worst that an honest share was
   * measured to have too much (PERFORMANCE.md), and more than the noise of a single sample.
   */
  private static final int ALLOWANCE = 5;

  /** One point more for each process, since NVML gives whole percents and does not say how they are rounded. */
  private static final int ROUNDING = 1;

  /**
   * How much GPU time a share must be ahead to be beyond its limit: as much as by a kernel that runs for 8 s under a
   * limit of 25 %. A program's first launches are ahead by less than a tenth of a second, and what is made up for later
   * is a second of the limit. A share that has 60 % where 25 are allowed is found after 21 s, one that has all of the
   * card after 9.
   */
  private static final long AHEAD = Duration.ofSeconds(6).toNanos();

  /**
   * How long a share is watched before it is said to keep to its limit. By then a share is found that has all of the
   * card where half is allowed.
   */
  private static final long WATCHED = Duration.ofSeconds(20).toNanos();

  /** How long NVML must have been silent before the condition says that NVML does not tell. */
  private static final Duration SILENCE = Duration.ofSeconds(10);

  private @Nullable Instant heard; // by the monotonic clock; null until the share is held to a limit
  private Instant since = Instant.EPOCH;
  private long ahead;
  private boolean exceeded;
  private boolean seen; // whether any time was its processes'
  private long watched;
  private long watchedSince;
  private long usedSince;
  private final Map<ProcessIdentity, Long> users = new HashMap<>();

  /**
   * Says what one look of the usage watch found of a card's time, which all accounts of its shares take in. For
   * example, process 4711 had 300 ms of the second since the look before.
   *
   * @param time what processes had of the card since the look before
   * @param allSeen whether samples have the pids that processes have here; if that is not certain, a share that was
   *        never seen at work may not be idle
   * @param timeOfDay for what is said to people
   * @param now by a clock that nobody sets
   */
  public record Look(CardTime time, boolean allSeen, Instant timeOfDay, Instant now) {}

  /**
   * Takes a reading in.
   *
   * @param uses all shares
   * @param look at the share's card
   */
  public CoreUse take(ShareUse use, Map<ShareRef, ShareUse> uses, Look look) {
    if (!isHeld(use)) {
      forget(); // a resize has lifted the limit: under the next one it begins anew
      return new CoreUse.NotLimited();
    }
    List<ShareUse> together = new ArrayList<>(List.of(use));
    use.beside().forEach(ref -> Optional.ofNullable(uses.get(ref)).ifPresent(together::add));
    int limit = CoreLimits.together(together.stream().map(one -> one.share().share()).toList());
    if (limit == 100) {
      return new CoreUse.NotLimited();
    }
    if (heard == null) {
      heard = look.now();
      since = look.timeOfDay();
    }
    CardTime time = look.time();
    if (time.watchedNanos() > 0) {
      long excess = Math.min(excess(List.of(use), use.share().share().cores(), time), excess(together, limit, time));
      enter(use, excess, time.watchedNanos(), look.timeOfDay());
      heard = look.now();
    }
    if (heard.plus(SILENCE).isBefore(look.now())) {
      return new CoreUse.Untold(time.untold());
    }
    if (!look.allSeen() && !seen) {
      return new CoreUse.Untold("the pids of its samples may not be those that this plugin sees (hostPID)");
    }
    if (exceeded) {
      return new CoreUse.Exceeded(percent(usedSince), limit, since, users(use));
    }
    return watched < WATCHED ? new CoreUse.Watched() : new CoreUse.Within(limit);
  }

  private void forget() {
    heard = null;
    ahead = 0;
    exceeded = false;
    seen = false;
    watched = 0;
    users.clear();
  }

  private void enter(ShareUse use, long excess, long nanos, Instant timeOfDay) {
    long further = Math.clamp(ahead + excess, 0, AHEAD);
    if (ahead == 0) {
      since = timeOfDay.minusNanos(nanos).truncatedTo(ChronoUnit.SECONDS);
      watchedSince = 0;
      usedSince = 0;
      users.clear();
    }
    ahead = further;
    exceeded = further == AHEAD || (exceeded && further > 0);
    watched += nanos;
    watchedSince += nanos;
    usedSince += used(use);
    seen |= used(use) > 0;
    users.keySet().retainAll(use.processes().stream().map(ProcessUse::identity).collect(Collectors.toSet()));
    use.processes().stream().filter(p -> p.gpuNanos() > 0)
        .forEach(p -> users.merge(p.identity(), p.gpuNanos(), Long::sum));
  }

  /** GPU time beyond what the limit gives in the time that was watched; below 0 if it is less. */
  private static long excess(List<ShareUse> uses, int limit, CardTime time) {
    long processes =
        uses.stream().flatMap(use -> use.processes().stream()).filter(process -> process.gpuNanos() > 0).count();
    long percent = limit + ALLOWANCE + ROUNDING * processes;
    return uses.stream().mapToLong(CoreAccount::used).sum() - time.watchedNanos() / 100 * percent;
  }

  private static long used(ShareUse use) {
    return use.processes().stream().mapToLong(ProcessUse::gpuNanos).sum();
  }

  private static boolean isHeld(ShareUse use) {
    Share share = use.share().share();
    return CoreLimits.isLimited(share) && share.coreLimit() == CoreLimit.HARD;
  }

  private List<CoreUse.User> users(ShareUse use) {
    return use.processes().stream()
        .filter(process -> users.containsKey(process.identity()))
        .map(process -> new CoreUse.User(process.pid(),
            percent(Objects.requireNonNull(users.get(process.identity()))), process.inLedger()))
        .sorted(Comparator.comparingInt(CoreUse.User::percent).reversed().thenComparingLong(CoreUse.User::pid))
        .toList();
  }

  private int percent(long nanos) {
    return (int) Math.min(100, Math.round(100.0 * nanos / watchedSince));
  }
}
