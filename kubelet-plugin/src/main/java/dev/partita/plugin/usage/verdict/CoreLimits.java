package dev.partita.plugin.usage.verdict;

import dev.partita.api.config.GpuShareConfig.CoreLimit;
import dev.partita.plugin.grant.Share;
import dev.partita.plugin.usage.measure.ShareRef;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * Adds up the core limits of the shares that one container has, as the interception library does.
 */
public final class CoreLimits {
  private static final int NONE = 100;

  private CoreLimits() {}

  /**
   * Whether the interception library times the launches of a share's processes.
   *
   * @param uses all shares
   */
  public static boolean isTimed(ShareUse use, Map<ShareRef, ShareUse> uses) {
    return together(Stream.concat(Stream.of(use), use.beside().stream().map(uses::get).filter(Objects::nonNull))
        .map(one -> one.share().share()).toList()) < NONE;
  }

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
