package dev.partita.cli.shell;

import dev.partita.cli.command.CommandFailure;
import java.io.PrintWriter;
import picocli.AutoComplete;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import picocli.CommandLine;

/** {@code partita completion}. */
@Command(
    name = "completion",
    description = "Prints a script that has a shell complete commands and options.",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    footer = {
      "",
      "Examples:",
      "  source <(partita completion bash)      (in ~/.bashrc)",
      "  source <(partita completion zsh)       (in ~/.zshrc)",
      "  partita completion fish > ~/.config/fish/completions/partita.fish"
    })
public final class CompletionCommand implements Runnable {
  @Spec private CommandSpec spec;

  @Parameters(paramLabel = "SHELL", description = "bash, zsh or fish.") private String shell = "";

  @Override
  public void run() {
    CommandLine program = spec.root().commandLine();
    PrintWriter out = spec.commandLine().getOut();
    out.print(
        switch (shell) {
          case "bash", "zsh" -> AutoComplete.bash(program.getCommandName(), program); // it knows zsh's bashcompinit
          case "fish" -> FishCompletion.of(program);
          default -> throw CommandFailure.usage("the shell is bash, zsh or fish, not '" + shell + "'");
        });
    out.flush();
  }
}
