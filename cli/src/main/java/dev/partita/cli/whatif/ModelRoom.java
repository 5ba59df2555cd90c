package dev.partita.cli.whatif;

import dev.partita.controller.booking.Account;
import dev.partita.controller.inventory.Card;
import dev.partita.controller.inventory.CardKey;
import dev.partita.controller.inventory.GpuHost;
import dev.partita.controller.whatif.PodOutcome;
import dev.partita.controller.whatif.RequestedCards;
import dev.partita.controller.whatif.WhatIf;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * What would fit on the cards of one model.
 *
 * @param cards how many there are
 * @param wholeFree how many could be had as a whole, a pod each
 * @param largest the largest share; empty if none fits at all
 */
record ModelRoom(String model, int cards, int wholeFree, Optional<Largest> largest) {
  private static final long MIB = 1L << 20;

  /**
   * The largest share.
   *
   * @param memory bytes, in whole MiB
   * @param node where it fits
   * @param cores percent that are free on the same card
   */
  record Largest(long memory, String node, int cores) {}

  /**
   * Asks the allocator for every model.
   *
   * @param namespace whose quotas count
   */
  static List<ModelRoom> of(WhatIf cluster, String namespace) {
    Map<String, List<Card>> byModel = new TreeMap<>();
    for (GpuHost host : cluster.inventory().hosts().values()) {
      host.cards().forEach(card -> byModel.computeIfAbsent(card.model(), _ -> new ArrayList<>()).add(card));
    }
    List<ModelRoom> rooms = new ArrayList<>();
    byModel.forEach((model, cards) -> rooms.add(
        new ModelRoom(model, cards.size(),
            cluster.fits(RequestedCards.whole(namespace, model), cards.size()).all(),
            largest(cluster, namespace, model, cards))));
    return rooms;
  }

  /** Halves what it may be until it is known: what fits, all smaller ones do as well. */
  private static Optional<Largest> largest(WhatIf cluster, String namespace, String model, List<Card> cards) {
    long fits = 0;
    long above = cards.stream().mapToLong(Card::allocatableMemory).max().orElse(0) / MIB + 1;
    Optional<PodOutcome.Runs> best = Optional.empty();
    while (above - fits > 1) {
      long middle = fits + (above - fits) / 2;
      Optional<PodOutcome.Runs> found = cluster.wouldRun(RequestedCards.share(namespace, model, middle * MIB));
      if (found.isPresent()) {
        fits = middle;
        best = found;
      } else {
        above = middle;
      }
    }
    long memory = fits * MIB;
    return best.map(
        runs -> {
          CardKey card = runs.plan().outcome().bookings().getFirst().getFirst().card();
          return new Largest(memory, runs.node(), Account.CORES - cluster.account(card).cores());
        });
  }
}
