package dev.partita.cli.cluster;

import java.nio.file.Path;

/** Where the build leaves what this command needs: below the folder that the launcher names. */
final class Checkout {
  private Checkout() {}

  static Path home() {
    return Path.of(System.getProperty("partita.home", ".")).toAbsolutePath();
  }

  static Path chart() {
    return home().resolve("deploy/helm/partita");
  }

  static Path images() {
    return home().resolve("deploy/target/images");
  }

  static Path simDriver() {
    return home().resolve("hook-lib/target/dist/bin/partita-sim-driver");
  }
}
