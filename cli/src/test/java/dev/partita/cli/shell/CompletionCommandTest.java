package dev.partita.cli.shell;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.partita.cli.command.CommandRun;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CompletionCommandTest {
  @Test
  void bashCompletesCommandsByTheScript(@TempDir Path folder) throws IOException, InterruptedException {
    Path script = Files.writeString(folder.resolve("completion"), CommandRun.of("completion", "bash").out());
    Process bash =
        new ProcessBuilder("bash", "-c", "source " + script
            + "; COMP_WORDS=(partita to); COMP_CWORD=1; COMP_LINE='partita to'; _complete_partita; echo \"${COMPREPLY[@]}\"")
            .redirectErrorStream(true).start();
    String out = new String(bash.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(bash.waitFor()).as(out).isZero();
    assertThat(out.strip()).isEqualTo("top");
  }

  /** In a terminal of its own, where zsh reads lines as from a person. */
  @Test
  void zshCompletesWhatIsTyped(@TempDir Path folder) throws IOException, InterruptedException {
    assumeThere("zsh");
    Path script = Files.writeString(folder.resolve("completion"), CommandRun.of("completion", "zsh").out());
    String typed =
        """
            zmodload zsh/zpty
            zpty shell zsh -f -i
            zpty -w shell "autoload -Uz compinit; compinit -u -D; source %s; partita() { : }"
            zpty -w -n shell $'partita report --min-\t'
            zpty -r -m shell seen '*--min-age*'
            print -r -- $seen
            zpty -d shell
            """.formatted(script);
    assertThat(run(List.of("zsh", "-f", "-c", typed))).contains("--min-age");
  }

  @Test
  void fishCompletesWhatIsTyped(@TempDir Path folder) throws IOException, InterruptedException {
    assumeThere("fish");
    Path script = Files.writeString(folder.resolve("completion"), CommandRun.of("completion", "fish").out());
    for (Map.Entry<String, String> typed : Map.of("partita to", "top", "partita top cl", "claims",
        "partita -n lab res", "resize", "partita report --min-", "--min-age").entrySet()) {
      assertThat(run(List.of("fish", "-N", "-c", "source " + script + "; complete -C '" + typed.getKey() + "'")))
          .as(typed.getKey()).contains(typed.getValue() + "\t");
    }
    assertThat(run(List.of("fish", "-N", "-c", "source " + script + "; complete -C 'partita top claims re'")))
        .as("a command stands behind none that does not have it").isEmpty();
  }

  /** Debian's package of the same name has the shell; CI installs it. */
  private static void assumeThere(String shell) {
    assumeTrue("1".equals(System.getenv("PARTITA_REQUIRE_OUTSIDE"))
        || Stream.of(System.getenv("PATH").split(":", -1)).anyMatch(at -> Files.isExecutable(Path.of(at, shell))),
        "there is no " + shell);
  }

  private static String run(List<String> line) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(line).redirectErrorStream(true).start();
    process.getOutputStream().close();
    try {
      CompletableFuture<String> out = CompletableFuture.supplyAsync(() -> text(process));
      assertThat(process.waitFor(60, TimeUnit.SECONDS)).as("it ends").isTrue();
      return out.join();
    } finally {
      process.destroyForcibly();
    }
  }

  private static String text(Process process) {
    try {
      return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void fishIsToldEveryCommandWithItsOptions() {
    String script = CommandRun.of("completion", "fish").out();
    assertThat(script.lines())
        .contains(
            "complete -c partita -n '__partita_at \"top\"' -a claims -d 'Shows one row for each device of a ResourceClaim.'")
        .anyMatch(
            line -> line.startsWith("complete -c partita -n '__partita_in \"report\"' -l min-age -r -d 'How long"))
        .anyMatch(line -> line.contains("-l kubeconfig -r -F"));
    assertThat(script.lines().filter(line -> line.startsWith("complete")))
        .allMatch(line -> line.replace("\\'", "").chars().filter(c -> c == '\'').count() % 2 == 0);
  }

  @Test
  void anUnknownShellIsRefused() {
    CommandRun run = CommandRun.of("completion", "tcsh");
    assertThat(run.status()).isEqualTo(2);
    assertThat(run.err()).contains("bash, zsh or fish, not 'tcsh'");
  }

  @Test
  void theManualHasASectionForEachCommandAndNoLineThatRoffTakesForItsOwn() {
    String page = CommandRun.of("man").out();
    assertThat(page).startsWith(".TH PARTITA 1\n.SH NAME\npartita \\- ")
        .contains(".SH PARTITA TOP GPUS\n", ".SH PARTITA DOCTOR\n", "\\-\\-partita\\-namespace");
    assertThat(page.lines().filter(line -> line.startsWith("."))).allMatch(
        line -> line.startsWith(".TH ") || line.startsWith(".SH ") || line.equals(".nf") || line.equals(".fi"));
  }
}
