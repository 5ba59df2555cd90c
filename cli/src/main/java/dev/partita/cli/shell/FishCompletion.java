package dev.partita.cli.shell;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine;

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
    Set<String> valued = new TreeSet<>();
    valued(line, valued);
    completion.functions(valued);
    completion.command(line, List.of());
    return completion.script.toString();
  }

  /** The options of a command, and of those below it, behind which a value stands. */
  private static void valued(CommandLine line, Set<String> names) {
    for (OptionSpec option : line.getCommandSpec().options()) {
      if (option.arity().min() > 0) {
        names.addAll(List.of(option.names()));
      }
    }
    line.getSubcommands().values().forEach(sub -> valued(sub, names));
  }

  /** Where the cursor stands: {@code at} behind just these commands, {@code in} behind these and anything else. */
  private void functions(Set<String> valued) {
    script.append(
        """
            # fish completion of NAME: NAME completion fish > ~/.config/fish/completions/NAME.fish
            function __NAME_words
              set -l tokens (commandline -opc)
              set -e tokens[1]
              set -l value no
              for token in $tokens
                if test $value = yes
                  set value no
                else if contains -- $token VALUED
                  set value yes
                else if not string match -q -- '-*' $token
                  echo $token
                end
              end
            end
            function __NAME_at
              set -l words (__NAME_words)
              test "$words" = "$argv[1]"
            end
            function __NAME_in
              set -l words (__NAME_words)
              test -z "$argv[1]"; or string match -q -- "$argv[1] *" "$words "
            end
            complete -c NAME -f
            """.replace("NAME", program).replace("VALUED", String.join(" ", valued)));
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
