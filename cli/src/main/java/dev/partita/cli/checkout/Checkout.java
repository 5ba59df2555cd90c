package dev.partita.cli.checkout;

import dev.partita.cli.command.CommandFailure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Where the build leaves what this command needs: below the folder that the launcher names. */
public final class Checkout {
  private static final Pattern VERSION = Pattern.compile("  <version>(.*)</version>");

  private Checkout() {}

  /** The checkout's folder. */
  public static Path home() {
    return Path.of(System.getProperty("partita.home", ".")).toAbsolutePath();
  }

  public static Path chart() {
    return home().resolve("deploy/helm/partita");
  }

  public static Path images() {
    return home().resolve("deploy/target/images");
  }

  /** The project's version, as the root's pom.xml has it. */
  public static String version() {
    Path pom = home().resolve("pom.xml");
    try (Stream<String> lines = Files.lines(pom)) {
      return lines.map(VERSION::matcher).filter(Matcher::matches).map(line -> line.group(1)).findFirst()
          .orElseThrow(() -> CommandFailure.failed(pom + " has no version"));
    } catch (IOException missing) {
      throw CommandFailure.usage("this needs a checkout of the project: there is no " + pom);
    }
  }

  public static Path simDriver() {
    return home().resolve("hook-lib/target/dist/bin/partita-sim-driver");
  }
}
