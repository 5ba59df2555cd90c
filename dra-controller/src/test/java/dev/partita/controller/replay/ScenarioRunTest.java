package dev.partita.controller.replay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.controller.replay.Scenarios.Numbers;
import dev.partita.controller.request.PodNeeds;
import java.io.IOException;
import java.io.InputStream;
import java.util.Objects;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The benchmark's scenarios: placements are right (each is checked while it runs) and packed tightly. */
class ScenarioRunTest {
  @ParameterizedTest
  @MethodSource("podSizes")
  void sharesArePackedNearlyAsTightlyAsCanBe(PodSizes sizes, double most) throws IOException {
    ScenarioReport report = play("shares", sizes);
    assertThat(report.failed()).isZero();
    assertThat(report.cards().touched()).isLessThanOrEqualTo((int) (report.cards().floor() * most));
  }

  static Stream<Arguments> podSizes() {
    return Stream.of(Arguments.of(PodSizes.NONE, 1.05), Arguments.of(PodSizes.USUAL, 1.08));
  }

  @Test
  void podsTakeTheCpuOfTheirHosts() throws IOException {
    PodNeeds share = new PodNeeds(1_000, 0);
    PodSizes small = new PodSizes(share, share, new PodNeeds(2_000, 0));
    ScenarioReport report = play("shares", small);
    assertThat(report.allocated()).as("two a host").isEqualTo(2 * scenario("shares").nodes());
  }

  @Test
  void sixteenCardsWhereFifteenAreFreeFail() throws IOException {
    assertThat(play("dead-end", PodSizes.NONE).allocated()).isZero();
  }

  /** These follow from the formula, worked out apart: the same claims arrive here as in the comparison. */
  @Test
  void numbersFollowTheGenerator() {
    Numbers numbers = new Numbers(400);
    assertThat(IntStream.range(0, 6).map(i -> numbers.below(100))).containsExactly(7, 18, 81, 6, 11, 42);
  }

  private static ScenarioReport play(String name, PodSizes sizes) throws IOException {
    return ScenarioRun.play(file(), scenario(name), sizes);
  }

  private static Scenarios.Scenario scenario(String name) throws IOException {
    return file().scenarios().stream().filter(s -> s.name().equals(name)).findFirst().orElseThrow();
  }

  private static Scenarios file() throws IOException {
    try (InputStream json = Objects.requireNonNull(ScenarioRunTest.class.getResourceAsStream("scenarios.json"))) {
      return Scenarios.read(json);
    }
  }
}
