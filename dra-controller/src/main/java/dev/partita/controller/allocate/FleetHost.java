package dev.partita.controller.allocate;

import dev.partita.controller.allocate.HostRooms.Room;
import dev.partita.controller.allocate.forecast.Demand;
import dev.partita.controller.allocate.forecast.HostState;
import java.util.function.ToIntFunction;

/** One host in the forecast's terms, where cards are counted in parts and what a host has is rounded down. Does not change. */
final class FleetHost {
  private final Standing standing;
  private final HostState empty;
  private final HostState state;
  private final long[] cards;
  private final long idle;
  private final int version;

  private FleetHost(Standing standing, HostState empty, HostState state, long[] cards, int version) {
    this.standing = standing;
    this.empty = empty;
    this.state = state;
    this.cards = cards;
    this.idle = state.idle();
    this.version = version;
  }

  /** @param kinds a number for each kind of card */
  static FleetHost of(Standing standing, Room room, Accounts accounts, ToIntFunction<Shelf> kinds, int version) {
    long[] now = new long[standing.shelves().size()];
    long[] empty = new long[now.length];
    for (int i = 0; i < now.length; i++) {
      var card = standing.host().cards().get(i);
      Account account = accounts.of(card.key());
      int kind = kinds.applyAsInt(standing.shelves().get(i));
      empty[i] = HostState.card(kind, Demand.CARD, Demand.CARD);
      long free = Math.max(0, card.sellableMemory() - account.memory());
      // A card that is not wholly free must not look so, however small the share.
      int memory = (int) Math.min(account.shares() > 0 ? Demand.CARD - 1 : Demand.CARD, free * Demand.CARD / Math.max(1, card.sellableMemory()));
      int cores = Math.max(0, Account.CORES - account.cores()) * (Demand.CARD / Account.CORES);
      now[i] = account.isClosedToShares() ? HostState.card(kind, 0, 0) : HostState.card(kind, memory, cores);
    }
    return new FleetHost(
        standing,
        HostState.of(coarse(cpu(room.total())), coarse(mebibytes(room.total())), empty),
        HostState.of(cpu(room.free()), mebibytes(room.free()), now),
        now,
        version);
  }

  Standing standing() {
    return standing;
  }

  /** The host if nothing were taken of it, coarsely: many hosts have the same. */
  HostState empty() {
    return empty;
  }

  HostState state() {
    return state;
  }

  int cards() {
    return cards.length;
  }

  /** The card at that position, as {@link HostState#card} gives it. */
  long card(int position) {
    return cards[position];
  }

  /** Parts of its cards that are free. */
  long idle() {
    return idle;
  }

  /** Another one after every change of the host. */
  int version() {
    return version;
  }

  /** Thousandths of CPUs, as the forecast counts them. */
  static int cpu(PodNeeds needs) {
    return Math.clamp(needs.milliCpu(), 0, Integer.MAX_VALUE);
  }

  /** Memory, as the forecast counts it. */
  static int mebibytes(PodNeeds needs) {
    return Math.clamp(needs.memory() >> 20, 0, Integer.MAX_VALUE);
  }

  /** To 3 %: nodes of one kind never have quite the same memory. */
  private static int coarse(int amount) {
    int bits = Integer.SIZE - Integer.numberOfLeadingZeros(amount);
    return bits > 6 ? amount >> (bits - 6) << (bits - 6) : amount;
  }

  /** The same once that much of it is taken; of this card only, unless the position is negative. */
  HostState after(Demand demand, int only) {
    long[] rest = cards.clone();
    int wanted = demand.cards();
    for (int i = 0; i < rest.length && wanted > 0; i++) {
      if ((only < 0 || only == i) && HostState.fits(demand, rest[i])) {
        rest[i] = HostState.without(demand, rest[i]);
        wanted--;
      }
    }
    return HostState.of(state.milliCpu() - demand.milliCpu(), state.memory() - demand.memory(), rest);
  }

  /** Whether a card before this position is in the same state. */
  boolean occursBefore(int position) {
    for (int i = 0; i < position; i++) {
      if (cards[i] == cards[position]) {
        return true;
      }
    }
    return false;
  }
}
