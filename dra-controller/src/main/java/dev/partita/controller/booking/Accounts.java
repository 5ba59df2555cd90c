package dev.partita.controller.booking;

import dev.partita.controller.inventory.CardKey;

/** What is taken of every card, to read. */
@FunctionalInterface
public interface Accounts {
  Account of(CardKey card);
}
