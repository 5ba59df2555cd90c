package dev.partita.cli.trail;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import dev.partita.cli.command.CommandRun;
import dev.partita.cli.command.PaperCluster;
import dev.partita.controller.fleet.PaperFleet;
import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.EventBuilder;
import io.fabric8.kubernetes.api.model.MicroTime;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimConsumerReference;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LogsCommandTest {
  private static Event event(String kind, String name, String reason, String time) {
    return new EventBuilder().withNewMetadata().withNamespace("team")
        .withName(name + "-" + reason.toLowerCase(Locale.ROOT))
        .endMetadata().withNewInvolvedObject().withKind(kind).withName(name).endInvolvedObject().withReason(reason)
        .withMessage("because\n  of\u001b[2J it").withCount(3).withLastTimestamp(time).build();
  }

  @Test
  void onlyLinesOfALogThatNameTheClaimOrItsPodsCount() {
    String log =
        """
            2026-01-01T00:00:03.123456789Z INFO claim team/c:0b5e allocated
            2026-01-01T00:00:04Z INFO claim team/other allocated
            2026-01-01T00:00:04Z INFO claim team/c2 allocated beside my-team/c and team/c-d
            2026-01-01T00:00:05Z INFO pod team/p is placed
            team/c without a time
            """;
    assertThat(Trail.log("dra-controller", log, List.of("team/c", "team/p")))
        .extracting(Entry::text).containsExactly("INFO claim team/c:0b5e allocated", "INFO pod team/p is placed");
  }

  @Test
  void aNameWithADotBehindItIsAnotherNameUnlessTheSentenceEnds() {
    String log = "2026-01-01T00:00:03Z pod team/p.v2 is placed\n2026-01-01T00:00:04Z waits for team/p.\n";
    assertThat(Trail.log("dra-controller", log, List.of("team/p"))).extracting(Entry::text)
        .containsExactly("waits for team/p.");
  }

  @Test
  void ofALongLogTheNewestLinesAreKeptAndItIsKnownThatOlderOnesAreMissing() throws IOException {
    StringBuilder log = new StringBuilder();
    for (int line = 0; line < 1000; line++) {
      log.append("line ").append(line).append('\n');
    }
    byte[] bytes = log.toString().getBytes(StandardCharsets.UTF_8);
    LogTail tail = LogTail.of(new ByteArrayInputStream(bytes), 100);
    assertThat(tail.isCut()).isTrue();
    assertThat(tail.text().lines()).hasSizeBetween(8, 12).last().isEqualTo("line 999");
    assertThat(tail.text().lines()).allMatch(line -> line.matches("line \\d{3}"));
    assertThat(tail.lines()).isEqualTo(tail.text().lines().count());
    assertThat(LogTail.of(new ByteArrayInputStream(bytes), bytes.length))
        .isEqualTo(new LogTail(log.toString(), false));
    assertThat(LogTail.of(new ByteArrayInputStream(new byte[0]), 10)).isEqualTo(new LogTail("", false));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", " ", "a b", "a/b", "../c"})
  void whatIsNoNameIsRefused(String name, @TempDir Path folder) throws IOException {
    try (PaperCluster cluster = new PaperCluster(folder)) {
      for (String[] line : List.of(new String[]{"logs", name}, new String[]{"explain", "pod", name},
          new String[]{"explain", "claim", name}, new String[]{"resize", "claim", name, "--memory", "4Gi"},
          new String[]{"logs", "c", "--partita-namespace", name})) {
        CommandRun run = cluster.run(line);
        assertThat(run.status()).as("%s: %s", List.of(line), run.err()).isEqualTo(2);
        assertThat(run.err().lines()).singleElement().asString().contains("'" + name + "' is no name");
      }
    }
  }

  @Test
  void anEmptyNamespaceIsTheContexts(@TempDir Path folder) throws IOException {
    try (PaperCluster cluster = new PaperCluster(folder)) {
      CommandRun run = cluster.run("logs", "none", "-n", "");
      assertThat(run.err()).isEqualTo("partita: there is no claim team/none\n");
      assertThat(cluster.run("logs", "none", "-n", "a b").err()).contains("'a b' is no name");
    }
  }

  @Test
  void anEventThatIsCountedInASeriesIsTimedByTheLastOfThem() {
    Event repeated = new EventBuilder(event("ResourceClaim", "c", "Unallocatable", "")).withCount(null)
        .withLastTimestamp(null).withEventTime(new MicroTime("2026-01-01T00:00:01.000000Z")).withNewSeries()
        .withCount(7).withLastObservedTime(new MicroTime("2026-01-01T00:10:00.000000Z")).endSeries().build();
    assertThat(Trail.events(List.of(repeated))).singleElement().satisfies(entry -> {
      assertThat(entry.time()).isEqualTo("2026-01-01T00:10:00Z");
      assertThat(entry.text()).endsWith("it (7 times)");
    });
  }

  @Test
  void eventsOfAnEarlierPodOfTheSameNameAreLeftOut() {
    Event earlier = new EventBuilder(event("Pod", "p", "Killing", "2026-01-01T00:00:01Z")).editInvolvedObject()
        .withUid("gone").endInvolvedObject().build();
    Event own = new EventBuilder(event("Pod", "p", "Started", "2026-01-01T00:00:02Z")).editInvolvedObject()
        .withUid("here").endInvolvedObject().build();
    Event ofAClaim = new EventBuilder(event("ResourceClaim", "p", "Prepared", "2026-01-01T00:00:02Z"))
        .editInvolvedObject().withUid("here").endInvolvedObject().build();
    Event withoutUid = event("Pod", "p", "Odd", "2026-01-01T00:00:03Z");
    assertThat(Trail.about("Pod", "here", List.of(earlier, own, ofAClaim, withoutUid)))
        .containsExactly(own, withoutUid);
  }

  @Test
  void whatHappenedIsTheOrderOfTimeWhoeverSaysIt() {
    ResourceClaim claim =
        PaperFleet.since(PaperFleet.share("team", "c", "n", 0, 8, 0), Instant.parse("2026-01-01T00:00:05Z"));
    List<Entry> entries =
        new ArrayList<>(Trail.log("kubelet-plugin", "2026-01-01T00:00:07Z team/c prepared", List.of("team/c")));
    entries.addAll(Trail.events(List.of(event("ResourceClaim", "c", "Unallocatable", "2026-01-01T00:00:03Z"))));
    entries.addAll(Trail.claim(claim));
    assertThat(Trail.byTime(entries)).extracting(Entry::text)
        .containsExactly("was made", "Unallocatable: because of\u001b[2J it (3 times)", "was allocated",
            "team/c prepared");
  }

  @Test
  void aClaimsTrailIsShownLineByLineAndAClaimThatIsNotThereIsSaidSo(@TempDir Path folder) throws IOException {
    try (PaperCluster cluster = new PaperCluster(folder)) {
      cluster.add(PaperFleet.since(PaperFleet.share("team", "c", "n", 0, 8, 0), Instant.parse("2026-01-01T00:00:05Z")));
      CommandRun run = cluster.run("logs", "c");
      assertThat(run.status()).as(run.err()).isZero();
      assertThat(run.out()).contains("2026-01-01T00:00:05Z  ResourceClaim/c  was allocated\n");
      assertThat(cluster.run("logs", "c", "-o", "json").out()).contains("\"source\" : \"ResourceClaim/c\"")
          .as("fields in one order, whatever process writes them")
          .containsPattern("\"time\"[^{]+\"source\"[^{]+\"text\"");
      CommandRun none = cluster.run("logs", "none");
      assertThat(none.status()).isEqualTo(1);
      assertThat(none.err()).isEqualTo("partita: there is no claim team/none\n");
    }
  }

  @Test
  void aClaimOfAPodGroupHasTheTrailOfThePodsThatNameIt(@TempDir Path folder) throws IOException {
    try (PaperCluster cluster = new PaperCluster(folder)) {
      ResourceClaim claim = PaperFleet.share("team", "c", "n", 0, 8, 0);
      claim.getStatus().setReservedFor(
          List.of(new ResourceClaimConsumerReference("scheduling.k8s.io", "train", "podgroups", "a-group")));
      cluster.add(claim);
      for (String pod : List.of("a", "b", "other")) {
        cluster.add(new PodBuilder().withNewMetadata().withNamespace("team").withName(pod).endMetadata().withNewSpec()
            .addNewResourceClaim().withName("gpu").withResourceClaimName(pod.equals("other") ? "c2" : "c")
            .endResourceClaim().endSpec().withNewStatus().addNewCondition().withType("PodScheduled").withStatus("True")
            .withLastTransitionTime("2026-01-01T00:00:03Z").endCondition().endStatus().build());
      }
      CommandRun run = cluster.run("logs", "c");
      assertThat(run.status()).as(run.err()).isZero();
      assertThat(run.out()).contains("Pod/a  condition PodScheduled", "Pod/b  condition PodScheduled")
          .doesNotContain("Pod/other");
    }
  }

  @Test
  void whatTenantsWroteMovesNoCursor() {
    assertThat(LogsCommand.line(Trail.events(List.of(event("Pod", "p", "Odd", "2026-01-01T00:00:03Z"))).getFirst()))
        .isEqualTo("2026-01-01T00:00:03Z  event of Pod/p  Odd: because of?[2J it (3 times)\n");
  }

  @Test
  void aNoteOfBlanksIsReadAtOnce() {
    Event blank = new EventBuilder(event("Pod", "p", "Odd", "2026-01-01T00:00:03Z"))
        .withMessage("because" + " ".repeat(500_000) + "of it").build();
    List<Entry> entries = assertTimeoutPreemptively(Duration.ofSeconds(20), () -> Trail.events(List.of(blank)));
    assertThat(entries.getFirst().text()).startsWith("Odd: because  ").endsWith("…");
  }
}
