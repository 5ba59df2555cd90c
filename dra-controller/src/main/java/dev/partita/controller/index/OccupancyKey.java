package dev.partita.controller.index;

import dev.partita.controller.booking.Account;
import java.util.List;

/**
 * What is taken of each card of a host, at which position. Hosts with equal keys can serve the same requests, as long
 * as these read nothing but the class and position of a card: they are judged once. Its hash is computed once.
 */
public final class OccupancyKey {
  private final List<CardPosition> positions;
  private final List<Account> accounts;
  private int hash;

  OccupancyKey(List<CardPosition> positions, List<Account> accounts) {
    this.positions = positions;
    this.accounts = accounts;
  }

  @Override
  public boolean equals(Object other) {
    return other == this
        || (other instanceof OccupancyKey its && its.hashCode() == hashCode() && its.positions.equals(positions)
            && its.accounts.equals(accounts));
  }

  @Override
  public int hashCode() {
    if (hash == 0) {
      hash = 31 * positions.hashCode() + accounts.hashCode();
    }
    return hash;
  }
}
