package dev.partita.controller.booking;

import dev.partita.api.DeviceMode;
import dev.partita.api.DeviceName;
import dev.partita.controller.inventory.CardKey;

/**
 * What one allocated device takes of its card.
 *
 * @param card the card
 * @param device as what it is taken
 * @param memory bytes that a share takes, of a card or of a MIG instance; 0 for a whole card, for a MIG instance, and
 *        for a {@linkplain #turn turn}
 * @param cores percent that a share is guaranteed; 0 for a whole card or a MIG instance
 * @param mps whether it is a share by MPS, beside which there are only such shares
 */
public record Booking(CardKey card, DeviceName device, long memory, int cores, boolean mps) {
  /** Bytes and percent that count of a share, whatever somebody says: a million of them can be added up. */
  public static final long MOST_MEMORY = Long.MAX_VALUE / 1_000_000;

  public static final long MOST_CORES = 100;

  public Booking {
    if (memory < 0 || cores < 0) {
      throw new IllegalArgumentException("a booking takes nothing negative: " + memory + " bytes, " + cores + " %");
    }
    if (device.index() != card.index()) {
      throw new IllegalArgumentException(device + " is no device of card " + card);
    }
    if (mps && (!(device instanceof DeviceName.Shared) || memory == 0)) {
      throw new IllegalArgumentException("a share by MPS is a share of some memory: " + device + ", " + memory);
    }
  }

  /** Anything but a share by MPS. */
  public Booking(CardKey card, DeviceName device, long memory, int cores) {
    this(card, device, memory, cores, false);
  }

  /** The same device with as much as the other one takes of it, where that is more. */
  public Booking max(Booking other) {
    return new Booking(card, device, Math.max(memory, other.memory), Math.max(cores, other.cores), mps);
  }

  /** A share beside others by MPS. */
  public static Booking byMps(CardKey card, long memory, int cores) {
    return new Booking(card, DeviceName.of(card.index(), DeviceMode.SHARED), memory, cores, true);
  }

  /**
   * A turn on a card that others have in turn, too: a share of no bytes. It takes nothing that could be counted, and
   * everybody but those who have turns is kept off the card.
   */
  public static Booking turn(CardKey card) {
    return new Booking(card, DeviceMode.SHARED, 0, 0);
  }

  /** Whether it is a {@linkplain #turn turn}. */
  public boolean isTurn() {
    return isTurn(device, memory);
  }

  static boolean isTurn(DeviceName device, long memory) {
    return device instanceof DeviceName.Shared && memory == 0;
  }

  /** A card as a whole, or a share. */
  public Booking(CardKey card, DeviceMode mode, long memory, int cores) {
    this(card, DeviceName.of(card.index(), mode), memory, cores);
  }
}
