package dev.partita.cli.cluster;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code partita cluster}: a real cluster with Partita on it. */
@Command(
    name = "cluster",
    description = "Brings up, or uses, a real cluster with Partita installed and simulated cards on its nodes.",
    mixinStandardHelpOptions = true,
    subcommands = {UpCommand.class, EnvCommand.class, LoadCommand.class, DownCommand.class},
    commandListHeading = "%nCommands:%n",
    footer = {
      "",
      "Examples:",
      "  partita cluster up --nodes 2 --gpus h200x4",
      "  eval \"$(partita cluster env)\"",
      "  kubectl get resourceslices,gpunodes,deviceclasses",
      "  partita cluster down",
      "",
      "What is up is remembered in $PARTITA_STATE (~/.local/state/partita): one cluster a folder."
    })
public final class ClusterCommand implements Runnable {
  @Spec private CommandSpec spec;

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "a command is missing");
  }
}
