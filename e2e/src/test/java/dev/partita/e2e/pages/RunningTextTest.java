package dev.partita.e2e.pages;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class RunningTextTest {
  private static final Path HOME = Path.of("..").toAbsolutePath().normalize();

  @Test
  void everyCommandIsTypedFromSomeBlockOrHasAnExcuse() throws IOException {
    List<String> typed = typed();
    assertThat(named()).hasSizeGreaterThan(50).filteredOn(
        named -> typed.stream().noneMatch(named::isPartOf) && Excuses.ofNamed(named.command()).isEmpty()).isEmpty();
  }

  @Test
  void eachExcuseIsForACommandThatNoBlockHas() throws IOException {
    List<String> typed = typed();
    List<RunningText.Named> others =
        named().stream().filter(named -> typed.stream().noneMatch(named::isPartOf)).toList();
    assertThat(Excuses.IN_RUNNING_TEXT)
        .allMatch(excuse -> others.stream().anyMatch(named -> excuse.covers(named.command())));
  }

  @Test
  void aCommandStandsBetweenBackticksAndMayGoOnInTheNextLine() {
    assertThat(RunningText.of("a.md", """
        Type `kubectl get
        pods -A`, not `pods`, `kubectl` or `helm`.
        ```bash
        kubectl get `echo nodes`
        ```
        | `rm -r` | `./partita top` |
        """).commands()).containsExactly(
        new RunningText.Named("a.md:1", "kubectl get pods -A"), new RunningText.Named("a.md:6", "rm -r"));
  }

  @Test
  void itIsPartOfWhatIsTypedWithItsWordsInTheirOrder() {
    RunningText.Named named = new RunningText.Named("a.md:1", "kubectl get pods -A");
    assertThat(named.isPartOf("kubectl get nodes,pods -A -o wide")).isTrue();
    assertThat(named.isPartOf("sleep 1 && kubectl get pods \\\n  -A")).isTrue();
    assertThat(named.isPartOf("kubectl get -A pods")).isFalse();
    assertThat(named.isPartOf("kubectl get pods")).isFalse();
    assertThat(named.isPartOf("kubectl -v=9 get pods -A")).isFalse();
  }

  private static List<String> typed() throws IOException {
    List<String> typed = new ArrayList<>();
    for (String path : Page.paths(HOME)) {
      Page.of(HOME, path).steps().stream().flatMap(step -> step.commands().stream())
          .filter(command -> Excuses.of(command).isEmpty()).forEach(typed::add);
    }
    return typed;
  }

  private static List<RunningText.Named> named() throws IOException {
    List<RunningText.Named> named = new ArrayList<>();
    try (Stream<Path> docs = Files.walk(HOME.resolve("docs"))) {
      for (Path page : Stream.concat(Stream.of(HOME.resolve("README.md")), docs).toList()) {
        if (page.toString().endsWith(".md")) {
          named.addAll(RunningText.of(HOME.relativize(page).toString(), Files.readString(page)).commands());
        }
      }
    }
    return named;
  }
}
