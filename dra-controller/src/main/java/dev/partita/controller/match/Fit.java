package dev.partita.controller.match;

import dev.partita.api.DeviceMode;
import dev.partita.controller.booking.Account;
import dev.partita.controller.booking.Booking;
import dev.partita.controller.inventory.Device;

/** Whether a device can serve an ask as its card stands. */
public sealed interface Fit {
  /**
   * It can.
   *
   * @param memory bytes that a share would have; 0 for a whole card or a MIG instance
   * @param cores percent that a share would have; 0 for a whole card or a MIG instance
   * @param taking what it would take from others
   */
  record Fits(Device device, long memory, int cores, Taking taking) implements Fit {
    Fits(Device device, long memory, int cores) {
      this(device, memory, cores, Taking.ITS_PART);
    }

    public boolean isMonitor() {
      return taking == Taking.NOTHING;
    }

    /** What the card is taken as: an exclusive share takes it as a whole. */
    public DeviceMode mode() {
      return taking == Taking.THE_CARD ? DeviceMode.WHOLE : device.mode();
    }

    /** The same of another device that is like it. */
    public Fits on(Device other) {
      return new Fits(other, memory, cores, taking);
    }

    /** The card's account once it is taken. */
    public Account after(Account before) {
      return isMonitor() ? before : before.plus(booking());
    }

    /** The card's account before it was taken. */
    public Account before(Account after) {
      return isMonitor() ? after : after.minus(booking());
    }

    private Booking booking() {
      return Booking.of(device, memory, cores, taking == Taking.THE_CARD);
    }
  }

  /** What a device takes from others. */
  enum Taking {
    /** What the device is: a share, a MIG instance, a whole card. */
    ITS_PART,
    /** All of the card, though it is but a share that is had. */
    THE_CARD,
    /** Nothing: it is only looked at. */
    NOTHING
  }

  record Refused(CardRefusal why) implements Fit {}
}
