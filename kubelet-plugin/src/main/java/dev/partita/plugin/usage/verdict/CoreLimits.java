package dev.partita.plugin.usage.verdict;

import dev.partita.api.config.GpuShareConfig.CoreLimit;
import dev.partita.plugin.claim.Share;
import dev.partita.plugin.usage.measure.WatchedShare;
import java.util.Collection;
import java.util.List;
import java.util.stream.Collectors;

/** Adds up the core limits of the shares that one container has, as the interception library does. */
public final class CoreLimits {
  private static final int NONE = 100;

  private CoreLimits() {}

  /** core_rules_of in hook-lib's core_policy.c. */
  static boolean isLimited(Share share) {
    return share.cores() > 0 && share.cores() < NONE && share.coreLimit() != CoreLimit.NONE;
  }

  /**
   * What a container may have with all these shares of one card, in percent; 100 is no limit: core_rules_sum in
   * hook-lib's core_policy.c.
   */
  static int together(List<Share> shares) {
    return shares.stream().allMatch(CoreLimits::isLimited)
        ? Math.min(NONE, shares.stream().mapToInt(Share::cores).sum())
        : NONE;
  }

  /**
   * On how many cards a container with these shares is limited. On more than one the library does not hold its programs
   * to that, since those that work together across cards would wait for each other without end: not_across_cards in
   * hook-lib's cores.c.
   */
  public static long limitedCards(Collection<WatchedShare> shares) {
    return shares.stream().collect(Collectors.groupingBy(WatchedShare::card)).values().stream()
        .filter(ofCard -> together(ofCard.stream().map(WatchedShare::share).toList()) < NONE)
        .count();
  }
}
