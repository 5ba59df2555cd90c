package dev.partita.controller.forecast;

import dev.partita.controller.booking.Account;
import dev.partita.controller.booking.HostCapacities.Capacity;
import dev.partita.controller.index.CardClass;
import dev.partita.controller.index.HostState;
import dev.partita.controller.request.PodNeeds;
import java.util.Arrays;
import java.util.BitSet;
import java.util.function.ToIntFunction;

/**
 * What is free on a host in the forecast's terms, where cards are counted in parts and what a host has is rounded down.
 * Hosts on which every placement costs the same are equal. Does not change.
 */
final class ForecastHost {
  private final FreeParts empty;
  private final FreeParts state;
  private final long[] cards;

  private ForecastHost(FreeParts empty, FreeParts state, long[] cards) {
    this.empty = empty;
    this.state = state;
    this.cards = cards;
  }

  /**
   * The host if nothing were taken of it, coarsely: many hosts have the same.
   *
   * @param kinds a number for each kind of card
   */
  static FreeParts empty(HostState hostState, Capacity capacity, ToIntFunction<CardClass> kinds) {
    long[] empty = new long[hostState.positions().size()];
    for (int i = 0; i < empty.length; i++) {
      empty[i] = FreeParts.card(kinds.applyAsInt(hostState.cardClass(i)), Demand.CARD, Demand.CARD);
    }
    return FreeParts.of(coarse(cpu(capacity.total())), coarse(mebibytes(capacity.total())), empty);
  }

  /**
   * @param empty what {@link #empty} says of the host
   * @param kinds a number for each kind of card
   */
  static ForecastHost of(
      HostState hostState,
      Capacity capacity,
      FreeParts empty,
      ToIntFunction<CardClass> kinds) {
    long[] now = new long[hostState.positions().size()];
    for (int i = 0; i < now.length; i++) {
      long allocatable = hostState.host().cards().get(i).allocatableMemory();
      Account account = hostState.accounts().get(i);
      int kind = kinds.applyAsInt(hostState.cardClass(i));
      long free = Math.max(0, allocatable - account.memory());
      // A card that is not wholly free must not look so, however small the share.
      int memory = (int) Math.min(account.shares() > 0 ? Demand.CARD - 1 : Demand.CARD,
          free * Demand.CARD / Math.max(1, allocatable));
      int cores = Math.max(0, Account.CORES - account.cores()) * (Demand.CARD / Account.CORES);
      now[i] = account.isClosedToShares() ? FreeParts.card(kind, 0, 0) : FreeParts.card(kind, memory, cores);
    }
    return new ForecastHost(empty, FreeParts.of(cpu(capacity.free()), mebibytes(capacity.free()), now), now);
  }

  /** The host if nothing were taken of it. */
  FreeParts empty() {
    return empty;
  }

  FreeParts state() {
    return state;
  }

  int cards() {
    return cards.length;
  }

  /** The card at that position, as {@link FreeParts#card} gives it. */
  long card(int position) {
    return cards[position];
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

  /** The state once the demand has taken its part of the first cards that it fits. */
  FreeParts after(Demand demand) {
    long[] rest = cards.clone();
    int wanted = demand.cards();
    for (int i = 0; i < rest.length && wanted > 0; i++) {
      if (FreeParts.fits(demand, rest[i])) {
        rest[i] = FreeParts.without(demand, rest[i]);
        wanted--;
      }
    }
    return FreeParts.of(state.milliCpu() - demand.milliCpu(), state.memory() - demand.memory(), rest);
  }

  /** Positions of the cards in the same state as the one at that position. */
  BitSet cardsLike(int position) {
    BitSet like = new BitSet(cards.length);
    for (int i = 0; i < cards.length; i++) {
      like.set(i, cards[i] == cards[position]);
    }
    return like;
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

  @Override
  public boolean equals(Object other) {
    return other == this
        || (other instanceof ForecastHost host
            && host.state.equals(state)
            && host.empty.equals(empty)
            && Arrays.equals(host.cards, cards));
  }

  @Override
  public int hashCode() {
    return state.hashCode();
  }
}
