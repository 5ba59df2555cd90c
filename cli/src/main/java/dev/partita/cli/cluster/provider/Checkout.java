package dev.partita.cli.cluster.provider;

import java.nio.file.Path;

/** Where the build leaves what this command needs: below the folder that the launcher names. */
public final class Checkout {
  private Checkout() {}

  static Path home() {
    return Path.of(System.getProperty("partita.home", ".")).toAbsolutePath();
  }

  public static Path chart() {
    return home().resolve("deploy/helm/partita");
  }

  public static Path images() {
    return home().resolve("deploy/target/images");
  }

  public static Path simDriver() {
    return home().resolve("hook-lib/target/dist/bin/partita-sim-driver");
  }
}
