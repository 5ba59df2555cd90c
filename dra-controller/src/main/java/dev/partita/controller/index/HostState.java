package dev.partita.controller.index;

import dev.partita.controller.booking.Account;
import dev.partita.controller.booking.Accounts;
import dev.partita.controller.inventory.Card;
import dev.partita.controller.inventory.CardKey;
import dev.partita.controller.inventory.GpuHost;
import dev.partita.controller.place.PlacementScore;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * A host with what is free of each of its cards.
 *
 * @param positions where its cards are, by position
 * @param wholeCards the index of hosts of its shape
 * @param free what is free on all its cards, in parts as {@link PlacementScore} counts them
 * @param accounts what is taken of its cards, by position
 * @param untouched positions of the cards of which nothing is taken
 * @param freeParts the different states of cards of which a share may be taken
 * @param occupancy what it has in common with hosts that are alike
 */
public record HostState(
    GpuHost host,
    List<CardPosition> positions,
    WholeCardIndex wholeCards,
    long free,
    List<Account> accounts,
    BitSet untouched,
    Set<FreePart> freeParts,
    OccupancyKey occupancy) {
  /**
   * Cards of one host that are alike and equally full.
   *
   * @param memory bytes free
   * @param cores percent free
   */
  record FreePart(CardClass cardClass, boolean untouched, long memory, int cores) {}

  static HostState of(GpuHost host, List<CardPosition> positions, WholeCardIndex wholeCards, Accounts books) {
    long sum = 0;
    Account[] taken = new Account[positions.size()];
    BitSet whole = new BitSet();
    Set<FreePart> open = new HashSet<>();
    for (int i = 0; i < positions.size(); i++) {
      Card card = host.cards().get(i);
      Account account = books.of(card.key());
      taken[i] = account;
      sum += PlacementScore.free(card, account);
      whole.set(i, account.isUntouched());
      if (!account.isClosedToShares()) {
        long memory = Math.max(0, card.allocatableMemory() - account.memory());
        open.add(new FreePart(positions.get(i).cardClass(), account.isUntouched(), memory,
            Math.max(0, Account.CORES - account.cores())));
      }
    }
    List<Account> accounts = List.of(taken);
    return new HostState(host, positions, wholeCards, sum, accounts, whole, open,
        new OccupancyKey(positions, accounts));
  }

  /** The class of the card at that position. */
  public CardClass cardClass(int position) {
    return positions.get(position).cardClass();
  }

  /** The same host after its accounts changed. */
  HostState now(Accounts accounts) {
    return of(host, positions, wholeCards, accounts);
  }

  /** What is taken of one of the host's cards. */
  public Account account(CardKey card) {
    for (int i = 0; i < accounts.size(); i++) {
      if (host.cards().get(i).key().equals(card)) {
        return accounts.get(i);
      }
    }
    return Account.EMPTY;
  }
}
