package dev.partita.controller.nodestatus;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.controller.HeldClock;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.VersionInfo;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class CachedServerVersionTest {
  private final HeldClock clock = new HeldClock(Instant.EPOCH);
  private Optional<String> answer = Optional.empty();
  private int asked;
  private final CachedServerVersion version = new CachedServerVersion(this::answer, clock);

  private VersionInfo answer() {
    asked++;
    return new VersionInfo.Builder().withMajor("1")
        .withMinor(answer.orElseThrow(() -> new KubernetesClientException("no answer"))).build();
  }

  @Test
  void anUpgradeIsNoticedAfterAWhile() {
    assertThat(version.minor()).isEmpty();
    answer = Optional.of("36");
    assertThat(version.minor()).as("as long as it is not known it is asked for every time").hasValue(36);
    answer = Optional.of("37");
    clock.advance(CachedServerVersion.KEPT.minusSeconds(1));
    assertThat(version.minor()).hasValue(36);
    assertThat(asked).isEqualTo(2);
    clock.advance(Duration.ofSeconds(1));
    assertThat(version.minor()).hasValue(37);
  }

  @Test
  void whatWasToldStandsWhileTheApiServerDoesNotAnswer() {
    answer = Optional.of("36");
    assertThat(version.minor()).hasValue(36);
    answer = Optional.empty();
    clock.advance(CachedServerVersion.KEPT);
    assertThat(version.minor()).hasValue(36);
    assertThat(version.minor()).hasValue(36);
    assertThat(asked).as("nor is it asked every time").isEqualTo(2);
  }
}
