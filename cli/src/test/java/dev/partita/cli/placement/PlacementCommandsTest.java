package dev.partita.cli.placement;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.partita.cli.Partita;
import dev.partita.cli.command.CommandRun;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class PlacementCommandsTest {
  private static final String SCENARIOS =
      """
          {"driver": "gpu.example.com",
           "models": {"T4": {"memoryMiB": 15360}},
           "claims": [{"name": "f4", "count": 1, "memoryMiB": 4096, "cores": 10}],
           "mixes": {"share": [["f4", 1]]},
           "prefills": {},
           "scenarios": [
             {"name": "small-single", "seed": 1, "layout": "single", "nodes": 2, "gpusPerNode": 1, "gpusPerNuma": 1, "nodeModels": ["T4"],
              "mix": "share", "churn": false, "claims": 8, "limitSeconds": 15},
             {"name": "other-single", "seed": 1, "layout": "single", "nodes": 1, "gpusPerNode": 1, "gpusPerNuma": 1, "nodeModels": ["T4"],
              "mix": "share", "churn": false, "claims": 1, "limitSeconds": 15}]}
          """;

  @TempDir private Path folder;

  private record Run(int status, String out, String err) {}

  @Test
  void aScenarioThatIsChosenIsALineOfFigures() throws IOException {
    Path file = Files.writeString(folder.resolve("scenarios.json"), SCENARIOS);
    Run run = run("bench", "allocator", "--scenarios", file.toString(), "--only", "small", "--warm-up", "0");
    assertThat(run.err()).isEmpty();
    assertThat(run.status()).isZero();
    List<JsonNode> lines = lines(run.out());
    assertThat(lines).hasSize(1);
    assertThat(lines.getFirst().path("scenario").asText()).isEqualTo("small-single");
    assertThat(lines.getFirst().path("allocated").asInt()).as("three of 4 GiB on each of two cards of 15").isEqualTo(6);
    assertThat(lines.getFirst().path("failed").asInt()).isEqualTo(2);
    assertThat(run("bench", "allocator", "--scenarios", file.toString(), "--warm-up", "-1"))
        .isEqualTo(new Run(2, "", "partita: --warm-up is 0 or more, not -1\n"));
    assertThat(run("bench", "allocator", "--scenarios", file.toString(), "--limit", "-5"))
        .isEqualTo(new Run(2, "", "partita: --limit is 0 or more seconds, not -5.0\n"));
  }

  @Test
  void aStreamIsAnsweredLineByLine() throws IOException {
    Path stream =
        Files.writeString(
            folder.resolve("stream.jsonl"),
            """
                {"stream": "small", "nodes": 1, "pods": 3, "seed": 1}
                {"node": "n0", "model": "T4", "gpus": 2, "cpuMilli": 8000, "memoryMiB": 65536}
                {"pod": "p0", "gpus": 1, "milli": 1000, "cpuMilli": 1000, "memoryMiB": 1024}
                {"pod": "p1", "gpus": 2, "milli": 1000, "cpuMilli": 1000, "memoryMiB": 1024}
                {"pod": "p2", "gpus": 1, "milli": 500, "cpuMilli": 1000, "memoryMiB": 1024}
                """);
    Path answers = folder.resolve("answers.jsonl");
    Run run = run("simulate", "--stream", stream.toString(), "--out", answers.toString());
    assertThat(run.err()).contains("3 pods on 1 node with 2 GPUs", "1 pod without a place");
    assertThat(run.status()).isZero();
    assertThat(Files.readAllLines(answers)).containsExactly("{\"node\":\"n0\",\"gpus\":[0]}", "null",
        "{\"node\":\"n0\",\"gpus\":[1]}");
    assertThat(run("simulate", "--stream", stream.toString()).out()).as("without a file")
        .isEqualTo(Files.readString(answers));
    assertThat(run("simulate", "--stream", stream.toString(), "--out", answers.toString(), "--warm-up", "2").status())
        .isZero();
    assertThat(Files.readAllLines(answers)).as("what was played before leaves nothing").hasSize(3).element(2)
        .isEqualTo("{\"node\":\"n0\",\"gpus\":[1]}");
    Run negative = run("simulate", "--stream", stream.toString(), "--warm-up", "-1");
    assertThat(negative.err()).contains("--warm-up is 0 or more, not -1");
    assertThat(negative.status()).isEqualTo(2);
  }

  @Test
  void aGeneratedStreamIsPlayedToItsEnd() throws IOException {
    Path answers = folder.resolve("answers.jsonl");
    Run run = run("simulate", "--generate", "pods=300,nodes=3,load=150,seed=4", "--out", answers.toString());
    assertThat(run.err()).contains("generated: 300 pods on 3 nodes with 24 GPUs", "% of the cards' memory allocated",
        "0 pods never ran", "MiB of heap");
    assertThat(run.status()).isZero();
    assertThat(Files.readAllLines(answers)).hasSize(300).allMatch(line -> line.startsWith("{\"node\":\"node-0000"));
  }

  @Test
  void aFileThatCannotBeWrittenInTheEndIsRefusedBeforeTheWork(@TempDir Path folder) throws IOException {
    String nowhere = folder.resolve("missing/answers.jsonl").toString();
    Run refused = run("simulate", "--generate", "pods=300,nodes=3", "--out", nowhere);
    assertThat(refused.err()).isEqualTo("partita: the answers cannot be written to %s: there is no folder %s%n"
        .formatted(nowhere, folder.resolve("missing")));
    assertThat(refused.status()).isEqualTo(1);
    assertThat(run("simulate", "compare", "--generate", "pods=300,nodes=3", "--svg", folder.toString()).err())
        .isEqualTo("partita: the charts cannot be written to %s: it is a folder%n".formatted(folder));
  }

  @Test
  void oneOfAThingIsNotCounted() {
    assertThat(CommandRun.of("simulate", "--generate", "pods=1,nodes=1,gpus=1", "--out", "/dev/null").err())
        .contains("generated: 1 pod on 1 node with 1 GPU: ").containsPattern("; [01] pods? never ran")
        .doesNotContain("1 pods");
  }

  @Test
  void policiesAreComparedSideBySide() throws IOException {
    Path charts = folder.resolve("charts.svg");
    String[] compare = {"simulate", "compare", "--generate", "pods=400,nodes=3,load=120", "--policy",
      "auto,spread,binpack/spread"};
    Run run = run(Stream.concat(Arrays.stream(compare), Stream.of("--svg", charts.toString())).toArray(String[]::new));
    assertThat(run.err()).contains("400 pods on 3 nodes with 24 GPUs");
    assertThat(run.status()).isZero();
    List<String> table = run.out().lines().toList();
    assertThat(table.getFirst()).startsWith("POLICY").contains("MEMORY", "WAIT-P99", "NEVER-RAN", "FRAGMENTED")
        .doesNotContain("DECISION");
    // as terminals are, with a policy's name of 9 characters at most
    assertThat(table.getFirst().length() - "binpack/spread".length() + "binpack".length()).isLessThanOrEqualTo(80);
    assertThat(table).extracting(line -> line.split(" ", 2)[0])
        .containsExactly("POLICY", "auto", "spread", "binpack/spread");
    assertThat(Files.readString(charts)).startsWith("<svg").contains("Pods waiting", ">binpack/spread</text>");
    JsonNode items =
        new ObjectMapper()
            .readTree(
                run(Stream.concat(Arrays.stream(compare), Stream.of("-o", "json")).toArray(String[]::new)).out())
            .path("items");
    assertThat(items).hasSize(3).allSatisfy(item -> {
      assertThat(item.path("samples")).hasSizeGreaterThan(100);
      assertThat(item.path("memoryPeakPercent").asDouble())
          .isBetween(item.path("memoryMeanPercent").asDouble(), 100.0);
      assertThat(item.path("neverRan").asInt()).isZero();
      assertThat(item.path("waitP99Seconds").asInt()).isPositive();
    });
    Run unknown = run("simulate", "compare", "--generate", "pods=1", "--policy", "random");
    assertThat(unknown.err()).contains("a policy is auto, binpack or spread", "'random'");
    assertThat(unknown.status()).isEqualTo(2);
  }

  @Test
  void aStreamComesFromOnePlace() {
    assertThat(run("simulate").err())
        .contains("say what to play: --stream FILE, --generate, --from-cluster or --snapshot FILE");
    Run both = run("simulate", "--stream", "a", "--generate", "pods=1");
    assertThat(both.err()).contains("exclude each other");
    assertThat(both.status()).isEqualTo(2);
  }

  /** Nothing was written, and nobody was told. */
  @Test
  void whatIsOnlyForClustersIsRefusedBesideAStream() {
    Path file = folder.resolve("saved.json");
    for (String[] stream : new String[][]{{"--generate", "pods=1"}, {"--stream", "none"}}) {
      for (List<String> command : List.of(List.of("simulate"), List.of("simulate", "compare"))) {
        String[] played = Stream.concat(command.stream(), Stream.of(stream)).toArray(String[]::new);
        assertThat(run(with(played, "--save-snapshot=" + file))).isEqualTo(new Run(2, "",
            "partita: --save-snapshot writes what was read of a cluster, and " + stream[0]
                + " reads none: leave one of them out\n"));
        assertThat(file).doesNotExist();
        for (String option : List.of("--kubeconfig=" + folder.resolve("none"), "--context=production")) {
          assertThat(run(with(played, option))).isEqualTo(new Run(2, "",
              "partita: --kubeconfig and --context say which cluster is read, and " + stream[0]
                  + " reads none: leave them out\n"));
        }
      }
    }
  }

  @Test
  void whatCannotBeReadIsNamed() throws IOException {
    Path broken = Files.writeString(folder.resolve("broken"), "{");
    for (String[] command : new String[][]{{"bench", "allocator", "--scenarios"}, {"simulate", "--stream"}}) {
      Run gone = run(with(command, folder.resolve("gone").toString()));
      assertThat(gone.status()).isEqualTo(2);
      assertThat(gone.err()).contains("there is no file " + folder.resolve("gone"));
      Run unreadable = run(with(command, broken.toString()));
      assertThat(unreadable.status()).isEqualTo(2);
      assertThat(unreadable.err()).contains(broken + " cannot be read as")
          .endsWith("Unexpected end-of-input: expected close marker for Object\n");
    }
  }

  private static String[] with(String[] command, String last) {
    String[] longer = Arrays.copyOf(command, command.length + 1);
    longer[command.length] = last;
    return longer;
  }

  private static List<JsonNode> lines(String text) throws IOException {
    ObjectMapper json = new ObjectMapper();
    List<JsonNode> lines = new ArrayList<>();
    for (String line : text.lines().toList()) {
      lines.add(json.readTree(line));
    }
    return lines;
  }

  private static Run run(String... args) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    CommandLine command = Partita.commandLine().setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true));
    return new Run(command.execute(args), out.toString(), err.toString());
  }
}
