package dev.partita.e2e.pages;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.e2e.cluster.OnRealCluster;
import dev.partita.e2e.cluster.RealCluster;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A reader who types what a page says, in its order, gets what the page shows. The commands are the page's own; those
 * that are not typed have an {@linkplain Excuses excuse}. They run in the namespace {@code default}, as a reader's do:
 * no other test has anything there.
 */
@OnRealCluster
@Isolated("the pods of the pages choose no node, and may come to run on one that another test breaks or needs for itself")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class PagesIT {
  /** For how long a reader looks again before he thinks that the page is wrong. */
  private static final Duration LOOKS_AGAIN = Duration.ofSeconds(30);

  /** What kubectl says of an object that it made. */
  private static final Pattern MADE = Pattern.compile("(?m)^([a-z][a-z0-9.]*/\\S+) created$");

  /** Commands that change nothing: their output is looked at again. */
  private static final Pattern READS =
      Pattern.compile(
          "(?s)(kubectl (get|describe|logs|exec)|\\./partita (top|explain|report|doctor|logs|simulate))\\b.*");

  /** Pages that have the reader make all that they speak of. Others go on with a {@link Scene}. */
  private static final Set<String> BEGIN_WITH_NOTHING =
      Set.of("README.md", "docs/tutorial.md", "docs/how-to/preempt.md");

  private static final List<String> WHAT_THERE_IS =
      List.of("kubectl get pods,resourceclaims -o wide", "kubectl events",
          "kubectl logs shared-claim --all-containers");

  private static final String NOTHING = "No resources found";

  /** How kubectl begins to tell that the API server refuses something, where that is what the page is to show. */
  private static final String REFUSED = "The request is invalid: ";

  private final RealCluster cluster;
  private final Scene scene;

  /** What a shell needs to find the cluster, as the tutorial has every reader do it. */
  private final String findsCluster;

  PagesIT(RealCluster cluster) {
    this.cluster = cluster;
    this.findsCluster = cluster.command().run("cluster", "env").out();
    this.scene = new Scene(cluster);
  }

  Stream<String> pages() throws IOException {
    List<String> all = new ArrayList<>(Page.paths(cluster.home()));
    all.sort(Comparator.comparing((String page) -> !BEGIN_WITH_NOTHING.contains(page)).thenComparing(page -> page));
    return all.stream();
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("pages")
  void whoTypesWhatThePageSaysGetsWhatItShows(String page, @TempDir Path folder) throws IOException {
    List<Page.Step> steps = Page.of(cluster.home(), page).steps();
    try (Stream<Path> files = Files.list(cluster.home())) {
      for (Path file : files.toList()) { // commands may write where they are run
        Files.createSymbolicLink(folder.resolve(file.getFileName()), file);
      }
    }
    Map<String, Object> nodes = specsOfGpuNodes();
    try (Terminal terminal = new Terminal(folder, environment())) {
      Deque<String> made = new ArrayDeque<>();
      boolean setScene = !BEGIN_WITH_NOTHING.contains(page) && steps.stream().anyMatch(PagesIT::isTyped);
      boolean changed = false;
      try {
        if (steps.stream().noneMatch(PagesIT::findsCluster)) {
          terminal.run(List.of(findsCluster));
        }
        if (setScene) {
          scene.up(terminal);
        }
        for (Page.Step step : steps) {
          List<String> commands = typed(step);
          if (!commands.isEmpty()) {
            type(terminal, step, setScene ? commands.stream().map(scene::named).toList() : commands, made);
            changed |= commands.stream().anyMatch(Scene::isChangedBy);
          }
        }
      } catch (AssertionError wrong) {
        wrong.addSuppressed(whatThereIs(terminal));
        throw wrong;
      } finally {
        if (!made.isEmpty()) {
          terminal.run(List.of("kubectl delete --ignore-not-found --now " + String.join(" ", made)));
        }
        if (changed || BEGIN_WITH_NOTHING.contains(page)) {
          scene.down(terminal);
        }
        restore(nodes);
      }
    }
  }

  @AfterAll
  void takeDownTheScene() throws IOException {
    try (Terminal terminal = new Terminal(cluster.home(), environment())) {
      terminal.run(List.of(findsCluster));
      scene.down(terminal);
    }
  }

  private static Exception whatThereIs(Terminal terminal) {
    try {
      return new IllegalStateException("what there is:\n" + terminal.run(WHAT_THERE_IS).output());
    } catch (IOException ended) {
      return ended;
    }
  }

  private static boolean findsCluster(Page.Step step) {
    return step.commands().stream().anyMatch(command -> command.contains("./partita cluster env"));
  }

  private static boolean isTyped(Page.Step step) {
    return !typed(step).isEmpty();
  }

  private static List<String> typed(Page.Step step) {
    return step.commands().stream().filter(it -> Excuses.of(it).isEmpty()).toList();
  }

  private Map<String, String> environment() {
    Map<String, String> environment = new HashMap<>(cluster.command().environment());
    environment.put("PARTITA_BUILD", "never");
    environment.put("KUBE_EDITOR", "true"); // somebody who looks and leaves it as it is
    return environment;
  }

  /** What pages change of a node, and leave so. */
  private Map<String, Object> specsOfGpuNodes() {
    Map<String, Object> specs = new HashMap<>();
    for (String node : cluster.nodes()) {
      specs.put(node, spec(node));
    }
    return specs;
  }

  private void restore(Map<String, Object> specs) {
    specs.forEach((node, spec) -> {
      if (!spec(node).equals(spec)) {
        cluster.gpuNode(node).patch(PatchContext.of(PatchType.JSON), Serialization.asJson(
            List.of(Map.of("op", "add", "path", "/spec", "value", spec))));
      }
    });
  }

  private Object spec(String node) {
    Object spec = cluster.gpuNode(node).require().get("spec");
    return spec == null ? Map.of() : spec;
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
    if (!step.shown().orElse("").startsWith(REFUSED)) {
      assertThat(outcome.failed()).as(typed + outcome.output()).isEmpty();
    }
    assertThat(outcome.output()).as(typed).doesNotContain(NOTHING);
    assertThat(asShown(step, outcome)).as(
        typed + "\nthe page shows:\n" + step.shown().orElse("") + "\nand this came out:\n" + outcome.output()).isTrue();
  }

  private static boolean asShown(Page.Step step, Terminal.Outcome outcome) {
    return shownOf(step).map(shown -> new ShownOutput(shown).is(outcome.output())).orElse(true)
        && !outcome.output().contains(NOTHING);
  }

  /** What is to come out: all that the page shows, where all of the block is typed, and on such a cluster. */
  private static Optional<String> shownOf(Page.Step step) {
    return step.shown()
        .filter(shown -> step.commands().size() == typed(step).size() && Excuses.ofShown(shown).isEmpty());
  }
}
