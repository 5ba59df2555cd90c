package dev.partita.e2e.pages;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.e2e.cluster.OnRealCluster;
import dev.partita.e2e.cluster.RealCluster;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A reader who types what a page says, in its order, gets what the page shows. The commands are the page's own; those
 * that are not typed have an {@linkplain Excuses excuse}. They run in the namespace {@code default}, as a reader's do:
 * no other test has anything there.
 */
@OnRealCluster
@Isolated("the pods of the pages choose no node, and may come to run on one that another test breaks or needs for itself")
class PagesIT {
  /** For how long a reader looks again before he thinks that the page is wrong. */
  private static final Duration LOOKS_AGAIN = Duration.ofSeconds(30);

  /** What kubectl says of an object that it made. */
  private static final Pattern MADE = Pattern.compile("(?m)^([a-z][a-z0-9.]*/\\S+) created$");

  /** Commands that change nothing: their output is looked at again. */
  private static final Pattern READS =
      Pattern.compile("(?s)(kubectl (get|describe|logs)|\\./partita (top|explain|report|doctor|logs|simulate)) .*");

  private static final List<String> WHAT_THERE_IS =
      List.of("kubectl get pods,resourceclaims -o wide", "kubectl events",
          "kubectl logs shared-claim --all-containers");

  private static final String NOTHING = "No resources found";

  @ParameterizedTest
  @ValueSource(strings = {"README.md", "docs/tutorial.md"})
  void whoTypesWhatThePageSaysGetsWhatItShows(String page, RealCluster cluster, @TempDir Path folder)
      throws IOException {
    List<Page.Step> steps = Page.of(cluster.home(), page).steps();
    assertThat(steps).as("blocks of commands").isNotEmpty();
    try (Stream<Path> files = Files.list(cluster.home())) {
      for (Path file : files.toList()) { // commands may write where they are run
        Files.createSymbolicLink(folder.resolve(file.getFileName()), file);
      }
    }
    Map<String, String> environment = new HashMap<>(cluster.command().environment());
    environment.put("PARTITA_BUILD", "never");
    try (Terminal terminal = new Terminal(folder, environment)) {
      Deque<String> made = new ArrayDeque<>();
      try {
        for (Page.Step step : steps) {
          List<String> commands = step.commands().stream().filter(it -> Excuses.of(it).isEmpty()).toList();
          if (!commands.isEmpty()) {
            type(terminal, step, commands, made);
          }
        }
      } catch (AssertionError wrong) {
        wrong.addSuppressed(new IllegalStateException("what there is:\n" + terminal.run(WHAT_THERE_IS).output()));
        throw wrong;
      } finally {
        if (!made.isEmpty()) {
          terminal.run(List.of("kubectl delete --ignore-not-found --now " + String.join(" ", made)));
        }
      }
    }
  }

  /** Types a block, adds what it makes to {@code made}, and holds what comes out against what the page shows. */
  private static void type(Terminal terminal, Page.Step step, List<String> commands, Deque<String> made)
      throws IOException {
    boolean reads = commands.stream().allMatch(command -> READS.matcher(command).matches());
    long until = System.nanoTime() + LOOKS_AGAIN.toNanos();
    Terminal.Outcome outcome = terminal.run(commands);
    while (reads && !asShown(step, outcome) && System.nanoTime() < until) {
      outcome = terminal.run(commands);
    }
    MADE.matcher(outcome.output()).results().forEach(object -> made.push(object.group(1)));
    String typed = step.where() + ": " + String.join("\n", commands) + "\n";
    assertThat(outcome.failed()).as(typed + outcome.output()).isEmpty();
    assertThat(outcome.output()).as(typed).doesNotContain(NOTHING);
    assertThat(asShown(step, outcome)).as(
        typed + "\nthe page shows:\n" + step.shown().orElse("") + "\nand this came out:\n" + outcome.output()).isTrue();
  }

  private static boolean asShown(Page.Step step, Terminal.Outcome outcome) {
    return step.shown().map(shown -> new ShownOutput(shown).is(outcome.output())).orElse(true)
        && !outcome.output().contains(NOTHING);
  }
}
