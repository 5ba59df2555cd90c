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
 * @param shares how many shares, turns not counted
 * @param wholes how often the card is taken as a whole: more than once only if somebody else allocated wrongly
 * @param memory bytes that the shares take together
 * @param cores percent that the shares are guaranteed together
 * @param instances MIG instances; one that is there twice was allocated wrongly by somebody else
 * @param turns how many have all of the card in turn ({@link Booking#turn})
 */
public record Account(int shares, int wholes, long memory, int cores, List<MigSlot> instances, int turns) {
  /** Percent of cores that a card has. */
  public static final int CORES = 100;

  public static final Account EMPTY = new Account(0, 0, 0, 0);

  public Account {
    instances = List.copyOf(instances);
  }

  /** A card that nobody has in turn. */
  public Account(int shares, int wholes, long memory, int cores, List<MigSlot> instances) {
    this(shares, wholes, memory, cores, instances, 0);
  }

  /** A card without MIG instances that nobody has in turn. */
  public Account(int shares, int wholes, long memory, int cores) {
    this(shares, wholes, memory, cores, List.of());
  }

  /** Memory comes in powers of two, so that the hash that a record computes by itself would fall into few buckets. */
  @Override
  public int hashCode() {
    long hash = (memory * 31 + cores) * 31 + shares;
    hash = ((hash * 31 + wholes) * 31 + instances.hashCode()) * 31 + turns;
    hash *= 0x9E3779B97F4A7C15L;
    return (int) (hash >>> 32);
  }

  public boolean isUntouched() {
    return shares == 0 && wholes == 0 && instances.isEmpty() && turns == 0;
  }

  /** Whether nothing of it can be taken as a share with limits, however small. */
  public boolean isClosedToShares() {
    return wholes > 0 || !instances.isEmpty() || turns > 0;
  }

  /** Whether more is taken than there is of the card. */
  public boolean exceeds(Card card) {
    int ways = (wholes > 0 ? 1 : 0) + (shares > 0 ? 1 : 0) + (instances.isEmpty() ? 0 : 1) + (turns > 0 ? 1 : 0);
    return ways > 1 || wholes > 1 || turns > SharingStrategy.TimeSlicing.MOST || memory > card.sellableMemory()
        || cores > CORES || !card.mig().holds(instances);
  }

  public Account plus(Booking booking) {
    return plus(booking.device(), booking.memory(), booking.cores());
  }

  public Account plus(DeviceName device, long bytes, int percent) {
    return switch (device) {
      case DeviceName.Whole _ -> new Account(shares, wholes + 1, memory, cores, instances, turns);
      case DeviceName.Shared _ -> Booking.isTurn(device, bytes)
          ? new Account(shares, wholes, memory, cores, instances, turns + 1)
          : new Account(shares + 1, wholes, Math.addExact(memory, bytes), Math.addExact(cores, percent), instances,
              turns);
      case DeviceName.Mig mig -> {
        List<MigSlot> more = new ArrayList<>(instances);
        more.add(mig.slot());
        more.sort(null);
        yield new Account(shares, wholes, memory, cores, more, turns);
      }
    };
  }

  public Account minus(Booking booking) {
    return switch (booking.device()) {
      case DeviceName.Whole _ -> new Account(shares, wholes - 1, memory, cores, instances, turns);
      case DeviceName.Shared _ -> booking.isTurn()
          ? new Account(shares, wholes, memory, cores, instances, turns - 1)
          : new Account(shares - 1, wholes, memory - booking.memory(), cores - booking.cores(), instances, turns);
      case DeviceName.Mig mig -> {
        List<MigSlot> fewer = new ArrayList<>(instances);
        fewer.remove(mig.slot());
        yield new Account(shares, wholes, memory, cores, fewer, turns);
      }
    };
  }
}
