package dev.partita.controller.booking;

import dev.partita.controller.inventory.CardKey;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Keeps what claims have taken of every card. It is updated claim by claim, so that no decision adds up the whole
 * cluster. For one thread.
 */
public final class Books implements Accounts {
  private final Map<String, List<Booking>> byClaim = new HashMap<>();
  private final Map<CardKey, Account> byCard = new HashMap<>();
  private final DirtySet changedNodes = new DirtySet();

  /** Replaces what the claim of that UID has taken. */
  public void put(String claimUid, List<Booking> bookings) {
    remove(claimUid);
    byClaim.put(claimUid, List.copyOf(bookings));
    for (Booking booking : bookings) {
      changedNodes.add(booking.card().node());
      byCard.merge(
          booking.card(),
          Account.EMPTY.plus(booking),
          (before, first) -> before.plus(booking));
    }
  }

  /**
   * Gives back what the claim has taken.
   *
   * @return whether there was anything to give back
   */
  public boolean remove(String claimUid) {
    @Nullable List<Booking> bookings = byClaim.remove(claimUid);
    if (bookings == null) {
      return false;
    }
    for (Booking booking : bookings) {
      changedNodes.add(booking.card().node());
      byCard.computeIfPresent(
          booking.card(),
          (card, before) -> {
            Account after = before.minus(booking);
            return after.isUntouched() ? null : after;
          });
    }
    return !bookings.isEmpty();
  }

  /** What the claim has taken; empty if it has nothing. */
  public List<Booking> bookings(String claimUid) {
    return byClaim.getOrDefault(claimUid, List.of());
  }

  /** Nodes whose cards' accounts may have changed since this was last asked. */
  public Set<String> takeChangedNodes() {
    return changedNodes.take();
  }

  @Override
  public Account of(CardKey card) {
    return byCard.getOrDefault(card, Account.EMPTY);
  }
}
