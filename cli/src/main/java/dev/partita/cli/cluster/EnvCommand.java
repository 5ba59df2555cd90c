package dev.partita.cli.cluster;

import dev.partita.cli.cluster.provider.ClusterRecord;
import dev.partita.cli.cluster.provider.StateFolder;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code partita cluster env}: shell lines that point kubectl at the cluster. */
@Command(
    name = "env",
    description = "Prints shell lines that point kubectl at the cluster.",
    mixinStandardHelpOptions = true,
    footer = {"", "Example:", "  eval \"$(partita cluster env)\""})
final class EnvCommand implements Runnable {
  @Spec private CommandSpec spec;

  @Override
  public void run() {
    ClusterRecord.Access access = RunningCluster.require(StateFolder.of(System.getenv())).access();
    spec.commandLine().getOut().println("export KUBECONFIG=" + quoted(access.kubeconfig()));
    if (!access.path().isEmpty()) {
      String folders = Stream.concat(access.path().stream().map(EnvCommand::quoted), Stream.of("\"$PATH\""))
          .collect(Collectors.joining(":"));
      spec.commandLine().getOut().println("export PATH=" + folders);
    }
  }

  private static String quoted(String text) {
    return text.matches("[A-Za-z0-9_./-]*") ? text : "'" + text.replace("'", "'\\''") + "'";
  }
}
