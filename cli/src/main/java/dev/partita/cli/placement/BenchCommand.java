package dev.partita.cli.placement;

import dev.partita.cli.command.CommandFailure;
import dev.partita.cli.command.FileProblem;
import dev.partita.controller.replay.AllocatorBench;
import dev.partita.controller.replay.PodSizes;
import dev.partita.controller.replay.Scenarios;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code partita bench}. */
@Command(
    name = "bench",
    description = "Measures parts of Partita on this machine.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "COMMAND",
    commandListHeading = "%nCommands:%n")
public final class BenchCommand implements Runnable {
  @Spec private CommandSpec spec;

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "a command is missing");
  }

  /** {@code partita bench allocator}. */
  @Command(
      name = "allocator",
      description = {
        "Does the work of a scenario file with the allocator alone (no API server, no pods), and prints a JSON line for each scenario: times of a "
            + "claim in ns, claims that failed, GPUs in use in the end and fewest possible. Every placement is checked outside the timed part.",
        "",
        "The format of file and output is that of the comparison with Kubernetes' own allocator. Compare times of one run only."
      },
      mixinStandardHelpOptions = true,
      sortOptions = false,
      footer = {
        "",
        "Examples:",
        "  partita bench allocator --scenarios allocator-scenarios.json",
        "  partita bench allocator --scenarios allocator-scenarios.json --limit 5 \\",
        "      --only 'churn-.*-single'"
      })
  void allocator(
      @Option(names = "--scenarios", required = true, paramLabel = "FILE",
          description = "The scenario file.") Path scenarios,
      @Option(names = "--only", paramLabel = "REGEXP", defaultValue = "",
          description = "Only scenarios in whose name this is found.") String only,
      @Option(names = "--limit", paramLabel = "SECONDS", defaultValue = "0",
          description = "Instead of the file's limits; 0 for these.") double limit,
      @Option(
          names = "--pods-request",
          description = "The claims' pods request CPU and memory as well, as real ones do: 1 CPU and 4 GiB for a share, 8 CPUs and 64 GiB for a whole card, of hosts with 128 CPUs and 1 TiB.") boolean podsRequest,
      @Option(
          names = "--warm-up",
          paramLabel = "TIMES",
          defaultValue = "2",
          description = "How often at least, and for 2 s, each scenario is played before it counts, since code that was just loaded is slow; 0: not at all. Default: 2.") int warmUp) {
    if (limit < 0) {
      throw CommandFailure.usage("--limit is 0 or more seconds, not " + limit);
    }
    if (warmUp < 0) {
      throw CommandFailure.usage("--warm-up is 0 or more, not " + warmUp);
    }
    PrintWriter out = spec.commandLine().getOut();
    try {
      Scenarios file = AllocatorBench.read(scenarios);
      AllocatorBench.play(
          limit > 0 ? file.limited(limit) : file,
          podsRequest ? PodSizes.USUAL : PodSizes.NONE,
          Pattern.compile(only),
          warmUp,
          report -> {
            out.println(report.json());
            out.flush();
          });
    } catch (PatternSyntaxException e) {
      throw CommandFailure.usage("--only is no regular expression: " + e.getDescription());
    } catch (NoSuchFileException e) {
      throw CommandFailure.usage("there is no file " + scenarios);
    } catch (IOException e) {
      throw CommandFailure.usage(scenarios + " cannot be read as scenarios: " + FileProblem.why(e));
    } catch (IllegalArgumentException e) {
      throw CommandFailure.usage(scenarios + ": " + e.getMessage());
    }
  }
}
