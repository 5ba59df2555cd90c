package dev.partita.api.sharing;

import dev.partita.api.DeviceMode;
import dev.partita.api.DeviceName;
import dev.partita.api.MigSlot;
import dev.partita.api.config.GpuShareConfig.Placement;
import dev.partita.api.config.GpuShareConfig.Sharing;
import dev.partita.api.config.GpuShareConfig.TimeSlice;
import dev.partita.api.config.GpuShareConfig;
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

  /**
   * A part of an opaque card's memory and time, as the books have it; nothing is intercepted and nobody is held to
   * anything. Others may have the rest.
   */
  record BookedShare() implements SharingStrategy {}

  /**
   * All of the card, in turn with others who have it so, as the driver shares it out; nothing is intercepted and nobody
   * is held to anything. No limited share stands beside it: what is promised to that one, this one could take.
   */
  record TimeSlicing(TimeSlice interval) implements SharingStrategy {
    /**
     * As many devices of claims can be on one card. When all are busy each has an eighth of the card's time, and their
     * contexts alone may take 4 GiB.
     */
    public static final int MOST = 8;
  }

  /**
   * A part of the card's memory, which the hook library holds containers to, and all of the card at the same time as
   * the others who have it so: NVIDIA's Multi-Process Service (MPS) runs their kernels beside each other. Nobody who
   * does not use that service stands beside it, for the card would change to and fro between its server and the others.
   */
  record Mps() implements SharingStrategy {
    /**
     * As many claims can be on one card. MPS serves 48 contexts a card (NVIDIA's manual for release 550, compute
     * capability 7.0 and later; older cards have 16), and a claim that is used has one at least. Whoever comes beyond
     * that gets CUDA_ERROR_MPS_MAX_CLIENTS_REACHED.
     */
    public static final int MOST = 48;
  }

  /** The whole card, of which nobody else has anything; nothing is intercepted. */
  record WholeCard() implements SharingStrategy {}

  /** A MIG instance, which the card itself holds to its part; nothing is intercepted. */
  record MigInstance(MigSlot slot) implements SharingStrategy {}

  /**
   * A part of the memory of a MIG instance that somebody else than Partita made, which the hook library holds
   * containers to. Others may have the rest of the instance; the card itself holds all of them to the instance.
   */
  record InstanceShare(MigSlot slot) implements SharingStrategy {}

  /** Access to the card beside whoever has it ({@code adminAccess}); nothing is taken, and nothing intercepted. */
  record AdminAccess() implements SharingStrategy {}

  /**
   * How a claim has a device that is allocated to it.
   *
   * @param placement what its config says of the card
   * @param sharing what its config says of the others there
   */
  static SharingStrategy of(DeviceName device, Placement placement, Sharing sharing, boolean adminAccess) {
    if (adminAccess) {
      return new AdminAccess();
    }
    return switch (device) {
      case DeviceName.Whole _ -> new WholeCard();
      case DeviceName.Shared _ -> ofShare(placement, sharing);
      case DeviceName.Mig mig -> new MigInstance(mig.slot());
      case DeviceName.MigShared shared -> new InstanceShare(shared.slot());
      case DeviceName.Opaque _ -> new BookedShare();
    };
  }

  /** How a claim has a share whose config says that of the card and of the others there. */
  static SharingStrategy ofShare(Placement placement, Sharing sharing) {
    return switch (sharing) {
      case Sharing.TimeSlicing(TimeSlice interval) -> new TimeSlicing(interval);
      case Sharing.Mps _ -> new Mps();
      case Sharing.Limits _ -> placement.exclusive() ? new ExclusiveShare() : new HookedShare();
    };
  }

  /** A field of the config that devices of some modes cannot fulfil. */
  enum ModeField {
    /** To hold more memory than what is had of the card. */
    OVERSUBSCRIBE("oversubscribe"),
    /** To keep others off the card. */
    EXCLUSIVE("placement.exclusive"),
    /** To have the card in turn with others, or at the same time as others by MPS. */
    SHARING("sharing.strategy"),
    /** To grow while nobody else needs the memory. */
    MEMORY_LIMIT("memoryLimit"),
    /** To have the time of others that they leave idle. */
    CORE_LIMIT("coreLimit");

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
   * @param sharing what it says of the others there
   */
  static Optional<ModeField> unfulfilled(
      DeviceMode mode,
      int oversubscribe,
      Placement placement,
      Sharing sharing) {
    boolean canOversubscribe = switch (mode) {
      case SHARED -> true;
      case WHOLE, MIG, MIG_SHARED -> false;
    };
    boolean canBeExclusive = switch (mode) {
      case WHOLE, SHARED -> true;
      case MIG, MIG_SHARED -> false;
    };
    if (!canOversubscribe && oversubscribe != GpuShareConfig.NOT_OVERSUBSCRIBED) {
      return Optional.of(ModeField.OVERSUBSCRIBE);
    }
    if (!canBeExclusive && placement.exclusive()) {
      return Optional.of(ModeField.EXCLUSIVE);
    }
    boolean canBeShared = switch (mode) {
      case SHARED -> true;
      case WHOLE, MIG, MIG_SHARED -> false;
    };
    return !canBeShared && !(sharing instanceof Sharing.Limits) ? Optional.of(ModeField.SHARING) : Optional.empty();
  }

  /**
   * What a config says that no opaque card can fulfil, since nothing holds programs on it; empty if that is nothing. Of
   * several fields it is the first.
   */
  static Optional<ModeField> unfulfilledByOpaque(int oversubscribe, Placement placement, Sharing sharing) {
    if (oversubscribe != GpuShareConfig.NOT_OVERSUBSCRIBED) {
      return Optional.of(ModeField.OVERSUBSCRIBE);
    }
    if (placement.exclusive()) {
      return Optional.of(ModeField.EXCLUSIVE);
    }
    return sharing instanceof Sharing.Limits ? Optional.empty() : Optional.of(ModeField.SHARING);
  }

  /** The same of all that a config says. */
  static Optional<ModeField> unfulfilledByOpaque(GpuShareConfig config) {
    return unfulfilledByOpaque(config.oversubscribe(), config.placement(), config.sharing())
        .or(() -> config.memoryLimit().isPresent() ? Optional.of(ModeField.MEMORY_LIMIT) : Optional.empty())
        .or(() -> config.coreLimit() == GpuShareConfig.CoreLimit.SOFT
            ? Optional.of(ModeField.CORE_LIMIT)
            : Optional.empty());
  }

  /** What to write instead of a field that no opaque card can fulfil, for people: goes on after a comma. */
  static String insteadOnOpaque(ModeField field) {
    return field.path()
        + " is for cards on which something holds programs to their share, and nothing does on an opaque"
        + " card; " + (field == ModeField.EXCLUSIVE
            ? "leave it out, and ask for no memory: that is all of a card"
            : "leave it out");
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
      case TimeSlicing _,Mps _ -> Optional.of(ModeField.SHARING.path());
      case HookedShare _,BookedShare _,WholeCard _,MigInstance _,InstanceShare _,AdminAccess _ -> Optional.empty();
    };
  }
}
