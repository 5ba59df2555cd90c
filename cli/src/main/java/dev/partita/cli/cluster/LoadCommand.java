package dev.partita.cli.cluster;

import dev.partita.cli.cluster.provider.ClusterProvider;
import dev.partita.cli.cluster.provider.ClusterRecord;
import dev.partita.cli.cluster.provider.StateFolder;
import dev.partita.cli.command.CommandFailure;
import java.nio.file.Files;
import java.nio.file.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code partita cluster load}: an image archive onto every node. */
@Command(
    name = "load",
    description = {
      "Puts a container image on every node, so that no registry is needed (use imagePullPolicy IfNotPresent).",
      "Not with provider current: push the image to a registry that the nodes pull from."},
    mixinStandardHelpOptions = true,
    footer = {"", "Example:", "  docker save my/app:1 -o app.tar && partita cluster load app.tar"})
final class LoadCommand implements Runnable {
  @Parameters(paramLabel = "IMAGE.tar",
      description = "An image archive, of docker's or OCI's layout.") private Path archive;

  @Override
  public void run() {
    StateFolder state = StateFolder.of(System.getenv());
    ClusterRecord record = RunningCluster.require(state);
    if (!Files.isReadable(archive)) {
      throw CommandFailure.usage(archive + " cannot be read");
    }
    ClusterProvider.of(record, state).load(archive.toAbsolutePath());
  }
}
