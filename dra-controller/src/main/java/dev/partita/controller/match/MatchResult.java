package dev.partita.controller.match;

import dev.partita.controller.booking.Account;
import dev.partita.controller.booking.Booking;
import dev.partita.controller.inventory.Device;
import java.util.Optional;

/** Whether a device can serve a request, and what of its card it then takes, or why not. */
public sealed interface MatchResult {
  /**
   * It can serve the request.
   *
   * @param memory bytes that a share would have; 0 for a whole card or a MIG instance
   * @param cores percent that a share would have; 0 for a whole card or a MIG instance
   * @param use how it would be had
   */
  record Match(Device device, long memory, int cores, CardUse use) implements MatchResult {
    /** What it takes of the card from others. */
    public Taking takes() {
      return use.takes();
    }

    /** The same of another device that is like it. */
    public Match on(Device other) {
      return new Match(other, memory, cores, use);
    }

    /** What it books of the card; empty if it takes nothing. */
    public Optional<Booking> booking() {
      return use.booking(device.card().key(), device.name(), memory, cores);
    }

    /** The card's account once it is taken. */
    public Account after(Account before) {
      return booking().map(before::plus).orElse(before);
    }
  }

  /** It cannot serve the request. */
  record Refused(CardRefusal why) implements MatchResult {}
}
