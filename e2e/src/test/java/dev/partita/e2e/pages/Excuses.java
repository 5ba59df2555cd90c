package dev.partita.e2e.pages;

import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/** Commands of pages that are not typed here, each with the reason. Whatever no line names is run. */
final class Excuses {
  private record Excuse(Pattern command, String why) {
    Excuse(String command, String why) {
      this(Pattern.compile("^(?:" + command + ")"), why);
    }
  }

  private static final List<Excuse> ALL = List.of(
      new Excuse("\\./partita demo\\b", "DemoIT runs it"),
      new Excuse("\\./partita cluster up\\b", "the cluster of all tests came up by it"),
      new Excuse("\\./partita cluster down\\b", "the cluster of all tests goes down by it"),
      new Excuse("\\./partita web\\b|.* --watch$", "goes on until somebody ends it; WebIT opens the page"),
      new Excuse("mvn ", "this test runs within it"),
      new Excuse("docker save|\\./partita cluster load", "needs Docker and an image of the reader's"));

  private Excuses() {}

  /** Why a command is not run; empty if it is. */
  static Optional<String> of(String command) {
    return ALL.stream().filter(excuse -> excuse.command().matcher(command).find()).map(Excuse::why).findFirst();
  }
}
