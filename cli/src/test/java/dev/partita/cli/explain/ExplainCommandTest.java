package dev.partita.cli.explain;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.partita.cli.Partita;
import dev.partita.cli.command.CommandFailure;
import dev.partita.cli.command.RefusingServer;
import dev.partita.cli.explain.ControllerPort.Reply;
import dev.partita.controller.explain.PodExplanation.NodeReason;
import dev.partita.controller.explain.PodExplanation.State;
import dev.partita.controller.explain.PodExplanation;
import dev.partita.controller.explain.Question;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class ExplainCommandTest {
  private static final Question POD = new Question(Question.Kind.POD, "team", "train");

  private record Run(int status, String out, String err) {}

  private static Run run(String... arguments) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    CommandLine line = Partita.commandLine().setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true));
    return new Run(line.execute(arguments), out.toString(), err.toString());
  }

  @Test
  void aPodThatWaitsIsShownWithEveryNodeAndCardInTheOrderOfTheCards() {
    Map<String, String> cards = new TreeMap<>(Map.of("gpu-10", "taken as a whole", "gpu-2", "6 GiB free of 8 GiB asked",
        "gpu-0", "model is a100, asked h200"));
    PodExplanation pod =
        new PodExplanation(
            "team",
            "train",
            State.Waiting,
            "0 of 12 cards fit",
            List.of(
                new NodeReason("node-0", 11, "claim c, request gpu: 0 of 11 cards fit, 1 wanted", new TreeMap<>(cards)),
                new NodeReason("node-1", 1, "not Ready", new TreeMap<>())));
    assertThat(ExplanationText.of(POD, List.of(pod)))
        .isEqualTo(
            """
                pod team/train is waiting: 0 of 12 cards fit

                node-0 (11 cards): claim c, request gpu: 0 of 11 cards fit, 1 wanted
                  gpu-0   model is a100, asked h200
                  gpu-2   6 GiB free of 8 GiB asked
                  gpu-10  taken as a whole

                node-1 (1 card): not Ready
                """);
  }

  @Test
  void nodesOfWhichTheSameIsSaidAreNamedTogetherAfterThoseWhoseCardsWereLookedAt() {
    List<NodeReason> nodes = new ArrayList<>();
    IntStream.range(0, 25).forEach(i -> nodes.add(new NodeReason("far-" + i, 8, "not Ready", new TreeMap<>())));
    String full = "claim c, request gpu: 0 of 1 cards fit, 1 wanted";
    List.of("near-1", "near-0").forEach(
        name -> nodes.add(new NodeReason(name, 1, full, new TreeMap<>(Map.of("gpu-0", "taken as a whole")))));
    nodes.add(new NodeReason("near-2", 1, full, new TreeMap<>(Map.of("gpu-0", "not healthy"))));
    assertThat(
        ExplanationText.of(POD,
            List.of(new PodExplanation("team", "train", State.Waiting, "0 of 203 cards fit", nodes))))
        .isEqualTo(
            """
                pod team/train is waiting: 0 of 203 cards fit

                2 nodes (1 card each): claim c, request gpu: 0 of 1 cards fit, 1 wanted
                  near-0, near-1
                  gpu-0  taken as a whole

                near-2 (1 card): claim c, request gpu: 0 of 1 cards fit, 1 wanted
                  gpu-0  not healthy

                25 nodes (8 cards each): not Ready
                  far-0, far-1, far-10, far-11, far-12, far-13, far-14, far-15, far-16, far-17, far-18, far-19, far-2, far-20, \
                far-21, far-22, far-23, far-24, far-3, far-4 and 5 more, which -o json names
                """);
  }

  @Test
  void whatTenantsWroteMovesNoCursor() {
    PodExplanation pod =
        new PodExplanation("team", "train", State.Waiting, "gang \u001b[2Jpod other/train is settled: \nall is well",
            List.of(
                new NodeReason("node-0", 1, "no node has \u009b1A", new TreeMap<>(Map.of("gpu-0", "not \u001b[A")))));
    assertThat(ExplanationText.of(POD, List.of(pod)))
        .isEqualTo("pod team/train is waiting: gang ?[2Jpod other/train is settled: ?all is well\n\n"
            + "node-0 (1 card): no node has ?1A\n  gpu-0  not ?[A\n");
  }

  @Test
  void whoMayNotForwardAPortIsToldWhichRightHeLacks() throws IOException {
    try (RefusingServer server = new RefusingServer()) {
      ControllerPort port = new ControllerPort(server.client(), "partita-system");
      assertThatThrownBy(() -> port.ask(POD)).isInstanceOf(CommandFailure.class)
          .hasMessageContaining("you may not create pods/portforward in namespace partita-system");
    }
  }

  @Test
  void aClaimThatNobodyUsesIsSaidSo() {
    assertThat(ExplanationText.of(new Question(Question.Kind.CLAIM, "team", "c"), List.of()))
        .startsWith("claim team/c: no pod uses it");
  }

  @Test
  void helpSaysWhatIsNeededAndShowsExamples() {
    Run help = run("explain", "--help");
    assertThat(help.status()).isZero();
    assertThat(help.out()).contains("pods/portforward", "gpu.partita.dev/Allocated",
        "partita explain pod train -n team-a", "claim", "pod");
    assertThat(run("explain", "pod", "--help").out()).contains("--partita-namespace", "--kubeconfig",
        "-n, --namespace");
  }

  @Test
  void whatCannotWorkIsOneLine(@TempDir Path folder) throws IOException {
    Path nowhere = folder.resolve("kubeconfig");
    Run missing = run("explain", "pod", "p", "--kubeconfig", nowhere.toString());
    assertThat(missing.status()).isEqualTo(2);
    assertThat(missing.err().strip().lines()).singleElement().asString()
        .contains("there is no kubeconfig at " + nowhere);
    Files.writeString(
        nowhere,
        """
            {apiVersion: v1, kind: Config, current-context: c, contexts: [{name: c, context: {cluster: c, user: c}}],
             clusters: [{name: c, cluster: {server: "http://127.0.0.1:1"}}], users: [{name: c}]}
            """);
    Run format = run("explain", "pod", "p", "-o", "xml", "--kubeconfig", nowhere.toString());
    assertThat(format.status()).isEqualTo(2);
    assertThat(format.err()).contains("table, wide, json or yaml, not 'xml'");
    assertThat(run("explain").status()).isEqualTo(2);
    assertThat(run("explain", "pod").status()).isEqualTo(2);
  }

  @Test
  void theControllerThatLeadsIsFoundAlsoWhereAnotherOneStartsOrStandsStill() {
    Map<String, Reply> replies =
        Map.of("starts", new Reply.OutOfReach("connection refused"), "stands-by",
            new Reply.Answered(503, "does not lead\n"), "leads", new Reply.Answered(200, "[]"));
    assertThat(ControllerPort.firstAnswer(POD, List.of("starts", "stands-by", "leads"), replies::get)).isEmpty();
    assertThatThrownBy(() -> ControllerPort.firstAnswer(POD, List.of("starts", "stands-by"), replies::get))
        .isInstanceOf(CommandFailure.class)
        .hasMessage("no controller could say; starts cannot be reached: connection refused; stands-by: does not lead");
    assertThatThrownBy(() -> ControllerPort.firstAnswer(POD, List.of("any"), controller -> new Reply.Answered(404, "")))
        .isInstanceOf(CommandFailure.class)
        .hasMessage("there is no pod team/train");
  }

  @Test
  void anAnswerOfAnotherVersionIsSaidToBeOne() {
    assertThatThrownBy(() -> ControllerPort.read("[{\"novel\": true}]")).isInstanceOf(CommandFailure.class)
        .hasMessageContaining("another version");
  }
}
