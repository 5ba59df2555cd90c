package dev.partita.controller.allocate;

import dev.partita.controller.inventory.Device;

/** Whether a device can serve an ask as its card stands. */
sealed interface Fit {
  /**
   * It can.
   *
   * @param memory bytes that it would take; 0 for a whole card or a MIG instance
   * @param cores percent that it would take; 0 for a whole card or a MIG instance
   * @param access whether it would take anything at all
   */
  record Fits(Device device, long memory, int cores, DeviceAsk.Access access) implements Fit {
    Fits(Device device, long memory, int cores) {
      this(device, memory, cores, DeviceAsk.Access.OWN);
    }

    boolean isMonitor() {
      return access == DeviceAsk.Access.MONITOR;
    }

    /** The card's account once it is taken. */
    Account after(Account before) {
      return isMonitor() ? before : before.plus(device.name(), memory, cores);
    }

    /** The card's account before it was taken. */
    Account before(Account after) {
      return isMonitor() ? after : after.minus(new Booking(device.card().key(), device.name(), memory, cores));
    }
  }

  record Refused(CardRefusal why) implements Fit {}
}
