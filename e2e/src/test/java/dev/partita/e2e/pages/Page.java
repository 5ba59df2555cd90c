package dev.partita.e2e.pages;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The commands of a page of the documentation.
 *
 * @param steps in the page's order
 */
record Page(List<Step> steps) {
  /** These pages are for looking something up: what they show of commands is not typed in order. */
  private static final String REFERENCE = "docs/reference/";

  private static final Set<String> SHELL = Set.of("bash", "sh");
  private static final Set<String> OUTPUT = Set.of("text", "json");
  private static final Pattern LOOP = Pattern.compile("^for .*; do\\b");
  private static final Pattern HERE_DOCUMENT = Pattern.compile("<<'(\\w+)'");

  /**
   * A block of commands.
   *
   * @param where page and line, for people
   * @param commands each as it stands, with all of its lines
   * @param shown what the page shows as their output, if it shows any
   */
  record Step(String where, List<String> commands, Optional<String> shown) {}

  /** The pages for users that have commands, by their paths below the checkout. */
  static List<String> paths(Path home) throws IOException {
    List<Path> files = new ArrayList<>(List.of(home.resolve("README.md")));
    try (Stream<Path> found = Files.walk(home.resolve("docs"))) {
      found.filter(it -> it.toString().endsWith(".md")).sorted().forEach(files::add);
    }
    List<String> paths = new ArrayList<>();
    for (Path file : files) {
      String path = home.relativize(file).toString();
      if (!path.startsWith(REFERENCE) && !of(home, path).steps().isEmpty()) {
        paths.add(path);
      }
    }
    return List.copyOf(paths);
  }

  /** Reads a page by its path below the checkout. */
  static Page of(Path home, String path) throws IOException {
    return parsed(path, Files.readString(home.resolve(path)));
  }

  /** What a block shows belongs to the block of commands right before it. */
  static Page parsed(String name, String markdown) {
    List<Step> steps = new ArrayList<>();
    boolean follows = false;
    for (FencedBlock block : FencedBlock.in(markdown).toList()) {
      if (SHELL.contains(block.language())) {
        steps.add(new Step(name + ":" + block.line(), commands(block.text()), Optional.empty()));
      } else if (OUTPUT.contains(block.language()) && follows) {
        Step before = steps.removeLast();
        steps.add(new Step(before.where(), before.commands(), Optional.of(block.text())));
      }
      follows = SHELL.contains(block.language());
    }
    return new Page(List.copyOf(steps));
  }

  private static List<String> commands(String script) {
    List<String> commands = new ArrayList<>();
    String command = "";
    for (String line : script.lines().toList()) {
      command = command.isEmpty() ? line : command + "\n" + line;
      if (!goesOn(command)) {
        if (!command.isBlank()) {
          commands.add(command);
        }
        command = "";
      }
    }
    if (!command.isEmpty()) {
      commands.add(command);
    }
    return List.copyOf(commands);
  }

  /** Whether the next line belongs to a command: after a backslash or a pipe, in quotes, a here-document or a loop. */
  private static boolean goesOn(String command) {
    if (LOOP.matcher(command).find()) {
      return !command.endsWith("done");
    }
    Matcher document = HERE_DOCUMENT.matcher(command);
    return document.find()
        ? !command.endsWith("\n" + document.group(1))
        : command.endsWith("\\") || command.endsWith("|") || command.chars().filter(c -> c == '\'').count() % 2 == 1;
  }
}
