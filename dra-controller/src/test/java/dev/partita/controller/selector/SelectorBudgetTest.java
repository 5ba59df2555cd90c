package dev.partita.controller.selector;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.controller.GpuNodes;
import dev.partita.controller.budget.DecisionBudget;
import dev.partita.controller.budget.OverBudgetException;
import dev.partita.controller.inventory.Device;
import dev.partita.controller.inventory.Inventory;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class SelectorBudgetTest {
  private static final List<Device> DEVICES =
      Objects.requireNonNull(
          Inventory.EMPTY.refreshed(List.of(GpuNodes.ready("node-0", 8, "NVIDIA H200", 140 * GpuNodes.GIB)))
              .host("node-0"))
          .devices();

  private long now;

  @Test
  void whatWasEvaluatedBeforeTheBudgetEndedIsKnownTheNextTimeSoThatItComesToAnEnd() {
    // Every look at the clock takes a millisecond, and there is one before each evaluation.
    DecisionBudget budget = new DecisionBudget(() -> now += Duration.ofMillis(1).toNanos());
    DeviceSelectors selectors = new DeviceSelectors(budget);
    int tries = 0;
    boolean done = false;
    while (!done) {
      tries++;
      budget.begin(Duration.ofMillis(5));
      try {
        DEVICES.forEach(device -> assertThat(selectors.evaluate("device.driver == 'gpu.partita.dev'", device))
            .isInstanceOf(Verdict.Matches.class));
        done = true;
      } catch (OverBudgetException e) {
        assertThat(tries).as("some are known after each").isLessThanOrEqualTo(DEVICES.size());
      }
    }
    assertThat(tries).isGreaterThan(1);
  }
}
