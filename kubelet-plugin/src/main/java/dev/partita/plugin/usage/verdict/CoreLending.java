package dev.partita.plugin.usage.verdict;

import dev.partita.api.config.GpuShareConfig.CoreLimit;
import dev.partita.plugin.grant.Share;
import dev.partita.plugin.usage.measure.CardTime;
import dev.partita.plugin.usage.measure.ShareRef;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * What a share had of its card's time beyond what is set aside for it, and what it left of that to others, by NVML's
 * samples between two looks.
 *
 * <p>What shares have beyond their own comes first from the time that is set aside for nobody, and then from those that
 * leave some of theirs, in proportion to what they leave. For example, of a second 50 % are set aside for a share that
 * uses 10, and 30 % for one that uses 60: that one borrows 0.3 s, of which 0.2 s are nobody's, so that the first one
 * lends 0.1.
 *
 * <p>A share that a container has beside others of the same card is left out: NVML does not tell their time apart. A
 * hard limit borrows nothing: what it has too much is settled within moments.
 *
 * @param lentNanos that others had of what is set aside for it
 * @param borrowedNanos that it had beyond that
 */
public record CoreLending(long lentNanos, long borrowedNanos) {
  /** Nothing. */
  public static final CoreLending NONE = new CoreLending(0, 0);

  private static final int ALL = 100;

  /**
   * Of every share that is not left out.
   *
   * @param times what processes had of the cards since the look before, by card
   */
  public static Map<ShareRef, CoreLending> of(Collection<ShareUse> uses, Map<String, CardTime> times) {
    Map<ShareRef, CoreLending> lending = new HashMap<>();
    uses.stream().filter(use -> use.beside().isEmpty())
        .collect(Collectors.groupingBy(use -> use.share().card()))
        .forEach((card, ofCard) -> onCard(ofCard, times.getOrDefault(card, CardTime.NONE).watchedNanos(), lending));
    return lending;
  }

  private static void onCard(List<ShareUse> uses, long watched, Map<ShareRef, CoreLending> lending) {
    if (watched <= 0) {
      return;
    }
    long aside = 0;
    long left = 0;
    long beyond = 0;
    for (ShareUse use : uses) {
      long spare = spare(use, watched);
      aside += own(use, watched);
      left += Math.max(0, spare);
      beyond += borrows(use) ? Math.max(0, -spare) : 0;
    }
    long taken = Math.min(left, Math.max(0, beyond - Math.max(0, watched - aside)));
    for (ShareUse use : uses) {
      long spare = spare(use, watched);
      long lent = spare <= 0 ? 0 : Math.round((double) taken * spare / left);
      lending.put(use.share().ref(), new CoreLending(lent, spare < 0 && borrows(use) ? -spare : 0));
    }
  }

  /** What is set aside for it and not used; below 0 what it had beyond that. */
  private static long spare(ShareUse use, long watched) {
    return own(use, watched) - use.processes().stream().mapToLong(ProcessUse::gpuNanos).sum();
  }

  private static long own(ShareUse use, long watched) {
    return watched / ALL * use.share().share().cores();
  }

  private static boolean borrows(ShareUse use) {
    Share share = use.share().share();
    return share.cores() == 0 || share.coreLimit() != CoreLimit.HARD;
  }
}
