package dev.partita.api;

import java.util.Optional;

/**
 * Name of a device in a pool: which card, and in which way it is handed out. {@code gpu-3} is card 3 as a whole, {@code
 * gpu-3-shared} the same card to take shares of, {@code gpu-3-mig-1g-18gb-5} the MIG instance of profile 1g.18gb that
 * begins at its memory slice 5, {@code gpu-3-mig-1g-18gb-5-shared} that instance to take shares of, {@code
 * gpu-100-opaque} card 100, which is opaque, to take shares of.
 */
public sealed interface DeviceName {
  /** Index of the first opaque card of a node: those of the driver keep the numbers that NVML gives them. */
  int FIRST_OPAQUE = 100;

  /** The card's index on its node, as NVML counts, from 0; of an opaque card from {@link #FIRST_OPAQUE}. */
  int index();

  /** How the card is handed out. */
  DeviceMode mode();

  /** The MIG instance of the card that it is, or that shares are taken of; empty for anything else. */
  default Optional<MigSlot> instance() {
    return Optional.empty();
  }

  /** The card as a whole. */
  record Whole(int index) implements DeviceName {
    public Whole {
      requireIndex(index);
    }

    @Override
    public DeviceMode mode() {
      return DeviceMode.WHOLE;
    }

    @Override
    public String toString() {
      return "gpu-" + index;
    }
  }

  /** The card to take shares of. */
  record Shared(int index) implements DeviceName {
    public Shared {
      requireIndex(index);
    }

    @Override
    public DeviceMode mode() {
      return DeviceMode.SHARED;
    }

    @Override
    public String toString() {
      return "gpu-" + index + "-shared";
    }
  }

  /**
   * A MIG instance of the card.
   *
   * @param slot which profile, and where
   */
  record Mig(int index, MigSlot slot) implements DeviceName {
    public Mig {
      requireIndex(index);
    }

    @Override
    public DeviceMode mode() {
      return DeviceMode.MIG;
    }

    @Override
    public Optional<MigSlot> instance() {
      return Optional.of(slot);
    }

    @Override
    public String toString() {
      return "gpu-" + index + "-mig-" + slot;
    }
  }

  /**
   * A MIG instance of the card to take shares of.
   *
   * @param slot which profile, and where
   */
  record MigShared(int index, MigSlot slot) implements DeviceName {
    public MigShared {
      requireIndex(index);
    }

    @Override
    public DeviceMode mode() {
      return DeviceMode.MIG_SHARED;
    }

    @Override
    public Optional<MigSlot> instance() {
      return Optional.of(slot);
    }

    @Override
    public String toString() {
      return "gpu-" + index + "-mig-" + slot + "-shared";
    }
  }

  /**
   * An opaque card to take shares of, which nothing holds containers to. It has a name of its own, so that nobody who
   * looks for a card of the driver's gets one.
   */
  record Opaque(int index) implements DeviceName {
    public Opaque {
      requireIndex(index);
    }

    @Override
    public DeviceMode mode() {
      return DeviceMode.SHARED;
    }

    @Override
    public String toString() {
      return "gpu-" + index + "-opaque";
    }
  }

  /** The name of a card as a whole or to take shares of; an instance needs a {@link MigSlot}. */
  static DeviceName of(int index, DeviceMode mode) {
    return switch (mode) {
      case WHOLE -> new Whole(index);
      case SHARED -> new Shared(index);
      case MIG, MIG_SHARED ->
          throw new IllegalArgumentException("a MIG instance of card " + index + " needs a profile and a place");
    };
  }

  /** Reads a device's name; empty if it is none of ours. */
  static Optional<DeviceName> parse(String name) {
    return DeviceNameForm.parse(name);
  }

  private static void requireIndex(int index) {
    if (index < 0) {
      throw new IllegalArgumentException("index of a card must not be negative: " + index);
    }
  }
}
