package dev.partita.plugin.leftover;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.plugin.claim.PreparedClaim.Phase;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class VerdictTest {
  @ParameterizedTest(name = "record {0}, needed {1}, same boot {2}, gone for {3} s, in use {4}: {5}")
  @CsvSource({
    "COMPLETED, true,  true,  0,   true,  KEEP",
    "COMPLETED, true,  false, 0,   false, KEEP",
    "STARTED,   true,  true,  0,   false, KEEP",
    ",          true,  true,  0,   false, REBUILD",
    "COMPLETED, false, true,  0,   false, WAIT",
    "COMPLETED, false, true,  599, false, WAIT",
    "COMPLETED, false, true,  600, true,  WAIT",
    "COMPLETED, false, true,  600, false, REMOVE",
    "COMPLETED, false, false, 0,   false, REMOVE",
    "STARTED,   false, true,  0,   false, REMOVE",
    ",          false, true,  0,   false, WAIT",
    ",          false, true,  600, false, REMOVE",
  })
  void decides(Phase recorded, boolean needed, boolean sameBoot, long goneFor, boolean inUse, Verdict verdict)
      throws IOException {
    Duration gone = Duration.ofSeconds(goneFor);
    Duration grace = Duration.ofMinutes(10);
    Optional<Phase> phase = Optional.ofNullable(recorded);
    assertThat(Verdict.of(phase, needed, sameBoot, gone, grace, () -> inUse)).isEqualTo(verdict);
  }
}
