package dev.partita.plugin.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.gpu.GpuHealth;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class FlapDampingTest {
  private static final GpuHealth LOST = GpuHealth.unhealthy("GpuIsLost", "it does not answer");

  private final FlapDamping damping = new FlapDamping(FlapDamping.History.NONE, 0);

  @Test
  void aCardThatFailsOnceOrTwiceIsHealthyAsSoonAsItIsWell() {
    assertThat(at(0, GpuHealth.HEALTHY)).isEqualTo(GpuHealth.HEALTHY);
    assertThat(at(10, LOST)).isEqualTo(LOST);
    assertThat(at(20, GpuHealth.HEALTHY)).isEqualTo(GpuHealth.HEALTHY);
    assertThat(at(30, LOST)).isEqualTo(LOST);
    assertThat(at(40, GpuHealth.HEALTHY)).isEqualTo(GpuHealth.HEALTHY);
  }

  @Test
  void aCardThatFailsAgainAndAgainIsHealthyOnceItWasWellForLong() {
    for (int second = 0; second < 50; second += 20) {
      at(second, LOST);
      at(second + 10, GpuHealth.HEALTHY);
    }
    GpuHealth damped = at(60, GpuHealth.HEALTHY);
    assertThat(damped.state()).isEqualTo(GpuHealth.State.Unhealthy);
    assertThat(damped.reason()).isEqualTo("GpuIsLost");
    assertThat(damped.message()).contains("it does not answer", "3 times within 10 min");
    assertThat(at(70, GpuHealth.HEALTHY)).as("it says the same each time, so that nothing is written")
        .isEqualTo(damped);
    assertThat(at(349, GpuHealth.HEALTHY)).isEqualTo(damped);
    assertThat(at(350, GpuHealth.HEALTHY)).isEqualTo(GpuHealth.HEALTHY);
  }

  @Test
  void failuresThatAreFarApartAreNotFlapping() {
    for (int minute = 0; minute < 60; minute += 6) {
      assertThat(at(minute * 60L, LOST)).isEqualTo(LOST);
      assertThat(at(minute * 60L + 10, GpuHealth.HEALTHY)).isEqualTo(GpuHealth.HEALTHY);
    }
  }

  @Test
  void oneFailureThatIsSeenAgainAndAgainIsOne() {
    for (int second = 0; second < 100; second += 10) {
      at(second, LOST);
    }
    assertThat(at(100, GpuHealth.HEALTHY)).isEqualTo(GpuHealth.HEALTHY);
  }

  private GpuHealth at(long seconds, GpuHealth health) {
    return damping.update("a", health, Duration.ofSeconds(seconds).toNanos());
  }
}
