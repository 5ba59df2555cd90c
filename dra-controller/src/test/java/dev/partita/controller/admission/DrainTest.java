package dev.partita.controller.admission;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DrainTest {
  private static final Drain DRAIN = new Drain(Duration.ofSeconds(5), Duration.ofSeconds(20));

  @ParameterizedTest
  @CsvSource({
    // going, unasked, left
    "0, 3600, 5", // nobody had asked for long: they may all the same, until they know
    "2, 3600, 3",
    "5, 3600, 0",
    "5, 0, 5", // somebody does not know yet
    "12, 4, 1",
    "12, 5, 0",
    "17, 0, 3", // whoever never learns is not waited for
    "20, 0, 0",
    "30, 0, -10"})
  void itEndsWhenNobodyHasAskedForAWhileOrAtTheLatestThen(long going, long unasked, long left) {
    assertThat(DRAIN.left(Duration.ofSeconds(going), Duration.ofSeconds(unasked))).isEqualTo(Duration.ofSeconds(left));
  }
}
