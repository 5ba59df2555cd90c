package dev.partita.controller.allocate;

import dev.partita.api.DeviceMode;
import dev.partita.api.config.GpuShareConfig.Packing;
import dev.partita.controller.inventory.Card;
import dev.partita.controller.inventory.GpuHost;
import java.util.Comparator;
import java.util.function.Function;

/**
 * How good a placement is; the smaller the better, compared from the first component to the last.
 *
 * @param rank how far down the alternatives of firstAvailable it is
 * @param opened untouched cards that shares open
 * @param leftover what stays free on the cards that are used, in parts of a card (memory and cores each count up to 1)
 * @param free what stays free on the node, likewise; negative where pods are to be spread
 * @param node name, so that equal placements are decided the same way every time
 */
record PlacementScore(int rank, int opened, double leftover, double free, String node) implements Comparable<PlacementScore> {
  private static final Comparator<PlacementScore> ORDER =
      Comparator.comparingInt(PlacementScore::rank)
          .thenComparingInt(PlacementScore::opened)
          .thenComparingDouble(PlacementScore::leftover)
          .thenComparingDouble(PlacementScore::free)
          .thenComparing(PlacementScore::node);

  @Override
  public int compareTo(PlacementScore other) {
    return ORDER.compare(this, other);
  }

  /** How good a card is for a device, as it stands before. */
  static double ofCard(Fit.Fits fits, Account before, Packing packing) {
    if (fits.device().mode() == DeviceMode.WHOLE) {
      return 0;
    }
    Card card = fits.device().card();
    double untouched = before.isUntouched() ? 10 : 0;
    double free = untouched + free(card, before.plus(DeviceMode.SHARED, fits.memory(), fits.cores()));
    return packing == Packing.SPREAD ? -free : free;
  }

  static PlacementScore ofNode(
      int rank, GpuHost host, Accounts before, Function<Card, Account> after, Packing packing) {
    int opened = 0;
    double leftover = 0;
    double free = 0;
    for (Card card : host.cards()) {
      Account was = before.of(card.key());
      Account is = after.apply(card);
      free += free(card, is);
      if (!was.equals(is) && is.wholes() == 0) {
        opened += was.isUntouched() ? 1 : 0;
        leftover += free(card, is);
      }
    }
    return packing == Packing.SPREAD
        ? new PlacementScore(rank, 0, 0, -free, host.name())
        : new PlacementScore(rank, opened, leftover, free, host.name());
  }

  private static double free(Card card, Account account) {
    if (account.wholes() > 0) {
      return 0;
    }
    double memory = (double) (card.sellableMemory() - account.memory()) / Math.max(1, card.sellableMemory());
    return memory + (100 - account.cores()) / 100.0;
  }
}
