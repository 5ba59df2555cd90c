package dev.partita.controller.allocate;

import dev.partita.controller.inventory.Card;
import dev.partita.controller.inventory.GpuHost;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * A host as its cards stand.
 *
 * @param shelves of its cards' kinds, by position
 * @param rack of its shape
 * @param free what is free on all its cards, in parts as {@link PlacementScore} counts them
 * @param untouched positions of the cards of which nothing is taken
 * @param rooms the different states of cards of which a share may be taken
 */
record Standing(GpuHost host, List<Shelf> shelves, Rack rack, long free, BitSet untouched, Set<Room> rooms) {
  /**
   * Cards of one host that are alike and equally full.
   *
   * @param memory bytes free
   * @param cores percent free
   */
  record Room(Shelf shelf, boolean untouched, long memory, int cores) {}

  static Standing of(GpuHost host, List<Shelf> shelves, Rack rack, Accounts accounts) {
    long sum = 0;
    BitSet whole = new BitSet();
    Set<Room> open = new HashSet<>();
    for (int i = 0; i < shelves.size(); i++) {
      Card card = host.cards().get(i);
      Account account = accounts.of(card.key());
      sum += PlacementScore.free(card, account);
      whole.set(i, account.isUntouched());
      if (!account.isClosedToShares()) {
        long memory = Math.max(0, card.sellableMemory() - account.memory());
        open.add(new Room(shelves.get(i), account.isUntouched(), memory, Math.max(0, Account.CORES - account.cores())));
      }
    }
    return new Standing(host, shelves, rack, sum, whole, open);
  }

  /** The same host after its accounts changed. */
  Standing now(Accounts accounts) {
    return of(host, shelves, rack, accounts);
  }
}
