package dev.partita.cli.shell;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import picocli.AutoComplete;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * {@code partita __complete}: answers kubectl, which asks {@code kubectl_complete-partita} what may stand in the place
 * of the last word, in the way of cobra's programs: a candidate a line, and a number that says what the shell is to do.
 */
@Command(name = CompleteCommand.NAME, hidden = true)
public final class CompleteCommand implements Runnable {
  static final String NAME = "__complete";

  /** cobra's ShellCompDirectiveNoFileComp: files are no candidates. */
  private static final String NO_FILES = ":4";

  @Spec private CommandSpec spec;

  @Parameters(arity = "0..*", hidden = true) private List<String> words = List.of();

  @Override
  public void run() {
    PrintWriter out = spec.commandLine().getOut();
    candidates(spec.root(), words.isEmpty() ? List.of("") : words).forEach(out::println);
    out.println(NO_FILES);
    out.flush();
  }

  /**
   * What may stand in the place of the last word.
   *
   * @param words of the command line behind the program's name; the last one is begun, or empty
   */
  static List<String> candidates(CommandSpec program, List<String> words) {
    String begun = words.getLast();
    List<CharSequence> rest = new ArrayList<>();
    AutoComplete.complete(program, words.toArray(String[]::new), words.size() - 1, begun.length(), 0, rest);
    return rest.stream().map(end -> begun + end).filter(word -> !word.equals(NAME)).distinct().sorted().toList();
  }
}
