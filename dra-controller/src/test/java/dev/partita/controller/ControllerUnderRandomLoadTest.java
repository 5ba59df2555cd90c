package dev.partita.controller;

import org.junit.jupiter.api.Test;

/**
 * Pods that have cards in every way come and go in an order that nobody chose, while requests fail, watches are late,
 * nodes change and controllers die. By default a few steps; {@code -Dpartita.load.steps=1000
 * -Djunit.jupiter.execution.timeout.mode=disabled} goes on for minutes, and {@code -Dpartita.load.seed} is another
 * order.
 */
class ControllerUnderRandomLoadTest {
  private static final int STEPS = Integer.getInteger("partita.load.steps", 40);
  private static final long SEED = Long.getLong("partita.load.seed", 1);

  /** After so many steps nothing is done until all have what they can have: that takes seconds. */
  private static final int REST = 100;

  @Test
  void nothingIsAllocatedTwiceNobodyIsForgottenAndNothingIsLeft() {
    try (Cluster cluster = Cluster.empty()) {
      RandomLoad load = new RandomLoad(cluster, SEED);
      try {
        load.begin();
        for (int step = 1; step <= STEPS; step++) {
          load.step();
          load.check();
          if (step % REST == 0) {
            load.nobodyIsForgotten();
          }
        }
        load.drain();
        load.takeAll();
      } catch (RuntimeException | AssertionError e) {
        throw new AssertionError("seed " + SEED + ", " + STEPS + " steps: " + load + load.standing(), e);
      }
    }
  }
}
