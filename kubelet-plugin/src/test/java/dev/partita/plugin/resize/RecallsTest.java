package dev.partita.plugin.resize;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.plugin.resize.Recalls.OfShare;
import dev.partita.plugin.resize.Recalls.Outcome;
import dev.partita.plugin.usage.measure.ShareRef;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RecallsTest {
  private static final ShareRef SHARE = new ShareRef("uid", "share");
  private static final Duration GRACE = Duration.ofSeconds(30);

  private Instant now = Instant.EPOCH;
  private final Instant until = now.plus(GRACE);
  private final Recalls recalls = new Recalls(() -> now);

  @Test
  void whatIsAskedBackIsOverdueOnceItsGraceIsOver() {
    assertThat(recalls.current()).isEmpty();
    recalls.asked("uid", Map.of(SHARE, 8L), until);
    now = until;
    assertThat(recalls.current()).containsOnly(Map.entry(SHARE, new OfShare(8, Duration.ZERO)));
    now = until.plusSeconds(5);
    assertThat(recalls.current()).containsOnly(Map.entry(SHARE, new OfShare(8, Duration.ofSeconds(5))));
    recalls.asked("uid", Map.of(SHARE, 2L), until);
    assertThat(recalls.current()).as("still asked").containsOnly(
        Map.entry(SHARE, new OfShare(2, Duration.ofSeconds(5))));
    recalls.returned("uid");
    assertThat(recalls.current()).isEmpty();
  }

  @Test
  void howItEndsIsCountedOnceForEachTimeThatAClaimIsAsked() {
    assertThat(recalls.ended())
        .containsOnly(Map.entry(Outcome.RETURNED, 0L), Map.entry(Outcome.KILLED, 0L), Map.entry(Outcome.WITHDRAWN, 0L));
    recalls.asked("uid", Map.of(SHARE, 8L), until);
    recalls.asked("uid", Map.of(SHARE, 4L), until);
    recalls.returned("uid");
    recalls.returned("uid");
    recalls.asked("uid", Map.of(SHARE, 8L), until);
    recalls.killed("uid");
    recalls.asked("uid", Map.of(SHARE, 8L), until);
    recalls.returned("uid");
    recalls.asked("uid", Map.of(SHARE, 8L), until);
    recalls.withdrawn("uid");
    assertThat(recalls.ended())
        .containsOnly(Map.entry(Outcome.RETURNED, 1L), Map.entry(Outcome.KILLED, 1L), Map.entry(Outcome.WITHDRAWN, 1L));
  }

  @Test
  void whoWasNotAskedIsNotCounted() {
    recalls.returned("other");
    recalls.withdrawn("other");
    recalls.killed("other");
    assertThat(recalls.ended().values()).containsOnly(0L);
    assertThat(recalls.current()).isEmpty();
  }
}
