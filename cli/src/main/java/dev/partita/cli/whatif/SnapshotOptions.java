package dev.partita.cli.whatif;

import dev.partita.cli.command.CommandFailure;
import dev.partita.cli.command.FileProblem;
import dev.partita.cli.command.OutputFile;
import dev.partita.cli.connection.ClusterOptions;
import dev.partita.controller.whatif.ClusterSnapshot;
import dev.partita.controller.whatif.SnapshotFile;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Which cluster a question is about: a mixin of the commands that ask one. */
public final class SnapshotOptions {
  @Option(names = "--from-cluster",
      description = "Reads the cluster, with your own rights. Without --snapshot, commands that need a cluster do so by default.") private boolean fromCluster;

  @Option(names = "--snapshot", paramLabel = "FILE",
      description = "Reads what --save-snapshot wrote, and asks no cluster.") private Optional<Path> snapshot =
          Optional.empty();

  @Option(
      names = "--save-snapshot",
      paramLabel = "FILE",
      description = "Writes what was read, to ask again. Of pods it has what the allocator reads: neither commands nor environments.") private Optional<Path> save =
          Optional.empty();

  @Mixin private final ClusterOptions cluster = new ClusterOptions();

  /** Whether a cluster or a snapshot of one is named. */
  public boolean isNamed() {
    return fromCluster || snapshot.isPresent();
  }

  /**
   * Refuses these options beside one by which neither a cluster nor a snapshot is read: nothing would come of them.
   *
   * @param instead that option
   * @throws CommandFailure if one of them is given
   */
  public void refuseBeside(String instead) {
    if (save.isPresent()) {
      throw CommandFailure.usage(
          "--save-snapshot writes what was read of a cluster, and " + instead + " reads none: leave one of them out");
    }
    refuseClusterBeside(instead);
  }

  private void refuseClusterBeside(String instead) {
    if (cluster.areGiven()) {
      throw CommandFailure.usage(
          "--kubeconfig and --context say which cluster is read, and " + instead + " reads none: leave them out");
    }
  }

  /**
   * The cluster.
   *
   * @throws CommandFailure if the file is none, or none can be written
   */
  public ClusterSnapshot read() {
    if (fromCluster && snapshot.isPresent()) {
      throw CommandFailure.usage("--from-cluster and --snapshot exclude each other");
    }
    if (snapshot.isPresent()) {
      refuseClusterBeside("--snapshot");
    }
    Optional<OutputFile> saved = save.map(file -> new OutputFile(file, "the snapshot"));
    saved.ifPresent(OutputFile::check);
    ClusterSnapshot read = snapshot.map(SnapshotOptions::read).orElseGet(this::live);
    saved.ifPresent(file -> file.write(to -> SnapshotFile.write(read, to)));
    return read;
  }

  private ClusterSnapshot live() {
    try (KubernetesClient client = cluster.client()) {
      return SnapshotReader.read(client);
    }
  }

  private static ClusterSnapshot read(Path file) {
    try (InputStream from = new BufferedInputStream(Files.newInputStream(file))) {
      return SnapshotFile.read(from);
    } catch (NoSuchFileException e) {
      throw CommandFailure.usage("there is no file " + file);
    } catch (IOException e) {
      throw CommandFailure.usage(file + " is no snapshot: " + FileProblem.why(e));
    }
  }
}
