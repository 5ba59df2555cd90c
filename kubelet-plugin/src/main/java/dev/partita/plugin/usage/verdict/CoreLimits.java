package dev.partita.plugin.usage.verdict;

import dev.partita.api.config.GpuShareConfig.CoreLimit;
import dev.partita.plugin.grant.Share;
import java.util.List;

/** Adds up the core limits of the shares that one container has, as the interception library does. */
final class CoreLimits {
  private static final int NONE = 100;

  private CoreLimits() {}

  /** core_rules_of in hook-lib's core_rules.c. */
  static boolean isLimited(Share share) {
    return share.cores() > 0 && share.cores() < NONE && share.coreLimit() != CoreLimit.NONE;
  }

  /**
   * What a container may have with all these shares of one card, in percent; 100 is no limit: core_rules_sum in
   * hook-lib's core_rules.c.
   */
  static int together(List<Share> shares) {
    return shares.stream().allMatch(CoreLimits::isLimited)
        ? Math.min(NONE, shares.stream().mapToInt(Share::cores).sum())
        : NONE;
  }
}
