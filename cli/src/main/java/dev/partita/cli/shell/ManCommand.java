package dev.partita.cli.shell;

import java.io.PrintWriter;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code partita man}. */
@Command(
    name = "man",
    description = "Prints the manual page, for man(1).",
    mixinStandardHelpOptions = true,
    footer = {"", "Examples:", "  partita man > /usr/local/share/man/man1/partita.1"})
public final class ManCommand implements Runnable {
  @Spec private CommandSpec spec;

  @Override
  public void run() {
    PrintWriter out = spec.commandLine().getOut();
    out.print(ManPage.of(spec.root().commandLine()));
    out.flush();
  }
}
