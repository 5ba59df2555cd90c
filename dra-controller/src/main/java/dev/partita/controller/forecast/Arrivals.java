package dev.partita.controller.forecast;

import java.util.Arrays;
import java.util.List;

/**
 * The pods with which hosts are filled up, one filling after the other, for hosts whose cards are of certain kinds.
 * Pods that no such card can serve are left out, and what a pod needs of a card of each kind is one number.
 */
final class Arrivals {
  /** Most pods of a filling: two numbers have a bit for each. */
  static final int MOST = 2 * Long.SIZE;

  /** More than any card has. */
  private static final int TOO_MUCH = 0x7fff_7fff;

  private final int[] kinds;
  private final int[] end;
  private final int[] milliCpu;
  private final int[] memory;
  private final int[] cards;
  private final int[] needs;
  private final int[] leastCpu;
  private final int[] least;
  private final long[] like;

  /**
   * @param demands all different
   * @param fills the pods of each filling, at most {@value #MOST}, as positions in the demands
   * @param kinds of cards, all different
   */
  Arrivals(List<Demand> demands, int[][] fills, int[] kinds) {
    int most = Arrays.stream(fills).mapToInt(fill -> fill.length).sum();
    this.kinds = kinds.clone();
    this.end = new int[fills.length];
    this.milliCpu = new int[most];
    this.memory = new int[most];
    this.cards = new int[most];
    this.needs = new int[most * kinds.length];
    this.leastCpu = new int[most];
    this.least = new int[most * kinds.length];
    this.like = new long[2 * most];
    int[] needsOf = new int[demands.size() * kinds.length];
    boolean[] useful = new boolean[demands.size()];
    for (int i = 0; i < useful.length; i++) {
      useful[i] = demands.get(i).cards() == 0;
      for (int kind = 0; kind < kinds.length; kind++) {
        needsOf[i * kinds.length + kind] = packed(demands.get(i), kinds[kind]);
        useful[i] |= needsOf[i * kinds.length + kind] != TOO_MUCH;
      }
    }
    long[] bits = new long[2 * demands.size()];
    int position = 0;
    for (int fill = 0; fill < fills.length; fill++) {
      int first = position;
      for (int demand : fills[fill]) {
        if (useful[demand]) {
          write(demands.get(demand), position);
          System.arraycopy(needsOf, demand * kinds.length, needs, position * kinds.length, kinds.length);
          bits[2 * demand + (position - first) / Long.SIZE] |= 1L << (position - first);
          position++;
        }
      }
      int at = first;
      for (int demand : fills[fill]) {
        if (useful[demand]) {
          System.arraycopy(bits, 2 * demand, like, 2 * at++, 2);
        }
      }
      for (int demand : fills[fill]) {
        bits[2 * demand] = 0;
        bits[2 * demand + 1] = 0;
      }
      end[fill] = position;
      findLeast(first, position);
    }
  }

  private void write(Demand pod, int position) {
    milliCpu[position] = pod.milliCpu();
    memory[position] = pod.memory();
    cards[position] = pod.cards();
  }

  private static int packed(Demand pod, int kind) {
    boolean possible = pod.canUse(kind) && pod.memoryOf(kind) <= Demand.CARD && pod.coresOf(kind) <= Demand.CARD;
    return possible ? (int) FreeParts.card(0, pod.memoryOf(kind), pod.coresOf(kind)) : TOO_MUCH;
  }

  private void findLeast(int first, int end) {
    int cpu = Integer.MAX_VALUE;
    int[] need = new int[kinds.length];
    Arrays.fill(need, TOO_MUCH);
    for (int position = end - 1; position >= first; position--) {
      if (cards[position] > 0) {
        cpu = Math.min(cpu, milliCpu[position]);
        for (int kind = 0; kind < kinds.length; kind++) {
          need[kind] = leastOf(need[kind], need(position, kind));
        }
      }
      leastCpu[position] = cpu;
      System.arraycopy(need, 0, least, position * kinds.length, kinds.length);
    }
  }

  /** The smaller of each half, memory and cores. */
  private static int leastOf(int one, int other) {
    return Math.min(one >>> 16, other >>> 16) << 16 | Math.min(one & 0xffff, other & 0xffff);
  }

  /** How many fillings there are. */
  int fills() {
    return end.length;
  }

  /** The position after the last pod of a filling, which begins where the one before it ends. */
  int end(int fill) {
    return end[fill];
  }

  /** How many kinds of cards there are. */
  int kinds() {
    return kinds.length;
  }

  /** The index of that kind of cards. */
  int indexOf(int kind) {
    int index = 0;
    while (kinds[index] != kind) {
      index++;
    }
    return index;
  }

  /** Thousandths of a CPU. */
  int milliCpu(int position) {
    return milliCpu[position];
  }

  /** MiB. */
  int memory(int position) {
    return memory[position];
  }

  /** How many cards. */
  int cards(int position) {
    return cards[position];
  }

  /**
   * What the pod needs of a card of the kind with that index: parts of memory (upper half) and of cores (lower half).
   */
  int need(int position, int kind) {
    return needs[position * kinds.length + kind];
  }

  /** The least CPU that places this pod, or one after it in the filling, on cards. */
  int leastCpu(int position) {
    return leastCpu[position];
  }

  /**
   * What that takes at least of a card of the kind with that index, as {@link #need} gives it: a card with less of
   * either is of no use to any of these pods.
   */
  int least(int position, int kind) {
    return least[position * kinds.length + kind];
  }

  /** The pods among the first 64 of the filling that ask for the same as this one, as bits. */
  long likeFirst(int position) {
    return like[2 * position];
  }

  /** The same pods among those after the first 64. */
  long likeRest(int position) {
    return like[2 * position + 1];
  }
}
