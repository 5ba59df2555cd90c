package dev.partita.plugin;

import org.junit.jupiter.api.Test;

/**
 * Claims that have cards in every way are prepared and released in an order that nobody chose, while requests fail,
 * files go, cards fail, MPS daemons are killed, plugins end, and a rolling update has two of them. By default a few
 * steps; {@code -Dpartita.load.steps=1000
 * -Djunit.jupiter.execution.timeout.mode=disabled} goes on for minutes, and {@code -Dpartita.load.seed} is another
 * order.
 */
class PluginUnderRandomLoadTest {
  private static final int STEPS = Integer.getInteger("partita.load.steps", 40);
  private static final long SEED = Long.getLong("partita.load.seed", 1);

  /** After so many steps everything is mended, and looked at: that takes a second or more. */
  private static final int REST = 20;

  @Test
  void whatIsPreparedIsWhatKubeletWasToldAndNothingIsLeft() throws Exception {
    try (TestNode node = TestNode.withCards("node-l", "h200x" + RandomLoad.CARDS);
        RandomLoad load = new RandomLoad(node, SEED)) {
      try {
        load.begin();
        for (int step = 1; step <= STEPS; step++) {
          load.step();
          load.check();
          if (step % REST == 0) {
            load.rest();
          }
        }
        load.end();
      } catch (Exception | AssertionError e) {
        throw new AssertionError("seed " + SEED + ", " + STEPS + " steps: " + load, e);
      }
    }
  }
}
