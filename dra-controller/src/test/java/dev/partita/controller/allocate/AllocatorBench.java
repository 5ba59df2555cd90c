package dev.partita.controller.allocate;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.regex.Pattern;

/**
 * Plays a file of scenarios and prints a JSON line for each: time a claim (ns), claims that failed, cards that are touched in the end
 * and fewest possible. A program, not a test: its times compare only with others of the same run on the same machine.
 *
 * <p>System properties: {@code scenarios}, a file (a small one of ours by default); {@code only}, a regular expression for names of
 * scenarios; {@code scan}, true to look at every host for every claim; {@code warmup}, how often each is played before it counts (2).
 */
final class AllocatorBench {
  private AllocatorBench() {}

  public static void main(String[] arguments) throws IOException {
    Pattern only = Pattern.compile(System.getProperty("only", ""));
    boolean scan = Boolean.getBoolean("scan");
    Scenarios file = scenarios(System.getProperty("scenarios", ""));
    for (Scenarios.Scenario scenario : file.scenarios()) {
      if (only.matcher(scenario.name()).find()) {
        for (int i = Integer.getInteger("warmup", 2); i > 0; i--) {
          ScenarioRun.play(file, scenario, scan);
        }
        System.out.println(ScenarioRun.play(file, scenario, scan).json());
      }
    }
  }

  static Scenarios scenarios(String path) throws IOException {
    try (InputStream json =
        path.isEmpty()
            ? Objects.requireNonNull(AllocatorBench.class.getResourceAsStream("scenarios.json"))
            : Files.newInputStream(Path.of(path))) {
      return Scenarios.read(json);
    }
  }
}
