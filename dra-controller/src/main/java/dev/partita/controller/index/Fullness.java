package dev.partita.controller.index;

import dev.partita.controller.booking.Account;
import java.util.List;

/**
 * What hosts have in common of which the same can be said, whatever is asked of cards by kind and spot: where their cards are, and what is taken of each.
 * Its hash is worked out once, for as long as the host does not change.
 */
public final class Fullness {
  private final List<Spot> spots;
  private final List<Account> accounts;
  private int hash;

  Fullness(List<Spot> spots, List<Account> accounts) {
    this.spots = spots;
    this.accounts = accounts;
  }

  @Override
  public boolean equals(Object other) {
    return other == this
        || (other instanceof Fullness its && its.hashCode() == hashCode() && its.spots.equals(spots) && its.accounts.equals(accounts));
  }

  @Override
  public int hashCode() {
    if (hash == 0) {
      hash = 31 * spots.hashCode() + accounts.hashCode();
    }
    return hash;
  }
}
