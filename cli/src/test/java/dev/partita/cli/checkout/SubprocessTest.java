package dev.partita.cli.checkout;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.cli.command.Waiting;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class SubprocessTest {
  @Test
  void whatAProgramSaidIsKnownWithItsStatus() {
    Subprocess run = Subprocess.run("sh", "-c", "echo out; echo err >&2; exit 3");
    assertThat(run).isEqualTo(new Subprocess(3, "out\n", "err\n"));
    assertThat(run.lastWords()).isEqualTo("err");
    assertThat(Subprocess.run("/nonexistent/program").status()).isEqualTo(127);
  }

  @Test
  @Timeout(60)
  void aProgramThatStandsStillIsKilledWithWhatItStarted() throws Exception {
    Subprocess run =
        Subprocess.within(Duration.ofMillis(1500), "sh", "-c", "sleep 600 & echo $!; echo waiting >&2; wait");
    assertThat(run.status()).isEqualTo(124);
    assertThat(run.lastWords()).isEqualTo("it did not end within 1.5 s, and was killed");
    long child = Long.parseLong(run.out().strip());
    assertThat(Waiting.until(Duration.ofSeconds(30),
        () -> ProcessHandle.of(child).filter(ProcessHandle::isAlive).isEmpty())).isTrue();
  }

  /** A daemon that a program leaves behind keeps its output open. */
  @Test
  @Timeout(60)
  void nobodyWaitsForWhatAProgramLeavesBehind() {
    Subprocess run = Subprocess.run("sh", "-c", "sleep 600 & echo $!");
    assertThat(run.status()).isZero();
    ProcessHandle.of(Long.parseLong(run.out().strip())).ifPresent(ProcessHandle::destroyForcibly);
  }
}
