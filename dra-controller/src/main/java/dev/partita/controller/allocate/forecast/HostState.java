package dev.partita.controller.allocate.forecast;

import java.util.Arrays;

/** What is free on a host. Hosts that are equally free are equal, whatever the order of their cards. */
public final class HostState {
  private final int milliCpu;
  private final int memory;
  private final long[] cards;

  private HostState(int milliCpu, int memory, long[] cards) {
    this.milliCpu = milliCpu;
    this.memory = memory;
    this.cards = cards;
  }

  /** Thousandths of a CPU. */
  public int milliCpu() {
    return milliCpu;
  }

  /** MiB. */
  public int memory() {
    return memory;
  }

  /** How many cards it has. */
  int cards() {
    return cards.length;
  }

  /** One of its cards, in an order that depends on their states only. */
  long card(int position) {
    return cards[position];
  }

  /**
   * One card.
   *
   * @param kind from 0
   * @param memory parts free
   * @param cores parts free
   */
  public static long card(int kind, int memory, int cores) {
    return (long) kind << 32 | (long) memory << 16 | cores;
  }

  public static int kind(long card) {
    return (int) (card >>> 32);
  }

  public static int memory(long card) {
    return (int) (card >>> 16) & 0xffff;
  }

  public static int cores(long card) {
    return (int) card & 0xffff;
  }

  /**
   * The state with these cards in any order.
   *
   * @param milliCpu thousandths of a CPU
   * @param memory MiB
   * @param cards each as {@link #card} gives it
   */
  public static HostState of(int milliCpu, int memory, long[] cards) {
    long[] sorted = cards.clone();
    Arrays.sort(sorted);
    return new HostState(milliCpu, memory, sorted);
  }

  /** Whether the demand fits. */
  public boolean holds(Demand demand) {
    if (demand.milliCpu() > milliCpu || demand.memory() > memory) {
      return false;
    }
    int fitting = 0;
    for (int i = 0; i < cards.length && fitting < demand.cards(); i++) {
      fitting += fits(demand, cards[i]) ? 1 : 0;
    }
    return fitting >= demand.cards();
  }

  /** Whether the card has enough free for the demand. */
  public static boolean fits(Demand demand, long card) {
    int kind = kind(card);
    return demand.canUse(kind) && demand.memoryOf(kind) <= memory(card) && demand.coresOf(kind) <= cores(card);
  }

  /** What is left of the card. */
  public static long without(Demand demand, long card) {
    int kind = kind(card);
    return card(kind, memory(card) - demand.memoryOf(kind), cores(card) - demand.coresOf(kind));
  }

  /** Parts of its cards that are free. */
  public long idle() {
    long idle = 0;
    for (long card : cards) {
      idle += memory(card) + cores(card);
    }
    return idle;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof HostState state && state.milliCpu == milliCpu && state.memory == memory && Arrays.equals(state.cards, cards);
  }

  @Override
  public int hashCode() {
    long hash = milliCpu * 31L + memory;
    for (long card : cards) {
      hash = (hash ^ card) * 0x9E3779B97F4A7C15L;
      hash ^= hash >>> 29;
    }
    return (int) (hash ^ hash >>> 32);
  }
}
