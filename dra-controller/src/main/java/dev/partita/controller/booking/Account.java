package dev.partita.controller.booking;

import dev.partita.api.DeviceName;
import dev.partita.api.MigSlot;
import dev.partita.api.sharing.SharingStrategy;
import dev.partita.controller.inventory.Card;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * What claims have taken of one card.
 *
 * @param shares how many shares, neither turns nor those by MPS counted
 * @param wholes how often the card is taken as a whole: more than once only if somebody else allocated wrongly
 * @param memory bytes that the shares take together, those by MPS included
 * @param cores percent that the shares are guaranteed together, those by MPS included
 * @param instances MIG instances; one that is there twice was allocated wrongly by somebody else
 * @param turns how many have all of the card in turn ({@link Booking#turn})
 * @param mps how many shares by MPS ({@link Booking#byMps})
 * @param sharedInstances MIG instances of which there are shares, in order of their slots
 */
public record Account(
    int shares,
    int wholes,
    long memory,
    int cores,
    List<MigSlot> instances,
    int turns,
    int mps,
    List<SharedInstance> sharedInstances) {
  /**
   * What claims have taken of a MIG instance in shares.
   *
   * @param shares how many
   * @param memory bytes that they take together
   */
  public record SharedInstance(MigSlot slot, int shares, long memory) {}

  /** Percent of cores that a card has. */
  public static final int CORES = 100;

  public static final Account EMPTY = new Account(0, 0, 0, 0);

  public Account {
    instances = List.copyOf(instances);
    sharedInstances = List.copyOf(sharedInstances);
  }

  /** A card of whose MIG instances nobody has shares. */
  public Account(int shares, int wholes, long memory, int cores, List<MigSlot> instances, int turns, int mps) {
    this(shares, wholes, memory, cores, instances, turns, mps, List.of());
  }

  /** A card that nobody has in turn or by MPS. */
  public Account(int shares, int wholes, long memory, int cores, List<MigSlot> instances) {
    this(shares, wholes, memory, cores, instances, 0, 0);
  }

  /** A card without MIG instances that nobody has in turn or by MPS. */
  public Account(int shares, int wholes, long memory, int cores) {
    this(shares, wholes, memory, cores, List.of());
  }

  /** Memory comes in powers of two, so that the hash that a record computes by itself would fall into few buckets. */
  @Override
  public int hashCode() {
    long hash = (memory * 31 + cores) * 31 + shares;
    hash = (((hash * 31 + wholes) * 31 + instances.hashCode()) * 31 + turns) * 31 + mps;
    hash = hash * 31 + sharedInstances.hashCode();
    hash *= 0x9E3779B97F4A7C15L;
    return (int) (hash >>> 32);
  }

  public boolean isUntouched() {
    return shares == 0 && wholes == 0 && !isCut() && turns == 0 && mps == 0;
  }

  /** Whether nothing of it can be taken as a share that is not by MPS, however small. */
  public boolean isClosedToShares() {
    return wholes > 0 || isCut() || turns > 0 || mps > 0;
  }

  /** Whether MIG instances of it are taken, as such or in shares. */
  public boolean isCut() {
    return !instances.isEmpty() || !sharedInstances.isEmpty();
  }

  /** The MIG instances of which something is taken: all of them, or shares. */
  public List<MigSlot> begunInstances() {
    if (sharedInstances.isEmpty()) {
      return instances;
    }
    List<MigSlot> begun = new ArrayList<>(instances);
    sharedInstances.forEach(shared -> begun.add(shared.slot()));
    begun.sort(null);
    return List.copyOf(begun);
  }

  /** What is taken of the instance in shares; none of them if that is nothing. */
  public SharedInstance sharesOf(MigSlot slot) {
    return sharedInstances.stream().filter(shared -> shared.slot().equals(slot)).findFirst()
        .orElse(new SharedInstance(slot, 0, 0));
  }

  /** Whether more is taken than there is of the card. */
  public boolean exceeds(Card card) {
    int ways = (wholes > 0 ? 1 : 0) + (shares > 0 ? 1 : 0) + (isCut() ? 1 : 0) + (turns > 0 ? 1 : 0)
        + (mps > 0 ? 1 : 0);
    return ways > 1 || wholes > 1 || turns > SharingStrategy.TimeSlicing.MOST || mps > SharingStrategy.Mps.MOST
        || memory > card.allocatableMemory() || cores > CORES || !card.mig().holds(begunInstances())
        || sharedInstances.stream().anyMatch(shared -> exceeds(shared, card));
  }

  private static boolean exceeds(SharedInstance shared, Card card) {
    return shared.memory() > card.mig().memoryBytes(shared.slot());
  }

  public Account plus(Booking booking) {
    return switch (booking.device()) {
      case DeviceName.Whole _ -> withWholes(1);
      case DeviceName.Shared _,DeviceName.Opaque _ -> withShare(booking, 1);
      case DeviceName.Mig mig -> {
        List<MigSlot> more = new ArrayList<>(instances);
        more.add(mig.slot());
        more.sort(null);
        yield new Account(shares, wholes, memory, cores, more, turns, mps, sharedInstances);
      }
      case DeviceName.MigShared shared -> withShareOf(shared.slot(), booking.memory(), 1);
    };
  }

  public Account minus(Booking booking) {
    return switch (booking.device()) {
      case DeviceName.Whole _ -> withWholes(-1);
      case DeviceName.Shared _,DeviceName.Opaque _ -> withShare(booking, -1);
      case DeviceName.Mig mig -> {
        List<MigSlot> fewer = new ArrayList<>(instances);
        fewer.remove(mig.slot());
        yield new Account(shares, wholes, memory, cores, fewer, turns, mps, sharedInstances);
      }
      case DeviceName.MigShared shared -> withShareOf(shared.slot(), booking.memory(), -1);
    };
  }

  private Account withWholes(int more) {
    return new Account(shares, wholes + more, memory, cores, instances, turns, mps, sharedInstances);
  }

  /** @param more 1 for one more such share, -1 for one less */
  private Account withShareOf(MigSlot slot, long bytes, int more) {
    SharedInstance before = sharesOf(slot);
    SharedInstance after =
        new SharedInstance(slot, before.shares() + more, Math.addExact(before.memory(), more * bytes));
    List<SharedInstance> all = new ArrayList<>(sharedInstances);
    all.remove(before);
    if (after.shares() != 0) {
      all.add(after);
    }
    all.sort(Comparator.comparing(SharedInstance::slot));
    return new Account(shares, wholes, memory, cores, instances, turns, mps, all);
  }

  /** @param more 1 for one more such share, -1 for one less */
  private Account withShare(Booking share, int more) {
    if (share.isTurn()) {
      return new Account(shares, wholes, memory, cores, instances, turns + more, mps, sharedInstances);
    }
    long bytes = Math.addExact(memory, more * share.memory());
    int percent = Math.addExact(cores, more * share.cores());
    return share.mps()
        ? new Account(shares, wholes, bytes, percent, instances, turns, mps + more, sharedInstances)
        : new Account(shares + more, wholes, bytes, percent, instances, turns, mps, sharedInstances);
  }
}
