package dev.partita.cli.demo.cluster;

import dev.partita.cli.command.CommandFailure;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * What the build made and the demo runs.
 *
 * @param hookLibraries folder with the shadow libraries
 * @param simDriver the program that lays out a simulated driver
 * @param probe the program that allocates GPU memory
 * @param definitions folder with the CustomResourceDefinitions
 */
public record Distribution(Path hookLibraries, Path simDriver, Path probe, Path definitions) {

  /** The one of a checkout: its home is the system property {@code partita.home}, or the working folder. */
  public static Distribution find() {
    Path home = Path.of(System.getProperty("partita.home", "")).toAbsolutePath();
    Path dist = home.resolve("hook-lib/target/dist");
    Distribution distribution =
        new Distribution(
            dist.resolve("lib"),
            dist.resolve("bin/partita-sim-driver"),
            dist.resolve("bin/partita-probe"),
            home.resolve("deploy/helm/partita/crds"));
    for (Path needed : new Path[]{distribution.hookLibraries, distribution.simDriver, distribution.probe,
      distribution.definitions}) {
      if (!Files.exists(needed)) {
        throw CommandFailure.failed(needed + " is missing: run ./partita from a checkout, which builds it");
      }
    }
    return distribution;
  }
}
