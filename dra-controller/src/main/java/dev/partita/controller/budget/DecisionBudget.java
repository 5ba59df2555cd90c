package dev.partita.controller.budget;

import java.time.Duration;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Ends a decision that takes more of the deciding thread's time than it may: whatever works for long calls it at every
 * step. The time depends on those who write pods and claims, who may have 32 selectors a request of a million units
 * each. For one thread.
 */
public final class DecisionBudget {
  /** The clock is read once in so many steps, for that is a system call. */
  private static final int STEPS = 16;

  private final LongSupplier processorTime;
  private long begun;
  private long most = Long.MAX_VALUE;
  private int steps;
  private long units;
  private int devices;

  /** @param processorTime of the thread, in ns */
  public DecisionBudget(LongSupplier processorTime) {
    this.processorTime = processorTime;
  }

  /** A budget that never ends anything, as long as nobody {@linkplain #begin begins} something. */
  public static DecisionBudget endless() {
    return new DecisionBudget(() -> 0);
  }

  /** A decision begins that may take so much. */
  public void begin(Duration time) {
    begun = processorTime.getAsLong();
    most = time.toNanos();
    steps = 0;
    units = 0;
    devices = 0;
  }

  /** The decision is over: what follows may take what it needs. */
  public void end() {
    most = Long.MAX_VALUE;
  }

  /** Does work that does not count as part of the decision and has time of its own. */
  public <T> T withOwnTime(Duration time, Supplier<T> work) {
    if (most == Long.MAX_VALUE) {
      return work.get();
    }
    long start = processorTime.getAsLong();
    long outerBegun = begun;
    long outerMost = most;
    begun = start;
    most = time.toNanos();
    try {
      return work.get();
    } finally {
      begun = outerBegun + processorTime.getAsLong() - start;
      most = outerMost;
    }
  }

  /** A short step is about to be made. */
  public void step() {
    if (most != Long.MAX_VALUE && ++steps % STEPS == 0) {
      look();
    }
  }

  /** A step is about to be made that may take long. */
  public void longStep() {
    if (most != Long.MAX_VALUE) {
      look();
    }
  }

  /** A selector was evaluated on a device for so many units of cost. */
  public void evaluated(long cost) {
    units += cost;
    devices++;
  }

  private void look() {
    if (processorTime.getAsLong() - begun > most) {
      throw new OverBudgetException(Duration.ofNanos(most), units, devices);
    }
  }
}
