package dev.partita.controller.forecast;

import java.util.Arrays;

/** What is free on a host. Hosts that are equally free are equal, whatever the order of their cards. */
public final class FreeParts {
  private final int milliCpu;
  private final int memory;
  private final long[] cards;
  private final long idle;
  private final long fingerprint;

  private FreeParts(int milliCpu, int memory, long[] cards) {
    this.milliCpu = milliCpu;
    this.memory = memory;
    this.cards = cards;
    long parts = 0;
    long sum = ofRoom(milliCpu, memory);
    for (long card : cards) {
      parts += memory(card) + cores(card);
      sum += mixed(card);
    }
    this.idle = parts;
    this.fingerprint = sum;
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

  /** One of its cards, in order of kind, then of what is free. */
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
  public static FreeParts of(int milliCpu, int memory, long[] cards) {
    long[] sorted = cards.clone();
    Arrays.sort(sorted);
    return new FreeParts(milliCpu, memory, sorted);
  }

  /** The same once the demand has taken its part of that card, of which it has one. */
  FreeParts after(Demand demand, long card) {
    long[] rest = cards.clone();
    rest[Arrays.binarySearch(rest, card)] = without(demand, card);
    Arrays.sort(rest);
    return new FreeParts(milliCpu - demand.milliCpu(), memory - demand.memory(), rest);
  }

  /** Equal for equal states, and of 50,000 different ones hardly ever for two. */
  long fingerprint() {
    return fingerprint;
  }

  /** The fingerprint of the state {@link #after} the demand has taken its part of that card. */
  long fingerprintAfter(Demand demand, long card) {
    return fingerprint
        - ofRoom(milliCpu, memory)
        + ofRoom(milliCpu - demand.milliCpu(), memory - demand.memory())
        - mixed(card)
        + mixed(without(demand, card));
  }

  private static long ofRoom(int milliCpu, int memory) {
    return mixed(~((long) milliCpu << 32 | memory));
  }

  /** Mixes a number, so that sums of mixed numbers differ where the summands do. */
  private static long mixed(long value) {
    long mixed = value + 0x9E3779B97F4A7C15L;
    mixed = (mixed ^ mixed >>> 30) * 0xBF58476D1CE4E5B9L;
    mixed = (mixed ^ mixed >>> 27) * 0x94D049BB133111EBL;
    return mixed ^ mixed >>> 31;
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
    return idle;
  }

  @Override
  public boolean equals(Object other) {
    return other == this
        || (other instanceof FreeParts state
            && state.fingerprint == fingerprint
            && state.milliCpu == milliCpu
            && state.memory == memory
            && Arrays.equals(state.cards, cards));
  }

  @Override
  public int hashCode() {
    return Long.hashCode(fingerprint);
  }
}
