package dev.partita.cli.command;

import dev.partita.cli.Partita;
import java.io.PrintWriter;
import java.io.StringWriter;
import picocli.CommandLine;

/** What came of a command line that ran in this process. */
public record CommandRun(int status, String out, String err) {
  /** Runs it to its end. */
  public static CommandRun of(String... arguments) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    CommandLine line = Partita.commandLine().setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true));
    return new CommandRun(line.execute(arguments), out.toString(), err.toString());
  }
}
