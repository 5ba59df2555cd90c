package dev.partita.plugin.xid;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.plugin.nvml.XidEvent;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class XidLinesTest {
  private static final XidEvent FAULT = new XidEvent("GPU-0", 31);

  private long nanos = Long.MAX_VALUE - 5; // it may begin anywhere
  private final XidLines lines = new XidLines(() -> nanos);

  @Test
  void anErrorThatComesAgainAndAgainHasOneLineInAMinuteWhichTellsHowManyThereWere() {
    assertThat(lines.of(FAULT)).hasValue("");
    for (int i = 0; i < 500; i++) {
      nanos += Duration.ofMillis(100).toNanos();
      assertThat(lines.of(FAULT)).isEmpty();
    }
    nanos += Duration.ofSeconds(10).toNanos();
    assertThat(lines.of(FAULT)).hasValue(" (and 500 before)");
    assertThat(lines.of(FAULT)).isEmpty();
  }

  @Test
  void anotherErrorAndAnotherCardHaveLinesOfTheirOwn() {
    assertThat(lines.of(FAULT)).hasValue("");
    assertThat(lines.of(new XidEvent("GPU-0", 79))).hasValue("");
    assertThat(lines.of(new XidEvent("GPU-1", 31))).hasValue("");
  }

  @Test
  void oneThatIsRareAlwaysHasALine() {
    for (int i = 0; i < 3; i++) {
      assertThat(lines.of(FAULT)).hasValue("");
      nanos += Duration.ofMinutes(1).toNanos();
    }
  }
}
