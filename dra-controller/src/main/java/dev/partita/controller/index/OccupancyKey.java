package dev.partita.controller.index;

import dev.partita.controller.booking.Account;
import java.util.List;

/**
 * What is taken of each card of a host, at which position. Hosts with equal keys can serve the same requests, as long
 * as these read nothing but the class and position of a card: they are judged once. Its hash is computed once.
 */
public final class OccupancyKey {
  private final List<CardPosition> spots;
  private final List<Account> accounts;
  private int hash;

  OccupancyKey(List<CardPosition> spots, List<Account> accounts) {
    this.spots = spots;
    this.accounts = accounts;
  }

  @Override
  public boolean equals(Object other) {
    return other == this
        || (other instanceof OccupancyKey its && its.hashCode() == hashCode() && its.spots.equals(spots)
            && its.accounts.equals(accounts));
  }

  @Override
  public int hashCode() {
    if (hash == 0) {
      hash = 31 * spots.hashCode() + accounts.hashCode();
    }
    return hash;
  }
}
