package dev.partita.controller.replay;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.regex.Pattern;

/**
 * Plays a file of scenarios and reports on each: time a claim, claims that failed, cards that are touched in the end
 * and fewest possible. Times compare only with others of the same run on the same machine.
 */
public final class AllocatorBench {
  /** How often each scenario is played before it counts: code that has just been loaded is slow. */
  public static final int WARM_UP = 2;

  /** Small scenarios are played more often than that: for at least two seconds. */
  private static final long WARM_UP_NS = 2_000_000_000L;

  private AllocatorBench() {}

  /**
   * Arguments: a file of scenarios, and a regular expression for their names; a small file of ours and all by default.
   */
  public static void main(String[] arguments) throws IOException {
    Scenarios file = arguments.length > 0 && !arguments[0].isEmpty() ? read(Path.of(arguments[0])) : ours();
    play(file, PodSizes.NONE, Pattern.compile(arguments.length > 1 ? arguments[1] : ""), WARM_UP,
        report -> System.out.println(report.json()));
  }

  /** Plays the scenarios of which the expression finds the name, one after the other. */
  public static void play(Scenarios file, PodSizes sizes, Pattern only, int warmUp, Consumer<ScenarioReport> reports) {
    for (Scenarios.Scenario scenario : file.scenarios()) {
      if (only.matcher(scenario.name()).find()) {
        long until = System.nanoTime() + WARM_UP_NS;
        for (int i = 0; warmUp > 0 && (i < warmUp || System.nanoTime() < until); i++) {
          ScenarioRun.play(file, scenario, sizes);
        }
        reports.accept(ScenarioRun.play(file, scenario, sizes));
      }
    }
  }

  /** @throws IOException if the file cannot be read, or is not one of scenarios */
  public static Scenarios read(Path file) throws IOException {
    try (InputStream json = Files.newInputStream(file)) {
      return Scenarios.read(json);
    }
  }

  static Scenarios ours() throws IOException {
    try (InputStream json = Objects.requireNonNull(AllocatorBench.class.getResourceAsStream("scenarios.json"))) {
      return Scenarios.read(json);
    }
  }
}
