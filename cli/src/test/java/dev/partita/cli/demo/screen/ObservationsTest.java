package dev.partita.cli.demo.screen;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class ObservationsTest {
  private final ByteArrayOutputStream printed = new ByteArrayOutputStream();
  private final Observations observations = new Observations(screen(StandardCharsets.US_ASCII));

  private Screen screen(Charset charset) {
    return new Screen(new PrintStream(printed, true, charset), false, charset);
  }

  @Test
  void theDemoHasSucceededOnlyIfEverythingWasSeen() {
    for (Observation what : Observation.values()) {
      assertThat(observations.allMade()).isFalse();
      observations.note(what, true, "");
    }
    assertThat(observations.allMade()).isTrue();
    assertThat(observations.missing()).isEmpty();
  }

  @Test
  void whatWasNotSeenIsListedWithWhatWasSeenInstead() {
    observations.note(Observation.NODES_REPORT, false, "only node-a");

    assertThat(observations.missing())
        .hasSize(Observation.values().length)
        .anyMatch(line -> line.equals(Observation.NODES_REPORT.text() + " (only node-a)"))
        .anyMatch(line -> line.equals(Observation.WITHIN_QUOTA.text() + " (the demo did not get so far)"));
  }

  @Test
  void theStoryEndsWhereWhatItStandsOnIsMissing() {
    assertThatThrownBy(() -> observations.require(Observation.NODES_REPORT, false, "only node-a"))
        .isInstanceOf(StoryEnds.class);
  }

  @Test
  void symbolsAreWordsWhereTheyCannotBeShown() {
    observations.note(Observation.NODES_REPORT, true, "");

    assertThat(printed.toString(StandardCharsets.US_ASCII)).contains("[ok] " + Observation.NODES_REPORT.text());
  }
}
