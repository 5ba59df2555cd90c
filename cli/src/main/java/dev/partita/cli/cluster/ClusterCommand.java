package dev.partita.cli.cluster;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code partita cluster}: a real cluster with Partita on it. */
@Command(
    name = "cluster",
    description = "Brings up, or uses, a real cluster with Partita installed and simulated cards on its nodes.",
    mixinStandardHelpOptions = true)
public final class ClusterCommand implements Runnable {
  @Spec private CommandSpec spec;

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "a command is missing");
  }
}
