package dev.partita.controller.budget;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class DecisionBudgetTest {
  private long now;
  private final DecisionBudget budget = new DecisionBudget(() -> now);

  @Test
  void endsADecisionThatTakesLongerThanItMayAndSaysWhatItSpentOnSelectors() {
    budget.begin(Duration.ofMillis(100));
    budget.evaluated(900_000);
    budget.evaluated(800_000);
    now = Duration.ofMillis(101).toNanos();
    assertThatThrownBy(budget::longStep)
        .isInstanceOf(OverBudgetException.class)
        .hasMessage("selectors too costly: 1700000 units over 2 devices in 100 ms of the controller's time");
    budget.begin(Duration.ofMillis(100));
    now += Duration.ofMillis(101).toNanos();
    assertThatThrownBy(budget::longStep).hasMessage("takes longer to decide than 100 ms of the controller's time");
  }

  @Test
  void looksAtTheClockOnceInAWhileWhereStepsAreShort() {
    budget.begin(Duration.ofMillis(100));
    now = Duration.ofMillis(101).toNanos();
    assertThatThrownBy(
        () -> {
          for (int i = 0; i < 16; i++) {
            budget.step();
          }
        })
        .isInstanceOf(OverBudgetException.class);
  }

  @Test
  void endsNothingBeforeADecisionBeginsAndAfterItIsOver() {
    now = Duration.ofDays(1).toNanos();
    budget.longStep();
    budget.begin(Duration.ofMillis(1));
    budget.end();
    now = Duration.ofDays(2).toNanos();
    budget.longStep();
  }

  @Test
  void whatIsDoneApartHasALimitOfItsOwnAndIsNotCounted() {
    budget.begin(Duration.ofMillis(100));
    assertThatThrownBy(
        () -> budget.withOwnTime(
            Duration.ofMillis(200),
            () -> {
              now += Duration.ofMillis(150).toNanos();
              budget.longStep();
              now += Duration.ofMillis(60).toNanos();
              budget.longStep();
              return "";
            }))
        .isInstanceOf(OverBudgetException.class)
        .hasMessageContaining("200 ms");
    now += Duration.ofMillis(99).toNanos();
    budget.longStep();
    now += Duration.ofMillis(2).toNanos();
    assertThatThrownBy(budget::longStep).hasMessageContaining("100 ms");
    assertThat(budget.<String>withOwnTime(Duration.ofMillis(1), () -> "done")).isEqualTo("done");
  }
}
