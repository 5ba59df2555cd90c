package dev.partita.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.partita.e2e.cluster.Ask;
import dev.partita.e2e.cluster.Daemons;
import dev.partita.e2e.cluster.NeedsSteadyController;
import dev.partita.e2e.cluster.OnOwnNode;
import dev.partita.e2e.cluster.OnRealCluster;
import dev.partita.e2e.cluster.PartitaCommand.Outcome;
import dev.partita.e2e.cluster.PodTraits;
import dev.partita.e2e.cluster.PodUnderTest;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.Workspace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What-if questions about a real cluster, answered as the controller would. */
@OnRealCluster
@NeedsSteadyController
class WhatIfIT {
  private static JsonNode json(RealCluster cluster, String... arguments) {
    List<String> command = new ArrayList<>(List.of("simulate"));
    command.addAll(List.of(arguments));
    command.addAll(List.of("-o", "json"));
    Outcome outcome = cluster.kubectlPartita(command.toArray(String[]::new));
    assertThat(outcome.status()).as("%s: %s%s", command, outcome.err(), outcome.out()).isZero();
    try {
      return new ObjectMapper().readTree(outcome.out());
    } catch (JsonProcessingException e) {
      throw new AssertionError(e);
    }
  }

  private static JsonNode item(JsonNode document, String field, String value) {
    return StreamSupport.stream(document.path("items").spliterator(), false)
        .filter(item -> item.path(field).asText().equals(value)).findFirst()
        .orElseThrow(() -> new AssertionError(field + " " + value + " is not in " + document));
  }

  @Test
  @OnOwnNode
  void whatFitsIsWhatTheClaimsLeave(RealCluster cluster, Workspace workspace, @TempDir Path folder) {
    String node = cluster.ownNode();
    new Daemons(cluster.client()).awaitFreeCards(node);
    int cards =
        item(json(cluster, "fits", "--from-cluster", "--request", "count=1"), "node", node).path("pods").asInt();
    PodUnderTest pod = workspace.pod("holder", node, Ask.share("8Gi").cores(25), "exec sleep 600").awaitRunning();
    pod.claim().awaitAllocated();
    Path saved = folder.resolve("saved.json");
    JsonNode live =
        json(cluster, "fits", "--from-cluster", "--request", "count=1", "--save-snapshot", saved.toString());
    assertThat(item(live, "node", node).path("pods").asInt()).isEqualTo(cards - 1);
    assertThat(json(cluster, "fits", "--snapshot", saved.toString(), "--request", "count=1")).isEqualTo(live);
    assertThat(item(json(cluster, "fits", "--snapshot", saved.toString(), "--request", "cores=80,memory=1Gi"), "node",
        node).path("pods").asInt()).as("one a card, and none beside the share of 25 %").isEqualTo(cards - 1);
    Outcome played = cluster.kubectlPartita("simulate", "--snapshot", saved.toString());
    assertThat(played.status()).as(played.err()).isZero();
    assertThat(played.out()).containsPattern("\\{\"pod\":\"" + workspace.namespace() + "/holder\",\"node\":\"[^\"]+\"");
    assertThat(json(cluster, "compare", "--from-cluster", "--policy", "auto,spread").path("items")).hasSize(2);
    pod.deleteAndAwait();
  }

  @Test
  void aPodThatNoNodeIsLargeEnoughForWouldRunOnAnAddedOne(RealCluster cluster, Workspace workspace) {
    PodUnderTest waits =
        workspace.pod("eight", PodTraits.onNodesWith("kubernetes.io/os", "linux"), Ask.wholeCards(8), "exec sleep 600");
    workspace.awaitEvent("ResourceClaim", waits.claim().name(), "Unallocatable");
    // So many that pods of other tests, which wait for longer, leave one.
    JsonNode larger =
        json(cluster, "add-nodes", "64xH200x8", "--like", cluster.quietNodes().getFirst(), "--from-cluster");
    JsonNode pod = StreamSupport.stream(larger.path("items").spliterator(), false)
        .filter(item -> item.path("namespace").asText().equals(workspace.namespace())).findFirst().orElseThrow();
    assertThat(pod.path("pod").asText()).isEqualTo("eight");
    assertThat(pod.path("now").asText()).isEqualTo("waits");
    assertThat(pod.path("with").asText()).as("%s", larger).startsWith("added-h200-");
    assertThat(larger.path("runWithThem").asInt()).isGreaterThan(larger.path("runNow").asInt());
    assertThat(waits.phase()).as("nothing was done").isEqualTo("Pending");
  }

  @Test
  @OnOwnNode
  void theShareThatNobodyUsesIsTheOneToShrinkSoThatAPodRuns(
      RealCluster cluster,
      Workspace workspace,
      @TempDir Path folder) throws IOException {
    String node = cluster.ownNode();
    new Daemons(cluster.client()).awaitFreeCards(node);
    PodUnderTest idle =
        workspace.pod("idle", node, Ask.share("100Gi").onCardOf("gpu-1"), "exec partita-probe hold 1Gi")
            .awaitLine("holding");
    PodUnderTest waits = workspace.pod("waits", node, Ask.share("60Gi").onCardOf("gpu-1"), "exec sleep 600");
    workspace.awaitEvent("ResourceClaim", waits.claim().name(), "Unallocatable");
    Path saved = folder.resolve("saved.json");
    await("the idle share's peak to be known").atMost(Workspace.PATIENCE).untilAsserted(() -> {
      JsonNode item = item(
          json(cluster, "shrink", "--min-age", "0s", "--save-snapshot", saved.toString()),
          "podNamespace", workspace.namespace());
      assertThat(item.path("pod").asText()).isEqualTo("waits");
      assertThat(item.path("claim").asText()).isEqualTo(workspace.namespace() + "/" + idle.claim().name());
      assertThat(item.path("memory").asLong()).isEqualTo(100L << 30);
      assertThat(item.path("peak").asLong()).isBetween(1L << 30, 2L << 30);
      assertThat(item.path("proposed").asLong()).isBetween(item.path("peak").asLong(), 3L << 30);
    });
    Outcome told = cluster.kubectlPartita("report", "-n", workspace.namespace(), "--min-age", "0s");
    assertThat(told.status()).as(told.err()).isZero();
    assertThat(told.out()).containsPattern(workspace.namespace() + " +" + idle.claim().name() + " +h200 +100GiB ")
        .containsPattern("1 of 1 shares hold far more than they ever used; the fleet would gain 9[78]\\S* GiB of h200");
    assertThat(waits.phase()).as("nothing was done").isEqualTo("Pending");

    Path cut = Files.write(folder.resolve("cut.json"), Arrays.copyOf(Files.readAllBytes(saved), 5000));
    Outcome refused = cluster.kubectlPartita("simulate", "shrink", "--snapshot", cut.toString());
    assertThat(refused.status()).isEqualTo(2);
    assertThat(refused.err()).startsWith("partita: " + cut + " is no snapshot: ").contains("line ").hasLineCount(1);
    assertThat(refused.out()).isEmpty();
  }
}
