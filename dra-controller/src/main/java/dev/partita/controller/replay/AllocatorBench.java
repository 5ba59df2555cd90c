package dev.partita.controller.replay;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Consumer;
import java.util.regex.Pattern;

/**
 * Plays a file of scenarios and reports on each: time for a claim, claims that failed, cards that are used in the end,
 * and the fewest possible. Compare times only within one run on one machine.
 */
public final class AllocatorBench {
  /** Small scenarios are played again until code that has just been loaded is fast: for at least two seconds. */
  private static final long WARM_UP_NS = 2_000_000_000L;

  private AllocatorBench() {}

  /**
   * Plays the scenarios of which the expression finds the name, one after the other.
   *
   * @param warmUp how often at least each is played before it counts; 0 for not at all
   */
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
}
