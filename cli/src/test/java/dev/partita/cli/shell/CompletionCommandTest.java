package dev.partita.cli.shell;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.cli.command.CommandRun;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
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
    assertThat(CommandRun.of("completion", "zsh").out()).contains("bashcompinit");
  }

  @Test
  void fishIsToldEveryCommandWithItsOptions() {
    String script = CommandRun.of("completion", "fish").out();
    assertThat(script.lines())
        .contains("complete -c partita -n '__partita_at \"top\"' -a claims -d 'A row a device of a ResourceClaim.'")
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
