package dev.partita.cli.doctor;

import java.util.Set;

/** What the doctor expects of the chart, for the test that holds it to the chart. */
public final class ChartNames {
  private ChartNames() {}

  /** Names of policies. */
  public static Set<String> policies() {
    return InstallationChecks.POLICIES;
  }
}
