package dev.partita.plugin.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.gpu.GpuHealth;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the next plugin knows of cards that became unhealthy again and again. */
class FlapFileTest {
  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
  private static final GpuHealth LOST = GpuHealth.unhealthy("GpuIsLost", "it does not answer");

  @TempDir @SuppressWarnings("NullAway.Init") Path root;

  private Instant now = START;
  private int plugins;

  /** A plugin from its start on: its clock for how long something lasts has an origin of its own. */
  private final class Plugin {
    private final Instant origin;
    private final FlapDamping damping;

    private Plugin(String bootId) {
      plugins++;
      origin = START.minus(Duration.ofDays(plugins));
      damping = new FlapDamping(new FlapFile(root.resolve("flaps"), bootId, () -> now), nanos());
    }

    private long nanos() {
      return Duration.between(origin, now).toNanos();
    }

    private GpuHealth sees(long second, GpuHealth health) {
      now = START.plusSeconds(second);
      GpuHealth said = damping.update("a", health, nanos());
      damping.keep(nanos());
      return said;
    }
  }

  @Test
  void aCardThatFlappedIsDampedByTheNextPluginUntilItWasWellForLong() {
    flapsFor50Seconds(new Plugin("boot"));
    Plugin next = new Plugin("boot");
    assertThat(next.sees(60, GpuHealth.HEALTHY).state()).isEqualTo(GpuHealth.State.Unhealthy);
    assertThat(new Plugin("boot").sees(349, GpuHealth.HEALTHY).message())
        .contains("it does not answer", "3 times within 10 min");
    assertThat(next.sees(350, GpuHealth.HEALTHY)).isEqualTo(GpuHealth.HEALTHY);
    assertThat(new Plugin("boot").sees(351, GpuHealth.HEALTHY)).isEqualTo(GpuHealth.HEALTHY);
  }

  @Test
  void aCardThatIsStillUnhealthyHasNotBecomeSoOnceMore() {
    for (int second = 0; second < 50; second += 10) {
      assertThat(new Plugin("boot").sees(second, LOST)).isEqualTo(LOST);
    }
    assertThat(new Plugin("boot").sees(50, GpuHealth.HEALTHY)).isEqualTo(GpuHealth.HEALTHY);
  }

  @Test
  void theNextPluginKnowsWhatWasWrongWithACardLast() {
    Plugin plugin = new Plugin("boot");
    GpuHealth xid = GpuHealth.unhealthy("XID 95", "the driver reported XID 95");
    plugin.sees(0, LOST);
    plugin.sees(10, xid);
    assertThat(new Plugin("boot").damping.seenLast()).containsExactly(Map.entry("a", xid));
    assertThat(new Plugin("another boot").damping.seenLast()).isEmpty();
    plugin.sees(20, GpuHealth.HEALTHY);
    assertThat(new Plugin("boot").damping.seenLast()).containsExactly(Map.entry("a", GpuHealth.HEALTHY));
  }

  @Test
  void afterARebootNothingIsDamped() {
    flapsFor50Seconds(new Plugin("boot"));
    assertThat(new Plugin("another boot").sees(60, GpuHealth.HEALTHY)).isEqualTo(GpuHealth.HEALTHY);
  }

  @Test
  void whatCannotBeReadCountsAsMissing() throws IOException {
    for (String text : new String[]{"", "{}", "[]", "{\"bootId\":\"boot\",\"cards\":{\"a\":{}}}",
      "{\"bootId\":\"boot\",\"cards\":{\"a\":{\"onsets\":[1]}}}", "\u0000"}) {
      Files.writeString(root.resolve("flaps"), text);
      assertThat(new Plugin("boot").sees(60, GpuHealth.HEALTHY)).as(text).isEqualTo(GpuHealth.HEALTHY);
    }
  }

  @Test
  void aClockThatWasSetBackDoesNotLengthenTheTime() {
    flapsFor50Seconds(new Plugin("boot"));
    now = START.minus(Duration.ofDays(1));
    Plugin next = new Plugin("boot");
    long second = -Duration.ofDays(1).toSeconds();
    next.sees(second, GpuHealth.HEALTHY);
    assertThat(next.sees(second + FlapDamping.WELL_FOR.toSeconds(), GpuHealth.HEALTHY)).isEqualTo(GpuHealth.HEALTHY);
  }

  /** The last time it is well from second 50 on. */
  private static void flapsFor50Seconds(Plugin plugin) {
    for (int second = 0; second < 50; second += 20) {
      plugin.sees(second, LOST);
      plugin.sees(second + 10, GpuHealth.HEALTHY);
    }
  }
}
