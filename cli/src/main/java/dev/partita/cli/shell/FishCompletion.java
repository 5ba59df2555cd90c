package dev.partita.cli.shell;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** A completion script for fish, which picocli has none for. */
final class FishCompletion {
  private static final int LONGEST = 80;

  private final String program;
  private final StringBuilder script = new StringBuilder();

  private FishCompletion(String program) {
    this.program = program;
  }

  /** The script; {@code complete} of fish reads it. */
  static String of(CommandLine line) {
    FishCompletion completion = new FishCompletion(line.getCommandName());
    completion.functions();
    completion.command(line, List.of());
    return completion.script.toString();
  }

  /** Where the cursor stands: {@code at} behind just these commands, {@code in} behind these and anything else. */
  private void functions() {
    script.append(
        """
            # fish completion of NAME: NAME completion fish > ~/.config/fish/completions/NAME.fish
            function __NAME_words
              set -l tokens (commandline -opc)
              string match -v -- '-*' $tokens[2..-1]
            end
            function __NAME_at
              test (string join ' ' (__NAME_words)) = "$argv[1]"
            end
            function __NAME_in
              string match -q -- "$argv[1]*" (string join ' ' (__NAME_words))
            end
            complete -c NAME -f
            """.replace("NAME", program));
  }

  private void command(CommandLine line, List<String> path) {
    String at = String.join(" ", path);
    for (OptionSpec option : line.getCommandSpec().options()) {
      if (!option.hidden()) {
        option(option, at);
      }
    }
    for (CommandLine sub : new LinkedHashSet<>(line.getSubcommands().values())) {
      CommandSpec spec = sub.getCommandSpec();
      if (!spec.usageMessage().hidden()) {
        script.append("complete -c ").append(program).append(" -n '__").append(program).append("_at \"").append(at)
            .append("\"' -a ").append(spec.name()).append(" -d ")
            .append(quoted(first(spec.usageMessage().description())))
            .append('\n');
        List<String> below = new ArrayList<>(path);
        below.add(spec.name());
        command(sub, below);
      }
    }
  }

  private void option(OptionSpec option, String at) {
    script.append("complete -c ").append(program).append(" -n '__").append(program).append("_in \"").append(at)
        .append("\"'");
    for (String name : option.names()) {
      script.append(name.startsWith("--") ? " -l " + name.substring(2) : " -s " + name.substring(1));
    }
    if (option.arity().max() > 0) {
      script.append(option.paramLabel().contains("FILE") ? " -r -F" : " -r");
    }
    script.append(" -d ").append(quoted(first(option.description()))).append('\n');
  }

  /** The first sentence, cut to what fits beside a name. */
  private static String first(String[] description) {
    String text = description.length == 0 ? "" : description[0].replaceAll("%n|\\$\\{[^}]*\\}", "").strip();
    int end = text.indexOf(". ");
    String sentence = end < 0 ? text : text.substring(0, end);
    return sentence.length() > LONGEST ? sentence.substring(0, LONGEST - 1) + "…" : sentence;
  }

  private static String quoted(String text) {
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'";
  }
}
