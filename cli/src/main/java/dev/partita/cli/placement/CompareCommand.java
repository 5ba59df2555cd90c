package dev.partita.cli.placement;

import dev.partita.cli.command.CommandFailure;
import dev.partita.cli.command.OutputFile;
import dev.partita.cli.output.OutputFormat;
import dev.partita.cli.output.OutputOption;
import dev.partita.controller.stream.ClusterStream;
import dev.partita.controller.stream.StreamPolicy;
import dev.partita.controller.stream.StreamReport;
import dev.partita.controller.stream.StreamRun;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code partita simulate compare}. */
@Command(
    name = "compare",
    description = {
      "Plays a stream under several policies, and shows side by side how full the cards got and who waited.",
      "",
      "A policy is what 'placement' of a GpuShareConfig can say: auto (learns what pods ask for, and takes least from later ones), binpack (fills "
          + "one after the other), spread (takes where most is free); two of them, such as binpack/spread, are for nodes and for the cards of a node.",
      "",
      "Of a cluster it plays the pods that have claims of Partita's, running or waiting, in the order in which they were made, onto the cluster's "
          + "nodes as if these were empty: it shows how full the cards would be under another policy.",
      "",
      "MEMORY, CORES and CARDS are what was allocated of all cards' memory and time, and the cards of which something was, on average from the "
          + "begin to the last arrival. WAIT-P99 is what 99 % of the pods that ran waited at most, WAITING how many pods waited at one moment at most, NEVER-RAN "
          + "how many found no place. FRAGMENTED is free memory that the largest usual share cannot use: on cards with "
          + "too little free memory or cores for one, in percent of the memory of the cards that could serve it if they were empty. The largest usual "
          + "share is the one with most memory of those that one in twenty of the pods with shares asks for, or more. A card that is taken as a whole "
          + "has nothing free. 'partita simulate --help' says what a stream is."
    },
    mixinStandardHelpOptions = true,
    sortOptions = false,
    footer = {
      "",
      "Examples:",
      "  partita simulate compare --from-cluster",
      "  partita simulate compare --stream stream.jsonl",
      "  partita simulate compare --generate pods=20000,nodes=200,load=120 \\",
      "      --policy auto,spread --svg charts.svg"
    })
public final class CompareCommand implements Runnable {
  @Spec private CommandSpec spec;

  @Mixin private final StreamSource source = new StreamSource();

  @Option(names = "--policy", paramLabel = "POLICY", split = ",", defaultValue = "auto,binpack,spread",
      description = "The policies, with commas between them. Default: ${DEFAULT-VALUE}.") private List<String> policies =
          List.of();

  @Option(names = "--svg", paramLabel = "FILE",
      description = "Writes charts of allocated memory, waiting pods and fragmented memory over time.") private Optional<Path> svg =
          Optional.empty();

  @Mixin private final OutputOption output = new OutputOption();

  @Override
  public void run() {
    List<StreamPolicy> chosen = policies.stream().distinct().map(CompareCommand::policy).toList();
    Optional<OutputFile> charts = svg.map(path -> new OutputFile(path, "the charts"));
    charts.ifPresent(OutputFile::check);
    StreamSource.Source played = source.read();
    ClusterStream work = played.stream();
    PrintWriter err = spec.commandLine().getErr();
    played.note().ifPresent(err::println);
    long start = System.nanoTime();
    List<StreamReport> reports = play(work, chosen, err);
    long took = System.nanoTime() - start;
    Comparison comparison = new Comparison(reports);
    charts.ifPresent(file -> file.write(comparison.svg(work.lastArrival()).lines().toList()));
    PrintWriter out = spec.commandLine().getOut();
    out.print(
        output.text(comparison.document(), () -> comparison.sheet().table(output.format() == OutputFormat.WIDE)));
    out.flush();
    err.println(StreamWords.what(work) + "; " + StreamWords.cost(took));
    err.flush();
  }

  /** Plays all policies at once, as far as there are processors: each has a cluster of its own. */
  private static List<StreamReport> play(ClusterStream work, List<StreamPolicy> policies, PrintWriter err) {
    PodProgress progress =
        new PodProgress(err, policies.size() + " policies: ", work.pods().size() * policies.size());
    int threads = Math.min(policies.size(), Runtime.getRuntime().availableProcessors());
    try (ExecutorService plays = Executors.newFixedThreadPool(threads)) {
      List<Future<StreamReport>> reports =
          policies.stream()
              .map(policy -> plays.submit(
                  () -> StreamRun.play(work, policy, StreamRun.Others.ALLOCATOR, progress)))
              .toList();
      List<StreamReport> done = new ArrayList<>();
      for (Future<StreamReport> report : reports) {
        done.add(report.get());
      }
      return done;
    } catch (ExecutionException e) {
      throw new IllegalStateException("a play failed: " + e.getCause(), e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw CommandFailure.failed("interrupted");
    } finally {
      progress.end();
    }
  }

  private static StreamPolicy policy(String text) {
    try {
      return StreamPolicy.parse(text);
    } catch (IllegalArgumentException e) {
      throw CommandFailure.usage("--policy: " + e.getMessage());
    }
  }
}
