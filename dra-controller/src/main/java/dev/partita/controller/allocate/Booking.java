package dev.partita.controller.allocate;

import dev.partita.api.DeviceMode;
import dev.partita.controller.inventory.CardKey;

/**
 * What one allocated device takes of its card.
 *
 * @param card the card
 * @param mode whether it is taken as a whole
 * @param memory bytes that a share takes; 0 for a whole card
 * @param cores percent that a share is guaranteed; 0 for a whole card
 */
public record Booking(CardKey card, DeviceMode mode, long memory, int cores) {
  public Booking {
    if (memory < 0 || cores < 0) {
      throw new IllegalArgumentException("a booking takes nothing negative: " + memory + " bytes, " + cores + " %");
    }
  }
}
