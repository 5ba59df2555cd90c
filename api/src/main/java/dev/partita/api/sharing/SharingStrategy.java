package dev.partita.api.sharing;

import dev.partita.api.DeviceMode;
import dev.partita.api.DeviceName;
import dev.partita.api.MigSlot;
import dev.partita.api.config.GpuShareConfig;
import dev.partita.api.config.GpuShareConfig.Placement;
import java.util.Optional;

/**
 * How a card is shared: what one claim has of it, and whether others may have the rest. {@link #of} is the one rule by
 * which that is read from what is allocated. What a strategy means stands in one class for each beside {@code CardUse}
 * of the controller (what it books, and what that clashes with) and of the plugin (what a container gets, and who uses
 * it), both with how it is told.
 */
public sealed interface SharingStrategy {
  /** A part of the card's memory and time, which the hook library holds containers to. Others may have the rest. */
  record HookedShare() implements SharingStrategy {}

  /** A share like {@link HookedShare}, on a card of which nobody else has anything. */
  record ExclusiveShare() implements SharingStrategy {}

  /** The whole card, of which nobody else has anything; nothing is intercepted. */
  record WholeCard() implements SharingStrategy {}

  /** A MIG instance, which the card itself holds to its part; nothing is intercepted. */
  record MigInstance(MigSlot slot) implements SharingStrategy {}

  /** Access to the card beside whoever has it ({@code adminAccess}); nothing is taken, and nothing intercepted. */
  record AdminAccess() implements SharingStrategy {}

  /**
   * How a claim has a device that is allocated to it.
   *
   * @param placement what its config says of the card
   */
  static SharingStrategy of(DeviceName device, Placement placement, boolean adminAccess) {
    if (adminAccess) {
      return new AdminAccess();
    }
    return switch (device) {
      case DeviceName.Whole _ -> new WholeCard();
      case DeviceName.Shared _ -> ofShare(placement);
      case DeviceName.Mig mig -> new MigInstance(mig.slot());
    };
  }

  /** How a claim has a share whose config says that of the card. */
  static SharingStrategy ofShare(Placement placement) {
    return placement.exclusive() ? new ExclusiveShare() : new HookedShare();
  }

  /** A field of the config that devices of some modes cannot fulfil. */
  enum ModeField {
    /** To hold more memory than what is had of the card. */
    OVERSUBSCRIBE("oversubscribe"),
    /** To keep others off the card. */
    EXCLUSIVE("placement.exclusive");

    private final String path;

    ModeField(String path) {
      this.path = path;
    }

    /** Where it stands in the config. */
    public String path() {
      return path;
    }
  }

  /**
   * What a config says that no device of that mode can fulfil; empty if that is nothing. Of several fields it is the
   * first.
   *
   * @param oversubscribe what it says, in percent
   * @param placement what it says of the card
   */
  static Optional<ModeField> unfulfilled(DeviceMode mode, int oversubscribe, Placement placement) {
    boolean canOversubscribe = switch (mode) {
      case SHARED -> true;
      case WHOLE, MIG -> false;
    };
    boolean canBeExclusive = switch (mode) {
      case WHOLE, SHARED -> true;
      case MIG -> false;
    };
    if (!canOversubscribe && oversubscribe != GpuShareConfig.NOT_OVERSUBSCRIBED) {
      return Optional.of(ModeField.OVERSUBSCRIBE);
    }
    return !canBeExclusive && placement.exclusive() ? Optional.of(ModeField.EXCLUSIVE) : Optional.empty();
  }

  /**
   * The field of the config that asks for it and that kube-scheduler, which reads no configs, would not hold to; empty
   * where it may allocate it.
   *
   * @param allMemory whether it takes all memory that the card has for shares: then nothing is left for others
   */
  default Optional<String> fieldUnknownToScheduler(boolean allMemory) {
    return switch (this) {
      case ExclusiveShare _ -> allMemory ? Optional.empty() : Optional.of("placement.exclusive");
      case HookedShare _,WholeCard _,MigInstance _,AdminAccess _ -> Optional.empty();
    };
  }
}
