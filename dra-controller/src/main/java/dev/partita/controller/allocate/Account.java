package dev.partita.controller.allocate;

import dev.partita.api.DeviceMode;

/**
 * What of one card is taken.
 *
 * @param shares how many shares
 * @param wholes how often the card is taken as a whole: more than once only if somebody else allocated wrongly
 * @param memory bytes that the shares take together
 * @param cores percent that the shares are guaranteed together
 */
public record Account(int shares, int wholes, long memory, int cores) {
  /** Percent of cores that a card has. */
  static final int CORES = 100;

  public static final Account EMPTY = new Account(0, 0, 0, 0);

  public boolean isUntouched() {
    return shares == 0 && wholes == 0;
  }

  Account plus(DeviceMode mode, long bytes, int percent) {
    return switch (mode) {
      case WHOLE -> new Account(shares, wholes + 1, memory, cores);
      case SHARED -> new Account(shares + 1, wholes, Math.addExact(memory, bytes), Math.addExact(cores, percent));
    };
  }

  Account minus(Booking booking) {
    return switch (booking.mode()) {
      case WHOLE -> new Account(shares, wholes - 1, memory, cores);
      case SHARED -> new Account(shares - 1, wholes, memory - booking.memory(), cores - booking.cores());
    };
  }
}
