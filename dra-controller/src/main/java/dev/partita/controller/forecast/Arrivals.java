package dev.partita.controller.forecast;

import java.util.Arrays;

/**
 * The pods of all fillings, one after the other, as hosts see them that have cards of certain kinds: pods that no such
 * card will do for are left out, and what the others need of a card of each kind is one number.
 */
final class Arrivals {
  /** More than any card has. */
  private static final int TOO_MUCH = 0x7fff_7fff;

  private final int[] kinds;
  private final int[] end;
  private final int[] milliCpu;
  private final int[] memory;
  private final int[] cards;
  private final int[] needs;
  private final int[] leastCpu;
  private final int[] leastSize;

  /** @param kinds of cards, all different */
  Arrivals(Demand[][] fills, int[] kinds) {
    int most = Arrays.stream(fills).mapToInt(fill -> fill.length).sum();
    this.kinds = kinds.clone();
    this.end = new int[fills.length];
    this.milliCpu = new int[most];
    this.memory = new int[most];
    this.cards = new int[most];
    this.needs = new int[most * kinds.length];
    this.leastCpu = new int[most];
    this.leastSize = new int[most];
    int position = 0;
    for (int fill = 0; fill < fills.length; fill++) {
      int first = position;
      for (Demand pod : fills[fill]) {
        position += isUseful(pod, position) ? 1 : 0;
      }
      end[fill] = position;
      findLeast(first, position);
    }
  }

  /** Writes the pod down there; what is not useful is written over by the next one. */
  private boolean isUseful(Demand pod, int position) {
    boolean useful = pod.cards() == 0;
    for (int kind = 0; kind < kinds.length; kind++) {
      int need = packed(pod, kinds[kind]);
      needs[position * kinds.length + kind] = need;
      useful |= need != TOO_MUCH;
    }
    milliCpu[position] = pod.milliCpu();
    memory[position] = pod.memory();
    cards[position] = pod.cards();
    return useful;
  }

  private static int packed(Demand pod, int kind) {
    boolean possible = pod.canUse(kind) && pod.memoryOf(kind) <= Demand.CARD && pod.coresOf(kind) <= Demand.CARD;
    return possible ? (int) FreeParts.card(0, pod.memoryOf(kind), pod.coresOf(kind)) : TOO_MUCH;
  }

  private void findLeast(int first, int end) {
    int cpu = Integer.MAX_VALUE;
    int size = Integer.MAX_VALUE;
    for (int position = end - 1; position >= first; position--) {
      if (cards[position] > 0) {
        cpu = Math.min(cpu, milliCpu[position]);
        for (int kind = 0; kind < kinds.length; kind++) {
          size = Math.min(size, Filling.size(need(position, kind)));
        }
      }
      leastCpu[position] = cpu;
      leastSize[position] = size;
    }
  }

  /** How many fillings. */
  int fills() {
    return end.length;
  }

  /** The position after the last pod of a filling, which begins where the one before it ends. */
  int end(int fill) {
    return end[fill];
  }

  /** How many kinds of cards. */
  int kinds() {
    return kinds.length;
  }

  /** Where among them that kind is. */
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

  /** Of a card of the kind with that index: parts of memory (upper half) and of cores (lower half). */
  int need(int position, int kind) {
    return needs[position * kinds.length + kind];
  }

  /** What CPU it takes at least to place this pod, or one after it in the filling, on cards. */
  int leastCpu(int position) {
    return leastCpu[position];
  }

  /** What parts of one card that takes at least, memory and cores together. */
  int leastSize(int position) {
    return leastSize[position];
  }
}
