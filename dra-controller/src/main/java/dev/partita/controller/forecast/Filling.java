package dev.partita.controller.forecast;

import java.util.Arrays;

/**
 * Fills up one host again and again, each time from the same state. A pod that fits takes the place where least is
 * left. The cards that later pods can use are kept in order of what is free of them, each as one number: parts free,
 * index of the kind, memory and cores. The allocator spends half of its time here.
 */
final class Filling {
  private static final int SIZE_AT = 40;
  private static final int KIND_AT = 32;
  private static final int KIND_BITS = 0xff;

  /** A bit above each half of a card. It is still set after a subtraction if the half was large enough. */
  private static final int GUARDS = 0x8000_8000;

  private final Arrivals arrivals;
  private final FreeParts state;
  private final long[] start;
  private final long[] open;
  private int from;
  private int to;
  private long idle;

  Filling(Arrivals arrivals, FreeParts state) {
    this.arrivals = arrivals;
    this.state = state;
    long[] cards = new long[state.cards()];
    int count = 0;
    for (int i = 0; i < cards.length; i++) {
      long card = state.card(i);
      if ((int) card != 0) {
        cards[count++] = ordered(arrivals.indexOf(FreeParts.kind(card)), (int) card);
      }
    }
    this.start = Arrays.copyOf(cards, count);
    Arrays.sort(start);
    this.open = new long[count];
  }

  private static long ordered(int kind, int parts) {
    return (long) size(parts) << SIZE_AT | (long) kind << KIND_AT | parts;
  }

  /** Memory (upper half) and cores (lower half) together. */
  static int size(int parts) {
    return (parts >>> 16) + (parts & 0xffff);
  }

  private static int kind(long card) {
    return (int) (card >>> KIND_AT) & KIND_BITS;
  }

  /** Parts of the cards that are free when the pods of a filling have come, summed over all fillings. */
  long idleAfterAll() {
    long sum = 0;
    int position = 0;
    for (int fill = 0; fill < arrivals.fills(); fill++) {
      int end = arrivals.end(fill);
      sum += idleAfter(position, end);
      position = end;
    }
    return sum;
  }

  private long idleAfter(int first, int end) {
    if (first == end) {
      return state.idle();
    }
    open(first);
    idle = state.idle();
    int freeCpu = state.milliCpu();
    int freeMemory = state.memory();
    long next = bits(end - first);
    long rest = bits(end - first - Long.SIZE);
    while ((next | rest) != 0 && from < to) {
      int position = first + (next != 0 ? Long.numberOfTrailingZeros(next) : 64 + Long.numberOfTrailingZeros(rest));
      if (freeCpu < arrivals.leastCpu(position)) {
        break;
      }
      int cpu = arrivals.milliCpu(position);
      int memory = arrivals.memory(position);
      if (cpu <= freeCpu && memory <= freeMemory && place(position)) {
        freeCpu -= cpu;
        freeMemory -= memory;
        rest &= next != 0 ? -1 : rest - 1;
        next &= next - 1;
      } else {
        // What does not fit now never will: nothing is given back.
        next &= ~arrivals.likeFirst(position);
        rest &= ~arrivals.likeRest(position);
      }
    }
    return idle;
  }

  /** Opens the cards that pods from there on can use. */
  private void open(int first) {
    from = 0;
    to = 0;
    for (long card : start) {
      open[to] = card;
      to += fits(arrivals.least(first, kind(card)), card) ? 1 : 0;
    }
  }

  private static long bits(int count) {
    return count <= 0 ? 0 : count >= Long.SIZE ? -1 : (1L << count) - 1;
  }

  private boolean place(int position) {
    int cards = arrivals.cards(position);
    if (cards == 0) {
      return true;
    }
    if (cards > 1) {
      return placeSeveral(position, cards);
    }
    int best = arrivals.kinds() == 1 ? fullest(arrivals.need(position, 0)) : fullestOfKinds(position);
    if (best >= 0) {
      take(best, position);
    }
    return best >= 0;
  }

  /** The fullest card that has so much free; negative if there is none. */
  private int fullest(int need) {
    for (int i = from; i < to; i++) {
      if (fits(need, open[i])) {
        return i;
      }
    }
    return -1;
  }

  private int fullestOfKinds(int position) {
    for (int i = from; i < to; i++) {
      if (fits(arrivals.need(position, kind(open[i])), open[i])) {
        return i;
      }
    }
    return -1;
  }

  private static boolean fits(int need, long card) {
    return (((int) card | GUARDS) - need & GUARDS) == GUARDS;
  }

  private boolean placeSeveral(int position, int cards) {
    int fitting = 0;
    for (int i = from; i < to; i++) {
      fitting += fits(arrivals.need(position, kind(open[i])), open[i]) ? 1 : 0;
    }
    if (fitting < cards) {
      return false;
    }
    // The emptiest: what takes several cards mostly takes all of them.
    int wanted = cards;
    for (int i = to - 1; wanted > 0; i--) {
      int need = arrivals.need(position, kind(open[i]));
      if (fits(need, open[i])) {
        open[i] = after(open[i], need);
        wanted--;
      }
    }
    Arrays.sort(open, from, to);
    while (from < to && (int) open[from] == 0) {
      from++;
    }
    return true;
  }

  /** Puts what is left of the card in its place in the order; drops it if no later pod can use it. */
  private void take(int at, int position) {
    int kind = kind(open[at]);
    long left = after(open[at], arrivals.need(position, kind));
    boolean useful = (int) left != 0 && fits(arrivals.least(position, kind), left);
    int place = at;
    while (place > from && (!useful || open[place - 1] > left)) {
      open[place] = open[place - 1];
      place--;
    }
    if (useful) {
      open[place] = left;
    } else {
      from++;
    }
  }

  private long after(long card, int need) {
    int size = size(need);
    idle -= size;
    return card - ((long) size << SIZE_AT | need);
  }
}
