package dev.partita.cli.placement;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.partita.cli.command.CommandFailure;
import dev.partita.cli.command.OutputFile;
import dev.partita.cli.output.Printable;
import dev.partita.cli.whatif.AddNodesCommand;
import dev.partita.cli.whatif.FitsCommand;
import dev.partita.cli.whatif.ShrinkCommand;
import dev.partita.controller.stream.ClusterStream;
import dev.partita.controller.stream.StreamPolicy;
import dev.partita.controller.stream.StreamReport;
import dev.partita.controller.stream.StreamRun.Answer;
import dev.partita.controller.stream.StreamRun;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code partita simulate}. */
@Command(
    name = "simulate",
    subcommands = {CompareCommand.class, FitsCommand.class, AddNodesCommand.class, ShrinkCommand.class},
    commandListHeading = "%nCommands:%n",
    description = {
      "Places the pods of a cluster stream, one after the other, with the allocator that the controller has.",
      "",
      "A stream is a file of JSON lines: a header ('stream'), the nodes ('node', 'model', 'gpus', 'cpuMilli', 'memoryMiB'), then the pods in "
          + "order of their arrival ('pod', 'gpus', 'cpuMilli', 'memoryMiB', 'models'). A pod has whole GPUs, or shares: of each GPU "
          + "'gpuMemoryMiB' and percent of 'cores', or 'milli', thousandths of one GPU. 'matchAttribute' (numaNode, model) is what its GPUs have "
          + "in common. A pod arrives at 'arrivalSeconds' after the begin (default: 1 s after the one before) and leaves 'durationSeconds' "
          + "after it got its place (default: never). What finds no place waits, and is tried again when a pod leaves. Of a node, 'gpuMemoryMiB' "
          + "(default 64000) is each GPU's memory, and 'gpusPerNuma' (default: all) how many GPUs share a NUMA node.",
      "",
      "The answers are a line a pod: {\"node\":\"n0007\",\"gpus\":[0,3]}, or null where it never found a place. The summary goes to stderr.",
      "",
      "Instead of a stream it plays the pods of a cluster that have claims of Partita's, running or waiting, in the order in which they were made, onto "
          + "the cluster's nodes as if these were empty. Nobody leaves. Then a line has the pod's name, and no node where it found no place."
    },
    mixinStandardHelpOptions = true,
    sortOptions = false,
    footer = {
      "",
      "Examples:",
      "  partita simulate --stream stream.jsonl --out answers.jsonl",
      "  partita simulate --stream stream.jsonl --others least-allocated",
      "  partita simulate --from-cluster",
      "  partita simulate --generate pods=100000,nodes=5000 --out answers.jsonl"
    })
public final class SimulateCommand implements Callable<Integer> {
  private static final ObjectMapper JSON = new ObjectMapper();

  @Spec private CommandSpec spec;

  @Mixin private final StreamSource source = new StreamSource();

  @Option(names = "--out", paramLabel = "FILE",
      description = "Where the answers go. Default: stdout.") private Optional<Path> out = Optional.empty();

  @Option(
      names = "--others",
      paramLabel = "WHO",
      defaultValue = "allocator",
      description = {
        "Who places pods without GPU, which in a cluster is kube-scheduler's work: 'allocator' (where they take least from pods with GPUs) or "
            + "'least-allocated' (as kube-scheduler's default score does). Default: allocator."
      }) private String others;

  @Option(
      names = "--warm-up",
      paramLabel = "TIMES",
      defaultValue = "0",
      description = "Plays the stream so many times before the one that counts: code that was just loaded is slow. Changes only the time a decision takes. Default: 0.") private int warmUp;

  @Override
  public Integer call() {
    StreamRun.Others who =
        switch (others) {
          case "allocator" -> StreamRun.Others.ALLOCATOR;
          case "least-allocated" -> StreamRun.Others.LEAST_ALLOCATED;
          default -> throw CommandFailure.usage("--others is 'allocator' or 'least-allocated', not '" + others + "'");
        };
    if (warmUp < 0) {
      throw CommandFailure.usage("--warm-up is 0 or more, not " + warmUp);
    }
    Optional<OutputFile> file = out.map(path -> new OutputFile(path, "the answers"));
    file.ifPresent(OutputFile::check);
    StreamSource.Source played = source.read();
    ClusterStream work = played.stream();
    PrintWriter err = spec.commandLine().getErr();
    played.note().ifPresent(err::println);
    for (int i = 0; i < warmUp; i++) {
      PodProgress progress = new PodProgress(err, "warm-up " + (i + 1) + " of " + warmUp + ": ", work.pods().size());
      StreamRun.play(work, StreamPolicy.AUTO, who, progress);
    }
    long start = System.nanoTime();
    AnswersOf answers = new AnswersOf(err, work.pods().size());
    StreamReport report = StreamRun.play(work, StreamPolicy.AUTO, who, answers);
    answers.end();
    List<? extends @Nullable Map<String, Object>> all =
        played.isOfCluster() ? named(work, answers.byPod) : answers.byPod.stream().map(SimulateCommand::line).toList();
    List<String> lines = all.stream().map(SimulateCommand::json).toList();
    file.ifPresentOrElse(to -> to.write(lines), () -> print(lines));
    err.println(StreamWords.of(work, report) + "; " + StreamWords.cost(System.nanoTime() - start));
    err.flush();
    return 0;
  }

  /** Where each pod went in the end. */
  private static final class AnswersOf extends PodProgress {
    private final List<Answer> byPod = new ArrayList<>();

    AnswersOf(PrintWriter err, int pods) {
      super(err, "", pods);
    }

    @Override
    public void arrived(int pod, Answer answer) {
      byPod.add(answer);
      super.arrived(pod, answer);
    }

    @Override
    public void startedLater(int pod, Answer answer, double waited) {
      byPod.set(pod, answer);
      super.startedLater(pod, answer, waited);
    }
  }

  private void print(List<String> lines) {
    PrintWriter to = spec.commandLine().getOut();
    lines.forEach(line -> to.print(line + "\n"));
    to.flush();
  }

  private static String json(@Nullable Map<String, Object> answer) {
    try {
      return Printable.json(JSON.writeValueAsString(answer));
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("names and numbers are JSON", e);
    }
  }

  private static @Nullable Map<String, Object> line(Answer answer) {
    return answer.node().isEmpty() ? null : placed(answer);
  }

  private static Map<String, Object> placed(Answer answer) {
    Map<String, Object> line = new LinkedHashMap<>();
    answer.node().ifPresent(node -> line.put("node", node));
    line.put("gpus", answer.gpus());
    return line;
  }

  /** With the pods' names: nobody has a file to look them up in. */
  private static List<Map<String, Object>> named(ClusterStream work, List<Answer> answers) {
    List<Map<String, Object>> lines = new ArrayList<>();
    for (int i = 0; i < answers.size(); i++) {
      Map<String, Object> line = new LinkedHashMap<>();
      line.put("pod", work.pods().get(i).pod());
      line.putAll(placed(answers.get(i)));
      lines.add(line);
    }
    return lines;
  }
}
