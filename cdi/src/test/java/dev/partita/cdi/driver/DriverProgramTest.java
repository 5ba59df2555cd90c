package dev.partita.cdi.driver;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.partita.cdi.driver.DriverProgram.Outcome;
import dev.partita.cdi.driver.DriverProgram.Outcome.Ended;
import dev.partita.cdi.driver.DriverProgram.Outcome.Hangs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DriverProgramTest {
  private static final Duration LONG = Duration.ofSeconds(30);

  @TempDir Path folder;

  @Test
  void aProgramThatPrintsMoreThanAPipeHoldsEndsAndTheBeginOfItIsKept() throws IOException {
    Outcome outcome = run("printf 'first  words\\n'; head -c 300000 /dev/zero | tr '\\0' x; exit 7", "", LONG);
    assertThat(outcome).isInstanceOfSatisfying(Ended.class, ended -> {
      assertThat(ended.status()).isEqualTo(7);
      assertThat(ended.said()).startsWith("first words xxx").hasSizeLessThanOrEqualTo(400);
    });
  }

  @Test
  void itsInputIsGivenToItAndNeedNotBeRead() throws IOException {
    assertThat(run("cat", "one\ntwo\n", LONG)).isEqualTo(new Ended(0, "one two"));
    assertThat(run("exec <&-; echo done", "x".repeat(300_000), LONG)).isEqualTo(new Ended(0, "done"));
  }

  @Test
  void itsEnvironmentIsTheOneThatIsGiven() throws IOException {
    assertThat(DriverProgram.run(List.of("/usr/bin/env"), Map.of("A", "b"), "", LONG)).isEqualTo(new Ended(0, "A=b"));
  }

  @Test
  void oneThatDoesNotEndIsKilledWithAllThatItStartedHoweverMuchItPrints() throws IOException {
    Path pids = folder.resolve("pids");
    assertThat(
        run("sleep 600 & echo $! $$ > " + pids + "; while :; do echo on and on; done", "", Duration.ofSeconds(2)))
        .isEqualTo(new Hangs());
    for (String pid : Files.readString(pids).strip().split(" ", -1)) {
      ProcessHandle.of(Long.parseLong(pid)).ifPresent(its -> its.onExit().orTimeout(20, SECONDS).join());
    }
  }

  @Test
  void whatItHasStartedIsNotWaitedForThoughItKeepsTheOutputOpen() throws IOException {
    assertThat(run("sleep 60 & echo $! | tee " + folder.resolve("pid"), "", LONG)).isInstanceOf(Ended.class);
    ProcessHandle left =
        ProcessHandle.of(Long.parseLong(Files.readString(folder.resolve("pid")).strip())).orElseThrow();
    assertThat(left.isAlive()).isTrue();
    left.destroyForcibly();
  }

  @Test
  void oneThatIsNotThereIsAnError() {
    assertThatThrownBy(() -> DriverProgram.run(List.of(folder.resolve("none").toString()), Map.of(), "", LONG))
        .isInstanceOf(IOException.class).hasMessageContaining("none");
  }

  private static Outcome run(String script, String input, Duration patience) throws IOException {
    return DriverProgram.run(List.of("/bin/sh", "-c", script), Map.of("PATH", "/usr/bin:/bin"), input, patience);
  }
}
