package dev.partita.cli.cluster.provider;
import dev.partita.cli.checkout.Subprocess;

import dev.partita.cli.command.CommandFailure;
import dev.partita.cli.command.FileProblem;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The simulated cards of a node, as {@code h200x4,a100x2}.
 *
 * @param text as the user wrote it
 */
public record SimulatedCards(String text) {
  private static final Pattern COUNTED = Pattern.compile(".*x([0-9]+)");

  /** How many cards that is. */
  public int count() {
    return Arrays.stream(text.split(",", -1)).mapToInt(SimulatedCards::countOf).sum();
  }

  private static int countOf(String part) {
    Matcher counted = COUNTED.matcher(part);
    return counted.matches() ? Integer.parseInt(counted.group(1)) : 1;
  }

  /**
   * Has the program that will lay the cards out on the nodes lay them out in a folder that is then thrown away, so that
   * what it would refuse there is refused here, in its own words.
   */
  public static SimulatedCards checkedBy(Path simDriver, String text) {
    if (!Files.isExecutable(simDriver)) {
      throw CommandFailure.failed("%s is missing: run 'mvn -pl deploy -am package'".formatted(simDriver));
    }
    try {
      Path folder = Files.createTempDirectory("partita-cards-");
      try {
        Subprocess tried =
            Subprocess.run(
                simDriver.toString(), "install", "--root", folder.toString(), "--node", "check", "--gpus", text);
        if (tried.status() == 2) {
          throw CommandFailure.usage(tried.lastWords().replaceFirst("^partita-sim-driver: ", ""));
        }
        if (tried.status() != 0) {
          throw CommandFailure.failed("%s: %s".formatted(simDriver.getFileName(), tried.lastWords()));
        }
        return new SimulatedCards(text);
      } finally {
        delete(folder);
      }
    } catch (IOException noFolder) {
      throw CommandFailure.failed("no temporary folder: " + FileProblem.why(noFolder));
    }
  }

  private static void delete(Path folder) throws IOException {
    try (Stream<Path> tree = Files.walk(folder)) {
      for (Path path : tree.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(path);
      }
    }
  }
}
