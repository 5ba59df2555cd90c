package dev.partita.controller.forecast;

import java.util.Arrays;

/** Remembers costs by a fingerprint of what was computed. It forgets all of them when there are too many. */
final class KnownCosts {
  /** No cost. */
  static final long UNKNOWN = Long.MIN_VALUE;

  private static final int FIRST = 1 << 10;

  private final int most;
  private long[] keys = new long[FIRST];
  private long[] costs = filled(FIRST);
  private int count;

  KnownCosts(int most) {
    this.most = most;
  }

  private static long[] filled(int length) {
    long[] costs = new long[length];
    Arrays.fill(costs, UNKNOWN);
    return costs;
  }

  /** {@link #UNKNOWN} if it is not known. */
  long get(long key) {
    return costs[at(key)];
  }

  void put(long key, long cost) {
    if (count >= most) {
      Arrays.fill(costs, UNKNOWN);
      count = 0;
    } else if (2 * count >= keys.length) {
      grow();
    }
    int at = at(key);
    count += costs[at] == UNKNOWN ? 1 : 0;
    keys[at] = key;
    costs[at] = cost;
  }

  /** The position of the key, or where it would be. */
  private int at(long key) {
    int mask = keys.length - 1;
    int at = (int) (key ^ key >>> 32) & mask;
    while (costs[at] != UNKNOWN && keys[at] != key) {
      at = at + 1 & mask;
    }
    return at;
  }

  private void grow() {
    long[] oldKeys = keys;
    long[] oldCosts = costs;
    keys = new long[2 * oldKeys.length];
    costs = filled(keys.length);
    for (int i = 0; i < oldKeys.length; i++) {
      if (oldCosts[i] != UNKNOWN) {
        int at = at(oldKeys[i]);
        keys[at] = oldKeys[i];
        costs[at] = oldCosts[i];
      }
    }
  }
}
