package dev.partita.cli.placement;

import dev.partita.cli.command.CommandFailure;
import dev.partita.cli.command.FileProblem;
import dev.partita.cli.whatif.SnapshotOptions;
import dev.partita.controller.stream.ClusterStream;
import dev.partita.controller.stream.StreamGenerator;
import dev.partita.controller.stream.StreamReader;
import dev.partita.controller.whatif.ClusterSnapshot;
import dev.partita.controller.whatif.SnapshotStream;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Where a stream comes from: a mixin of the commands that play one. */
final class StreamSource {
  @Option(names = "--stream", paramLabel = "FILE", description = "The stream.") private Optional<Path> stream =
      Optional.empty();

  @Option(
      names = "--generate",
      paramLabel = "NAME=VALUE,...",
      description = {
        "Instead of a file, a stream that is made by chance: pods (default 10000), nodes (100), gpus of each node (8), load (90: percent of all "
            + "cores that pods would have on average if none had to wait), duration (1h: how long a pod runs on average), seed (1: the same seed "
            + "gives the same stream). Arrivals are Poisson's, durations are exponential. Nodes have cards of 140, 80 and 24 GiB in turns. Of 100 "
            + "pods, 40 ask for 5000 MiB and 15 %% of a card, 25 for 12000 MiB and 33 %%, 10 for 70000 MiB and 50 %% of a large card, 5 for two "
            + "times 8000 MiB and 20 %%, 14 for a whole card and 6 for four; each with CPU and memory of its node."
      }) private Optional<String> generate = Optional.empty();

  @Mixin private final SnapshotOptions snapshot = new SnapshotOptions();

  /**
   * A stream to play, and what is known of where it comes from.
   *
   * @param note what a person should know of it; empty if nothing
   * @param isOfCluster whether its pods are those of a cluster
   */
  record Source(ClusterStream stream, Optional<String> note, boolean isOfCluster) {}

  /**
   * The stream.
   *
   * @throws CommandFailure if there is none, or it cannot be read, or an option would be left out without a word
   */
  Source read() {
    int named = (stream.isPresent() ? 1 : 0) + (generate.isPresent() ? 1 : 0) + (snapshot.isNamed() ? 1 : 0);
    if (named != 1) {
      throw CommandFailure.usage(
          named == 0
              ? "say what to play: --stream FILE, --generate, --from-cluster or --snapshot FILE"
              : "--stream, --generate and a cluster (--from-cluster, --snapshot) exclude each other");
    }
    if (snapshot.isNamed()) {
      return ofCluster(snapshot.read());
    }
    snapshot.refuseBeside(stream.isPresent() ? "--stream" : "--generate");
    ClusterStream read =
        generate.map(text -> StreamGenerator.of(GeneratorText.shape(text)))
            .orElseGet(() -> read(stream.orElseThrow()));
    return new Source(read, Optional.empty(), false);
  }

  private static Source ofCluster(ClusterSnapshot cluster) {
    SnapshotStream read = SnapshotStream.of(cluster);
    if (read.stream().nodes().isEmpty()) {
      throw CommandFailure.failed("the cluster has no node with cards that Partita knows");
    }
    Optional<String> note =
        read.leftOut() == 0
            ? Optional.empty()
            : Optional.of(
                read.leftOut()
                    + " pods are left out: they ask for MIG instances, for cards by time-slicing, for all cards of a"
                    + " node, for devices of several kinds, for more of them than a claim can hold, or for what no card is");
    return new Source(read.stream(), note, true);
  }

  private static ClusterStream read(Path file) {
    try (BufferedReader lines = Files.newBufferedReader(file)) {
      return StreamReader.read(lines);
    } catch (NoSuchFileException e) {
      throw CommandFailure.usage("there is no file " + file);
    } catch (IOException e) {
      throw CommandFailure.usage(file + " cannot be read as a stream: " + FileProblem.why(e));
    }
  }
}
