package dev.partita.controller.forecast;

/**
 * What one kind of pod takes of a host. Cards are counted in parts, so that cards of every size compare: a card has
 * {@link #CARD} parts of memory and as many of cores, and a whole card is all of both.
 */
public final class Demand {
  /** Parts of memory, and of cores, that a card has. */
  public static final int CARD = 10_000;

  private final int milliCpu;
  private final int memory;
  private final int cards;
  private final int[] memoryOfKind;
  private final int[] coresOfKind;
  private final int size;

  /**
   * @param milliCpu thousandths of a CPU
   * @param memory MiB of the host's memory
   * @param cards how many cards, all different
   * @param memoryOfKind parts of a card's memory, by kind of card; negative where no card of that kind will do
   * @param coresOfKind parts of a card's cores, likewise
   */
  public Demand(int milliCpu, int memory, int cards, int[] memoryOfKind, int[] coresOfKind) {
    this.milliCpu = milliCpu;
    this.memory = memory;
    this.cards = cards;
    this.memoryOfKind = memoryOfKind.clone();
    this.coresOfKind = coresOfKind.clone();
    int most = 0;
    for (int kind = 0; kind < memoryOfKind.length; kind++) {
      most = memoryOfKind[kind] < 0 ? most : Math.max(most, memoryOfKind[kind] + coresOfKind[kind]);
    }
    this.size = most;
  }

  /** Thousandths of a CPU. */
  public int milliCpu() {
    return milliCpu;
  }

  /** MiB of the host's memory. */
  public int memory() {
    return memory;
  }

  /** How many cards. */
  public int cards() {
    return cards;
  }

  /** Parts of the memory of a card of that kind; negative if no such card will do. */
  public int memoryOf(int kind) {
    return memoryOfKind[kind];
  }

  /** Parts of the cores of a card of that kind. */
  public int coresOf(int kind) {
    return coresOfKind[kind];
  }

  /** Whether cards of that kind will do. */
  boolean canUse(int kind) {
    return memoryOfKind[kind] >= 0;
  }

  /** Parts of one card that it takes at most, memory and cores together. */
  int size() {
    return size;
  }

  boolean takesSeveralCards() {
    return cards > 1;
  }
}
