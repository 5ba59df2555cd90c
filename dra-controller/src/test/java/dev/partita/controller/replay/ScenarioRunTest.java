package dev.partita.controller.replay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.controller.replay.Scenarios.Numbers;
import java.io.IOException;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The benchmark's scenarios: placements are right (each is checked while it runs) and packed tightly. */
class ScenarioRunTest {
  @Test
  void sharesArePackedNearlyAsTightlyAsCanBe() throws IOException {
    ScenarioReport report = play("shares");
    assertThat(report.failed()).isZero();
    assertThat(report.gpusTouched()).isLessThanOrEqualTo((int) (report.gpusFloor() * 1.05));
  }

  @Test
  void sixteenCardsWhereFifteenAreFreeFail() throws IOException {
    assertThat(play("dead-end").allocated()).isZero();
  }

  /** These follow from the formula, worked out apart: the same claims arrive here as in the comparison. */
  @Test
  void numbersFollowTheGenerator() {
    Numbers numbers = new Numbers(400);
    assertThat(IntStream.range(0, 6).map(i -> numbers.below(100))).containsExactly(7, 18, 81, 6, 11, 42);
  }

  private static ScenarioReport play(String name) throws IOException {
    Scenarios file = AllocatorBench.ours();
    Scenarios.Scenario scenario =
        file.scenarios().stream().filter(s -> s.name().equals(name)).findFirst().orElseThrow();
    return ScenarioRun.play(file, scenario);
  }
}
