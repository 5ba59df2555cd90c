package dev.partita.cli.placement;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.partita.cli.command.CommandFailure;
import dev.partita.controller.replay.ClusterStream;
import dev.partita.controller.replay.StreamRun;
import dev.partita.controller.replay.StreamRun.Answer;
import dev.partita.controller.replay.StreamRun.Summary;
import java.io.BufferedReader;
import java.io.Console;
import java.io.IOException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code partita simulate}. */
@Command(
    name = "simulate",
    description = {
      "Places the pods of a cluster stream, one after the other, with the allocator that the controller has.",
      "",
      "A stream is a file of JSON lines: a header ('stream'), the nodes ('node', 'model', 'gpus', 'cpuMilli', 'memoryMiB'), then the pods in "
          + "order of their arrival ('pod', 'gpus', 'milli' of each, 'cpuMilli', 'memoryMiB', 'models'). No pod leaves. The answers are a "
          + "line a pod: {\"node\":\"n0007\",\"gpus\":[0,3]}, or null where it fits nowhere. The summary goes to stderr."
    },
    mixinStandardHelpOptions = true,
    sortOptions = false,
    footer = {
      "",
      "Examples:",
      "  partita simulate --stream stream.jsonl --out answers.jsonl",
      "  partita simulate --stream stream.jsonl --others least-allocated > answers.jsonl"
    })
public final class SimulateCommand implements Callable<Integer> {
  private static final int PROGRESS = 1_000;

  @Spec private CommandSpec spec;

  @Option(names = "--stream", required = true, paramLabel = "FILE", description = "The stream.") private Path stream;

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
    ClusterStream work = read();
    List<Answer> answers = new ArrayList<>();
    boolean watched = Optional.ofNullable(System.console()).map(Console::isTerminal).orElse(false);
    PrintWriter err = spec.commandLine().getErr();
    for (int i = 0; i < warmUp; i++) {
      String play = "warm-up " + (i + 1) + " of " + warmUp + ": ";
      StreamRun.play(work, who, (_, number) -> progress(watched, err, play, number, work));
    }
    Summary summary =
        StreamRun.play(
            work,
            who,
            (answer, number) -> {
              answers.add(answer);
              progress(watched, err, "", number, work);
            });
    if (watched) {
      err.print("\r\033[K");
    }
    write(answers);
    err.println(words(work, summary));
    err.flush();
    return 0;
  }

  private static void progress(boolean watched, PrintWriter err, String play, int number, ClusterStream work) {
    if (watched && (number + 1) % PROGRESS == 0) {
      err.printf("\r\033[K%s%,d of %,d pods", play, number + 1, work.pods().size());
      err.flush();
    }
  }

  private ClusterStream read() {
    try (BufferedReader lines = Files.newBufferedReader(stream)) {
      return ClusterStream.read(lines);
    } catch (NoSuchFileException e) {
      throw CommandFailure.usage("there is no file " + stream);
    } catch (IOException e) {
      throw CommandFailure.usage(stream + " cannot be read as a stream: " + e.getMessage());
    }
  }

  private void write(List<Answer> answers) {
    ObjectMapper json = new ObjectMapper();
    try (PrintStream to =
        out.isPresent()
            ? new PrintStream(Files.newOutputStream(out.get()), false, StandardCharsets.UTF_8)
            : new PrintStream(new java.io.FileOutputStream(java.io.FileDescriptor.out), false,
                StandardCharsets.UTF_8)) {
      for (Answer answer : answers) {
        to.println(answer.node().isEmpty() ? "null" : json.writeValueAsString(line(answer)));
      }
      if (to.checkError()) {
        throw CommandFailure.failed("the answers could not be written to " + out.map(Path::toString).orElse("stdout"));
      }
    } catch (IOException e) {
      throw CommandFailure.failed(
          "the answers could not be written to " + out.map(Path::toString).orElse("stdout") + ": " + e.getMessage());
    } catch (UncheckedIOException e) {
      throw CommandFailure.failed("the answers could not be written: " + e.getMessage());
    }
  }

  private static Map<String, Object> line(Answer answer) {
    Map<String, Object> line = new LinkedHashMap<>();
    line.put("node", answer.node().orElseThrow());
    line.put("gpus", answer.gpus());
    return line;
  }

  private static String words(ClusterStream work, Summary summary) {
    double cards = summary.gpus() * 1000.0;
    double all = Math.max(1, cards);
    return String.format(
        Locale.ROOT,
        "%s: %,d pods on %,d nodes with %,d GPUs: asked for %.1f %%, allocated %.2f %%, %.1f GPUs idle, %,d pods without a place%s; %.0f µs a decision",
        work.name().isEmpty() ? "stream" : work.name(),
        work.pods().size(),
        work.nodes().size(),
        summary.gpus(),
        100 * summary.askedMilli() / all,
        100 * summary.usedMilli() / all,
        (cards - summary.usedMilli()) / 1000,
        summary.failed(),
        summary.firstFailureMilli()
            .map(milli -> String.format(Locale.ROOT, ", the first at %.1f %%", 100 * milli / all)).orElse(""),
        summary.nsPerDecision() / 1000.0);
  }
}
