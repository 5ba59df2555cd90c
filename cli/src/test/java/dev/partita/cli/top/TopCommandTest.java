package dev.partita.cli.top;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.partita.cli.command.CommandRun;
import dev.partita.cli.command.PaperCluster;
import dev.partita.cli.command.Waiting;
import dev.partita.cli.output.Redraw;
import dev.partita.controller.fleet.Fleet;
import dev.partita.controller.fleet.PaperFleet;
import dev.partita.cli.Partita;
import java.io.Writer;
import java.time.Duration;
import picocli.CommandLine;
import java.nio.file.Files;
import java.util.List;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.OptionalInt;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TopCommandTest {
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static PaperCluster cluster;

  @BeforeAll
  static void start(@TempDir Path folder) throws IOException {
    cluster = new PaperCluster(folder);
    cluster.add(PaperFleet.node("node-a", 2));
    cluster.add(PaperFleet.node("node-b", 1));
    cluster.add(PaperFleet.used(PaperFleet.share("team", "small", "node-a", 0, 8, 25), 3, 4, 20));
    cluster.add(PaperFleet.share("team", "large", "node-a", 0, 40, 0));
    cluster.add(PaperFleet.whole("other", "alone", "node-b", 0));
  }

  @AfterAll
  static void stop() {
    cluster.close();
  }

  private static CommandRun run(String... arguments) {
    CommandRun run = cluster.run(arguments);
    assertThat(run.status()).as(run.err()).isZero();
    return run;
  }

  @Test
  void aloneItShowsNodes() {
    assertThat(run("top").out()).isEqualTo(
        """
            NAME     READY   CARDS   AVAILABLE   MODELS    MEMORY   ALLOCATED   USED   FREE     CORES   CORES-USED   CLAIMS
            node-a   True    2       2           2x h200   280GiB   48GiB       3GiB   232GiB   25%     20%          2
            node-b   True    1       1           1x h200   140GiB   140GiB      -      0B       100%    -            1
            """);
    assertThat(run("top", "nodes", "-o", "wide").out()).contains("ALLOCATOR", "580.95.05", "Controller");
  }

  @Test
  void cardsAreShownWithWhoUsesThem() {
    assertThat(run("top", "gpus", "--node", "node-a").out()).isEqualTo(
        """
            NODE     GPU     MODEL   STATE       MEMORY   ALLOCATED   USED   FREE     CORES   CORES-USED   CLAIMS   USERS
            node-a   gpu-0   h200    Available   140GiB   48GiB       3GiB   92GiB    25%     20%          2        team/large,team/small
            node-a   gpu-1   h200    Available   140GiB   0B          -      140GiB   0%      -            0        -
            """);
  }

  @Test
  void aClaimWithTwoSharesOfACardIsOneClaimOfIt() {
    Fleet fleet = Fleet.of(List.of(PaperFleet.node("node-c", 1)),
        List.of(PaperFleet.twice(PaperFleet.share("team", "both", "node-c", 0, 8, 0))));
    assertThat(FleetSheets.gpus(fleet, new NodeFilter(Set.of())).items()).singleElement()
        .satisfies(
            card -> assertThat(String.valueOf(card)).contains("claims=1").contains("allocated=" + 16 * PaperFleet.GIB));
  }

  @Test
  void claimsAreThoseOfTheContextsNamespaceOrOfAll() {
    assertThat(run("top", "claims", "--sort-by", "memory").out()).isEqualTo(
        """
            NAMESPACE   NAME    NODE     GPU     KIND    MEMORY   USED   PEAK   CORES   CORES-USED   PROCESSES   USERS
            team        large   node-a   gpu-0   Share   40GiB    -      -      0%      -            -           large
            team        small   node-a   gpu-0   Share   8GiB     3GiB   4GiB   25%     20%          2           small
            """);
    assertThat(run("top", "claims", "-o", "wide").out().lines().filter(line -> line.contains("small")))
        .singleElement().asString().containsPattern("h200 +gpu-0-shared$");
    assertThat(run("top", "claims", "--sort-by", "used").out().lines().skip(1).findFirst().orElse(""))
        .as("what is not known comes last").contains("small");
    assertThat(run("top", "claims", "-A").out()).contains("alone", "small");
    assertThat(run("top", "claims", "-n", "other").out()).contains("alone").doesNotContain("small");
    assertThat(run("top", "claims", "-n", "nobody").out()).isEqualTo("nothing to show\n");
  }

  @Test
  void programsReadFiguresAndNoUnits() throws IOException {
    JsonNode items = new ObjectMapper().readTree(run("top", "claims", "-o", "json").out()).path("items");
    assertThat(items).hasSize(2);
    assertThat(items.findValuesAsText("name")).containsExactlyInAnyOrder("large", "small");
    assertThat(items.findValues("used")).as("left out where it is not known").singleElement()
        .satisfies(used -> assertThat(used.asLong()).isEqualTo(3L << 30));
    assertThat(run("top", "gpus", "-o", "yaml").out()).contains("items:").contains("gpu: gpu-1\n");
  }

  @Test
  void aColumnThatIsNotThereIsRefusedWithThoseThatAre() {
    CommandRun run = cluster.run("top", "gpus", "--sort-by", "age");
    assertThat(run.status()).isEqualTo(2);
    assertThat(run.err()).contains("--sort-by knows no 'age'; it knows node, gpu, model");
  }

  @Test
  void wrongOptionsAreRefusedBeforeAClusterIsLookedFor(@TempDir Path folder) {
    String missing = folder.resolve("missing").toString();
    for (String each : List.of("nodes", "gpus", "claims")) {
      assertThat(CommandRun.of("top", each, "--interval", "0", "--kubeconfig", missing))
          .isEqualTo(new CommandRun(2, "", "partita: --interval is 1 to 3600 seconds, not 0\n"));
      assertThat(CommandRun.of("top", each, "--sort-by", "age", "--kubeconfig", missing).err())
          .contains("--sort-by knows no 'age'; it knows ");
    }
  }

  /** As behind {@code | head}: nobody would end it. */
  @Test
  void whoWatchesEndsWhenNobodyReadsAnyMore() {
    StringWriter err = new StringWriter();
    Writer closed = new Writer() {
      @Override
      public void write(char[] text, int from, int length) throws IOException {
        throw new IOException("Broken pipe");
      }

      @Override
      public void flush() {}

      @Override
      public void close() {}
    };
    CommandLine line =
        Partita.commandLine().setOut(new PrintWriter(closed)).setErr(new PrintWriter(err, true));
    int status = assertTimeoutPreemptively(PATIENCE,
        () -> line.execute(cluster.withKubeconfig("top", "--watch", "--interval", "1")));
    assertThat(status).isEqualTo(1);
    assertThat(err.toString()).isEqualTo("partita: standard output cannot be written\n");
  }

  /** Whoever reads JSON reads nothing else. */
  @Test
  void whenTheServerIsAwayForAWhileOnlyATableSaysSo(@TempDir Path folder) throws Exception {
    for (String format : List.of("json", "table")) {
      StringWriter out = new StringWriter();
      StringWriter err = new StringWriter();
      PaperCluster away = new PaperCluster(Files.createDirectory(folder.resolve(format)));
      CommandLine line = Partita.commandLine().setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true));
      Thread watch = new Thread(
          () -> line.execute(away.withKubeconfig("top", "--watch", "--interval", "1", "-o", format)));
      watch.start();
      try {
        assertThat(Waiting.until(PATIENCE, () -> !out.toString().isEmpty())).isTrue();
        away.close();
        assertThat(Waiting.until(PATIENCE, () -> (out.toString() + err).contains("no API server answers"))).isTrue();
        assertThat(out.toString().contains("partita: ")).isEqualTo(format.equals("table"));
      } finally {
        watch.interrupt();
        watch.join();
      }
    }
  }

  @Test
  void inATerminalATextTakesThePlaceOfTheOneBeforeAndElsewhereItComesBelow() {
    StringWriter text = new StringWriter();
    Redraw redraw = new Redraw(new PrintWriter(text), false, OptionalInt::empty);
    redraw.show("a\n");
    redraw.show("b\n");
    assertThat(text.toString()).isEqualTo("a\n\nb\n");
    StringWriter screen = new StringWriter();
    Redraw inPlace = new Redraw(new PrintWriter(screen), true, OptionalInt::empty);
    inPlace.show("a\n");
    inPlace.show("b\n");
    assertThat(screen.toString()).isEqualTo(
        "\u001b[2J\u001b[H\u001b[?7la\u001b[K\n\u001b[?7h\u001b[J\u001b[H\u001b[?7lb\u001b[K\n\u001b[?7h\u001b[J");
  }

  @Test
  void ofATextThatIsTallerThanTheTerminalTheFirstLinesAreShown() {
    assertThat(inATerminalOf(4, "NAME\na\nb\n")).isEqualTo("NAME\na\nb\n");
    assertThat(inATerminalOf(4, "NAME\na\nb\nc\nd\n")).isEqualTo("NAME\na\n… and 3 more lines\n");
    assertThat(inATerminalOf(1, "NAME\na\n")).isEqualTo("NAME\n… and 1 more lines\n");
  }

  private static String inATerminalOf(int lines, String text) {
    StringWriter screen = new StringWriter();
    new Redraw(new PrintWriter(screen), true, () -> OptionalInt.of(lines)).show(text);
    return screen.toString().replaceAll("\u001b\\[[?0-9]*[A-Za-z]", "");
  }
}
