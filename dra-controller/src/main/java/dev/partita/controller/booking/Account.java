package dev.partita.controller.booking;

import dev.partita.api.DeviceName;
import dev.partita.api.MigSlot;
import dev.partita.api.sharing.SharingStrategy;
import dev.partita.controller.inventory.Card;
import java.util.ArrayList;
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
 */
public record Account(int shares, int wholes, long memory, int cores, List<MigSlot> instances, int turns, int mps) {
  /** Percent of cores that a card has. */
  public static final int CORES = 100;

  public static final Account EMPTY = new Account(0, 0, 0, 0);

  public Account {
    instances = List.copyOf(instances);
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
    hash *= 0x9E3779B97F4A7C15L;
    return (int) (hash >>> 32);
  }

  public boolean isUntouched() {
    return shares == 0 && wholes == 0 && instances.isEmpty() && turns == 0 && mps == 0;
  }

  /** Whether nothing of it can be taken as a share that is not by MPS, however small. */
  public boolean isClosedToShares() {
    return wholes > 0 || !instances.isEmpty() || turns > 0 || mps > 0;
  }

  /** Whether more is taken than there is of the card. */
  public boolean exceeds(Card card) {
    int ways = (wholes > 0 ? 1 : 0) + (shares > 0 ? 1 : 0) + (instances.isEmpty() ? 0 : 1) + (turns > 0 ? 1 : 0)
        + (mps > 0 ? 1 : 0);
    return ways > 1 || wholes > 1 || turns > SharingStrategy.TimeSlicing.MOST || mps > SharingStrategy.Mps.MOST
        || memory > card.sellableMemory() || cores > CORES || !card.mig().holds(instances);
  }

  public Account plus(Booking booking) {
    return switch (booking.device()) {
      case DeviceName.Whole _ -> new Account(shares, wholes + 1, memory, cores, instances, turns, mps);
      case DeviceName.Shared _,DeviceName.Opaque _ -> withShare(booking, 1);
      case DeviceName.Mig mig -> {
        List<MigSlot> more = new ArrayList<>(instances);
        more.add(mig.slot());
        more.sort(null);
        yield new Account(shares, wholes, memory, cores, more, turns, mps);
      }
    };
  }

  public Account minus(Booking booking) {
    return switch (booking.device()) {
      case DeviceName.Whole _ -> new Account(shares, wholes - 1, memory, cores, instances, turns, mps);
      case DeviceName.Shared _,DeviceName.Opaque _ -> withShare(booking, -1);
      case DeviceName.Mig mig -> {
        List<MigSlot> fewer = new ArrayList<>(instances);
        fewer.remove(mig.slot());
        yield new Account(shares, wholes, memory, cores, fewer, turns, mps);
      }
    };
  }

  /** @param more 1 for one more such share, -1 for one less */
  private Account withShare(Booking share, int more) {
    if (share.isTurn()) {
      return new Account(shares, wholes, memory, cores, instances, turns + more, mps);
    }
    long bytes = Math.addExact(memory, more * share.memory());
    int percent = Math.addExact(cores, more * share.cores());
    return share.mps()
        ? new Account(shares, wholes, bytes, percent, instances, turns, mps + more)
        : new Account(shares + more, wholes, bytes, percent, instances, turns, mps);
  }
}
