package dev.partita.controller.allocate;

import dev.partita.controller.inventory.Device;

/** Whether a device can serve an ask as its card stands. */
sealed interface Fit {
  /**
   * It can.
   *
   * @param memory bytes that it would take; 0 for a whole card
   * @param cores percent that it would take; 0 for a whole card
   */
  record Fits(Device device, long memory, int cores) implements Fit {}

  record Refused(CardRefusal why) implements Fit {}
}
