package dev.partita.controller.forecast;

import java.util.Arrays;

/**
 * Fills up one host again and again, each time from the same state: each pod that fits takes its place where least is
 * left. The cards of which something is free are kept in order of that, each as one number: parts free, index of the
 * kind, memory and cores. Half of an allocator's time is spent here.
 */
final class Filling {
  private static final int SIZE_AT = 40;
  private static final int KIND_AT = 32;
  private static final int KIND_BITS = 0xff;

  /** A bit above each half of a card: it stays where nothing had to be borrowed. */
  private static final int GUARDS = 0x8000_8000;

  private static final int WHOLE = (int) FreeParts.card(0, Demand.CARD, Demand.CARD);

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

  private static int free(long card) {
    return (int) (card >>> SIZE_AT);
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
    System.arraycopy(start, 0, open, 0, start.length);
    from = 0;
    to = start.length;
    idle = state.idle();
    int freeCpu = state.milliCpu();
    int freeMemory = state.memory();
    for (int position = first; position < end && from < to; position++) {
      if (freeCpu < arrivals.leastCpu(position) || free(open[to - 1]) < arrivals.leastSize(position)) {
        break;
      }
      int cpu = arrivals.milliCpu(position);
      int memory = arrivals.memory(position);
      if (cpu <= freeCpu && memory <= freeMemory && place(position)) {
        freeCpu -= cpu;
        freeMemory -= memory;
      }
    }
    return idle;
  }

  private boolean place(int position) {
    int cards = arrivals.cards(position);
    if (cards == 0) {
      return true;
    }
    if (arrivals.kinds() == 1 && arrivals.need(position, 0) == WHOLE) {
      return placeWholes(cards);
    }
    if (cards > 1) {
      return placeSeveral(position, cards);
    }
    int best = arrivals.kinds() == 1 ? fullest(arrivals.need(position, 0)) : fullestOfKinds(position);
    if (best >= 0) {
      take(best, arrivals.need(position, kind(open[best])));
    }
    return best >= 0;
  }

  private boolean placeWholes(int cards) {
    if (to - from < cards || (int) open[to - cards] != WHOLE) {
      return false;
    }
    to -= cards;
    idle -= 2L * Demand.CARD * cards;
    return true;
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
    while (from < to && free(open[from]) == 0) {
      from++;
    }
    return true;
  }

  private void take(int at, int need) {
    long left = after(open[at], need);
    int place = at;
    while (place > from && open[place - 1] > left) {
      open[place] = open[place - 1];
      place--;
    }
    open[place] = left;
    from += free(left) == 0 ? 1 : 0;
  }

  private long after(long card, int need) {
    idle -= size(need);
    return ordered(kind(card), (int) card - need);
  }
}
