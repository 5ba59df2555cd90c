package dev.partita.cli.placement;

import dev.partita.cli.command.CommandFailure;
import dev.partita.controller.stream.ClusterStream;
import dev.partita.controller.stream.StreamGenerator;
import dev.partita.controller.stream.StreamReader;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;
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

  /**
   * The stream.
   *
   * @throws CommandFailure if there is none, or it cannot be read
   */
  ClusterStream read() {
    if (stream.isPresent() == generate.isPresent()) {
      throw CommandFailure.usage(
          stream.isPresent() ? "--stream and --generate exclude each other" : "--stream FILE or --generate is missing");
    }
    return generate.map(text -> StreamGenerator.of(GeneratorText.shape(text)))
        .orElseGet(() -> read(stream.orElseThrow()));
  }

  private static ClusterStream read(Path file) {
    try (BufferedReader lines = Files.newBufferedReader(file)) {
      return StreamReader.read(lines);
    } catch (NoSuchFileException e) {
      throw CommandFailure.usage("there is no file " + file);
    } catch (IOException e) {
      throw CommandFailure.usage(file + " cannot be read as a stream: " + e.getMessage());
    }
  }
}
