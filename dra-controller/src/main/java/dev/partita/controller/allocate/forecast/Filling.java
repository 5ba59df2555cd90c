package dev.partita.controller.allocate.forecast;

/** Fills up one host again and again, each time from the same state. */
final class Filling {
  private final HostState state;
  private final int[] kinds;
  private final int[] memory;
  private final int[] cores;
  private int open;

  Filling(HostState state) {
    this.state = state;
    this.kinds = new int[state.cards()];
    this.memory = new int[kinds.length];
    this.cores = new int[kinds.length];
  }

  /**
   * Parts of the cards that are free when these pods have come, of which each that fits has taken its place where least is left.
   *
   * @param leastCpu for each, what CPU it takes at least to place it or one after it on a card
   */
  long idleAfter(Demand[] pods, int[] leastCpu) {
    open = 0;
    for (int i = 0; i < kinds.length; i++) {
      long card = state.card(i);
      kinds[open] = HostState.kind(card);
      memory[open] = HostState.memory(card);
      cores[open] = HostState.cores(card);
      open += memory[open] + cores[open] > 0 ? 1 : 0;
    }
    int freeCpu = state.milliCpu();
    int freeMemory = state.memory();
    for (int next = 0; next < pods.length && open > 0 && freeCpu >= leastCpu[next]; next++) {
      Demand pod = pods[next];
      if (pod.milliCpu() > freeCpu || pod.memory() > freeMemory || !place(pod)) {
        continue;
      }
      freeCpu -= pod.milliCpu();
      freeMemory -= pod.memory();
    }
    long idle = 0;
    for (int i = 0; i < open; i++) {
      idle += memory[i] + cores[i];
    }
    return idle;
  }

  private boolean place(Demand pod) {
    if (pod.cards() == 1) {
      int best = best(pod, open);
      if (best >= 0) {
        take(pod, best);
      }
      return best >= 0;
    }
    return pod.cards() == 0 || placeSeveral(pod);
  }

  /** The fullest card before that position that the pod can use; negative if there is none. */
  private int best(Demand pod, int before) {
    int best = -1;
    int least = Integer.MAX_VALUE;
    for (int i = 0; i < before; i++) {
      int needed = pod.memoryOf(kinds[i]);
      int left = memory[i] + cores[i];
      if (left < least && needed >= 0 && needed <= memory[i] && pod.coresOf(kinds[i]) <= cores[i]) {
        best = i;
        least = left;
      }
    }
    return best;
  }

  private boolean placeSeveral(Demand pod) {
    int fitting = 0;
    for (int i = 0; i < open; i++) {
      int needed = pod.memoryOf(kinds[i]);
      fitting += needed >= 0 && needed <= memory[i] && pod.coresOf(kinds[i]) <= cores[i] ? 1 : 0;
    }
    if (fitting < pod.cards()) {
      return false;
    }
    int wanted = pod.cards();
    // From the end: what a full card is replaced with has been looked at.
    for (int i = open - 1; i >= 0 && wanted > 0; i--) {
      int needed = pod.memoryOf(kinds[i]);
      if (needed >= 0 && needed <= memory[i] && pod.coresOf(kinds[i]) <= cores[i]) {
        take(pod, i);
        wanted--;
      }
    }
    return true;
  }

  private void take(Demand pod, int card) {
    memory[card] -= pod.memoryOf(kinds[card]);
    cores[card] -= pod.coresOf(kinds[card]);
    if (memory[card] + cores[card] == 0) {
      open--;
      kinds[card] = kinds[open];
      memory[card] = memory[open];
      cores[card] = cores[open];
    }
  }
}
