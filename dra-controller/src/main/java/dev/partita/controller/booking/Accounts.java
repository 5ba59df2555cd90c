package dev.partita.controller.booking;

import dev.partita.controller.inventory.CardKey;

/** What claims have taken of every card, to read only. */
@FunctionalInterface
public interface Accounts {
  Account of(CardKey card);
}
