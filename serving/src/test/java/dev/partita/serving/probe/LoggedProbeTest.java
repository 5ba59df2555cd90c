package dev.partita.serving.probe;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class LoggedProbeTest {
  private final AtomicLong nanos = new AtomicLong();
  private final List<String> log = new ArrayList<>();
  private Optional<String> problem = Optional.empty();
  private final LoggedProbe probe =
      new LoggedProbe("readiness", Duration.ofSeconds(30), () -> problem, nanos::get, log::add);

  private Optional<String> askedAfter(int seconds, Optional<String> now) {
    nanos.addAndGet(Duration.ofSeconds(seconds).toNanos());
    problem = now;
    return probe.get();
  }

  @Test
  void theProbeIsAnsweredWithWhatIsWrong() {
    assertThat(askedAfter(0, Optional.of("no GpuNode"))).contains("no GpuNode");
    assertThat(askedAfter(0, Optional.empty())).isEmpty();
  }

  @Test
  void whatIsWrongForLongIsLoggedOnceWithItsLastReasonAndSoIsItsEnd() {
    askedAfter(0, Optional.of("starting"));
    askedAfter(29, Optional.of("starting"));
    assertThat(log).isEmpty();
    askedAfter(1, Optional.of("no GpuNode for 30 s"));
    askedAfter(5, Optional.of("no GpuNode for 35 s"));
    assertThat(log).containsExactly("kubelet's readiness probe fails: no GpuNode for 30 s");
    askedAfter(5, Optional.empty());
    askedAfter(5, Optional.empty());
    assertThat(log).containsExactly("kubelet's readiness probe fails: no GpuNode for 30 s",
        "kubelet's readiness probe succeeds again");
  }

  @Test
  void whatIsSoonRightAgainIsNotLogged() {
    askedAfter(0, Optional.of("starting"));
    askedAfter(20, Optional.empty());
    askedAfter(20, Optional.of("starting"));
    askedAfter(20, Optional.of("starting"));
    assertThat(log).isEmpty();
  }
}
