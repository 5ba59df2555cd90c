package dev.partita.e2e.pages;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ExcusesTest {
  private static final Path HOME = Path.of("..").toAbsolutePath().normalize();

  private static List<Page.Step> steps() throws IOException {
    List<Page.Step> steps = new ArrayList<>();
    for (String path : Page.paths(HOME)) {
      steps.addAll(Page.of(HOME, path).steps());
    }
    return steps;
  }

  @Test
  void eachIsForSomethingThatAPageHas() throws IOException {
    List<String> commands = steps().stream().flatMap(step -> step.commands().stream()).toList();
    assertThat(commands).hasSizeGreaterThan(50);
    assertThat(Excuses.ALL).allMatch(excuse -> commands.stream().anyMatch(excuse::covers));
    List<String> shown = steps().stream().flatMap(step -> step.shown().stream()).toList();
    assertThat(Excuses.SHOWN_ELSEWHERE)
        .allMatch(elsewhere -> shown.stream().anyMatch(it -> elsewhere.shown().matcher(it).find()));
  }
}
