package dev.partita.cli.whatif;

import static dev.partita.controller.fleet.PaperFleet.GIB;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpServer;
import dev.partita.api.Driver;
import dev.partita.cli.command.CommandRun;
import dev.partita.cli.command.PaperCluster;
import dev.partita.controller.classes.ClassPlan;
import dev.partita.controller.fleet.PaperFleet;
import dev.partita.controller.inventory.Inventory;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClassBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceRequestBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSliceBuilder;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A cluster of one node with two H200s of 140 GiB. One has a share of 100 GiB that ever used 3, the other one of 100
 * GiB that used all; a pod waits for 120 GiB.
 */
class WhatIfCommandsTest {
  @TempDir private Path folder;
  private PaperCluster cluster;

  @BeforeEach
  void fill() throws IOException {
    cluster = new PaperCluster(folder);
    var node = PaperFleet.node("n", 2);
    cluster.add(node);
    cluster.client().resource(new NodeBuilder().withNewMetadata().withName("n").endMetadata().build()).create();
    ClassPlan.of(Inventory.EMPTY.refreshed(List.of(node))).forEach((name, selectors) -> cluster.client()
        .resource(new DeviceClassBuilder().withNewMetadata().withName(name).endMetadata().withNewSpec()
            .withSelectors(selectors).endSpec().build())
        .create());
    cluster.client().resource(new ResourceSliceBuilder().withNewMetadata().withName("slice").endMetadata().withNewSpec()
        .withDriver(Driver.NAME).withNodeName("n").withNewPool().withName(Driver.poolOf("n")).withGeneration(1L)
        .withResourceSliceCount(1L).endPool().endSpec().build()).create();
    Instant before = Instant.now().minus(Duration.ofDays(3));
    cluster.add(PaperFleet.since(PaperFleet.used(PaperFleet.share("team", "idle", "n", 0, 100, 10), 3, 3, 0), before));
    cluster.add(PaperFleet.since(PaperFleet.used(PaperFleet.share("team", "busy", "n", 1, 100, 0), 99, 99, 0), before));
    waits("waits", "120Gi");
  }

  @AfterEach
  void close() {
    cluster.close();
  }

  private void waits(String name, String memory) {
    cluster.client().resource(new ResourceClaimBuilder().withNewMetadata().withNamespace("team").withName(name)
        .endMetadata().withNewSpec().withNewDevices()
        .withRequests(new DeviceRequestBuilder().withName("gpu").withNewExactly()
            .withDeviceClassName(Driver.SHARE_CLASS)
            .withNewCapacity().withRequests(Map.of("memory", new Quantity(memory))).endCapacity().endExactly().build())
        .endDevices().endSpec().build()).create();
    cluster.client().resource(new PodBuilder().withNewMetadata().withNamespace("team").withName(name).endMetadata()
        .withNewSpec().addNewContainer().withName("main").withImage("image").endContainer()
        .addNewResourceClaim().withName("gpu").withResourceClaimName(name).endResourceClaim().endSpec().build())
        .create();
  }

  private String out(String... arguments) {
    CommandRun run = cluster.run(arguments);
    assertThat(run.status()).as(run.err()).isZero();
    return run.out();
  }

  private JsonNode json(String... arguments) throws IOException {
    return new ObjectMapper().readTree(out(arguments));
  }

  @Test
  void theLargestShareOfEachModelIsFound() throws IOException {
    assertThat(out("simulate", "fits", "--from-cluster")).isEqualTo(
        """
            MODEL   CARDS   WHOLE-FREE   LARGEST-SHARE   CORES-FREE   NODE
            h200    2       0            40GiB           90%          n
            """);
    assertThat(json("simulate", "fits", "-o", "json").at("/items/0/largestShare").asLong()).isEqualTo(40 * GIB);
  }

  @Test
  void aRequestIsPlacedUntilItFitsNoMore() throws IOException {
    assertThat(out("simulate", "fits", "--request", "memory=15Gi,cores=10,model=h200"))
        .isEqualTo(
            """
                NODE   PODS
                n      4

                4 would fit; then: 0 of 2 cards fit: 2 cards on n: 10 GiB free of 15 GiB asked
                """);
    JsonNode whole = json("simulate", "fits", "--request", "count=2", "-o", "json");
    assertThat(whole.path("pods").asInt()).isZero();
    assertThat(whole.path("whyNoMore").asText()).isNotEmpty();
  }

  @Test
  void nodesThatAreAddedOnPaperTakeWaitingPods() throws IOException {
    assertThat(out("simulate", "add-nodes", "1xH200x1")).isEqualTo(
        """
            NAMESPACE   POD     NOW     WITH-THEM      WHY-NOT
            team        waits   waits   added-h200-1   -

            1 pod waits; 0 would run as it is, 1 with the added nodes
            """);
    assertThat(out("simulate", "add-nodes", "1xH200x1", "--like", "n")).contains("added-h200-1");
    CommandRun likeNone = cluster.run("simulate", "add-nodes", "1xH200x1", "--like", "node-7");
    assertThat(likeNone.err()).contains("--like: there is no node node-7");
    assertThat(likeNone.status()).isEqualTo(2);
    JsonNode small = json("simulate", "add-nodes", "2xL40Sx8:45Gi", "-o", "json");
    assertThat(small.path("runWithThem").asInt()).as("a card of 45 GiB is too small").isZero();
    assertThat(small.at("/items/0/why").asText()).contains("of 120 GiB asked");
    CommandRun unknown = cluster.run("simulate", "add-nodes", "2xL40Sx8");
    assertThat(unknown.err()).contains("no card of model l40s", "2xl40sx8:45Gi");
    assertThat(unknown.status()).isEqualTo(2);
  }

  @Test
  void theShareThatNobodyUsesIsTheOneToShrink() throws IOException {
    assertThat(out("simulate", "shrink")).isEqualTo(
        """
            NAMESPACE   WAITING-POD   NODE   CLAIM-TO-SHRINK   MEMORY   PEAK   PROPOSED
            team        waits         n      team/idle         100GiB   3GiB   3.7GiB

            1 pod waits, 0 would run as it is; 1 more if 1 share was smaller by 96.2 GiB
            """);
    waits("small", "10Gi");
    waits("huge", "139Gi");
    JsonNode plan = json("simulate", "shrink", "-o", "json");
    assertThat(plan.path("waiting").asInt()).isEqualTo(3);
    assertThat(plan.path("runNow").asInt()).as("the small one").isEqualTo(1);
    assertThat(plan.path("runThen").asInt()).isEqualTo(2);
    assertThat(plan.path("items")).hasSize(1);
  }

  @Test
  void aClustersPodsArePlayedAnewAndCompared() throws IOException {
    waits("x", "139Gi");
    waits("y", "139Gi");
    Path file = folder.resolve("saved.json");
    Path answers = folder.resolve("answers.jsonl");
    out("simulate", "--from-cluster", "--save-snapshot", file.toString(), "--out", answers.toString());
    assertThat(Files.readAllLines(answers)).containsExactlyInAnyOrder(
        "{\"pod\":\"team/waits\",\"node\":\"n\",\"gpus\":[0]}", "{\"pod\":\"team/x\",\"node\":\"n\",\"gpus\":[1]}",
        "{\"pod\":\"team/y\",\"gpus\":[]}");
    JsonNode compared =
        json("simulate", "compare", "--from-cluster", "--policy", "auto,spread", "-o", "json").path("items");
    assertThat(compared).hasSize(2).allSatisfy(item -> assertThat(item.path("neverRan").asInt()).isEqualTo(1));
    assertThat(CommandRun.of("simulate", "compare", "--snapshot", file.toString(), "--policy", "auto").out())
        .contains("auto");
    CommandRun both = CommandRun.of("simulate", "--snapshot", file.toString(), "--generate", "pods=1");
    assertThat(both.err()).contains("exclude each other");
    assertThat(both.status()).isEqualTo(2);
  }

  @Test
  void aSnapshotThatCannotBeWrittenIsRefusedBeforeAClusterIsLookedFor() {
    Path file = folder.resolve("no-folder/saved.json");
    CommandRun run =
        CommandRun.of("simulate", "fits", "--save-snapshot", file.toString(), "--kubeconfig", folder + "/missing");
    assertThat(run.err()).isEqualTo("partita: the snapshot cannot be written to " + file + ": there is no folder "
        + file.getParent() + "\n");
    assertThat(run.status()).isEqualTo(1);
  }

  /** An API server asks for the right before it looks for the kind. */
  @Test
  void aKindThatIsNotServedNeedsNoRight() throws IOException {
    assertThat(fitsWithoutRights("ResourceClaim")).isEqualTo(new CommandRun(0, "there are no cards\n", ""));
    CommandRun refused = fitsWithoutRights("DeviceTaintRule");
    assertThat(refused.err()).as("without the rules the answer would be wrong")
        .isEqualTo("partita: you may not do this: devicetaintrules is forbidden\n");
    assertThat(refused.status()).isEqualTo(1);
  }

  /**
   * What {@code simulate fits} says to a user who may list neither DeviceTaintRules nor PodGroups, in a cluster without
   * nodes.
   *
   * @param kind the only one that the API server serves in resource.k8s.io/v1, as far as it says; it serves no
   *        PodGroups
   */
  private CommandRun fitsWithoutRights(String kind) throws IOException {
    HttpServer api = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    api.createContext("/", exchange -> {
      String path = exchange.getRequestURI().getPath();
      String resource = path.substring(path.lastIndexOf('/') + 1);
      int status = switch (resource) {
        case "devicetaintrules", "podgroups" -> 403;
        case "v1beta1", "v1beta2" -> 404;
        default -> 200;
      };
      String found = resource.equals("v1")
          ? "{\"resources\": [{\"kind\": \"" + kind + "\"}]}"
          : "{\"metadata\": {}, \"items\": []}";
      String answer = status == 200
          ? found
          : "{\"kind\": \"Status\", \"code\": " + status + ", \"message\": \"" + resource + " is forbidden\"}";
      byte[] body = answer.getBytes(StandardCharsets.UTF_8);
      exchange.getResponseHeaders().set("Content-Type", "application/json");
      exchange.sendResponseHeaders(status, body.length);
      exchange.getResponseBody().write(body);
      exchange.close();
    });
    api.start();
    try {
      Path kubeconfig = Files.writeString(folder.resolve("limited"), """
          current-context: jo
          contexts: [{name: jo, context: {cluster: here, user: jo}}]
          clusters: [{name: here, cluster: {server: "http://127.0.0.1:%d"}}]
          users: [{name: jo}]
          """.formatted(api.getAddress().getPort()));
      return CommandRun.of("simulate", "fits", "--kubeconfig", kubeconfig.toString());
    } finally {
      api.stop(0);
    }
  }

  @Test
  void whatIsNoNamespacesNameIsRefused() {
    CommandRun run = cluster.run("simulate", "fits", "-n", "Team_A");
    assertThat(run.err()).startsWith("partita: 'Team_A' is no name: ");
    assertThat(run.status()).isEqualTo(2);
  }

  @Test
  void aSnapshotAnswersAsTheClusterDid() throws IOException {
    Path file = folder.resolve("saved.json");
    String live = out("simulate", "fits", "--save-snapshot", file.toString());
    CommandRun saved = CommandRun.of("simulate", "fits", "--snapshot", file.toString());
    assertThat(saved.out()).isEqualTo(live);
    assertThat(CommandRun.of("simulate", "shrink", "--snapshot", file.toString()).out()).contains("team/idle");
    assertThat(CommandRun.of("simulate", "add-nodes", "1xH200x1", "--snapshot", file.toString()).out())
        .contains("1 with the added nodes");
    assertThat(cluster.run("simulate", "fits", "--from-cluster", "--snapshot", file.toString()).err())
        .contains("exclude each other");
    String leaveOut =
        "partita: --kubeconfig and --context say which cluster is read, and --snapshot reads none: leave them out\n";
    for (String command : List.of("fits", "shrink")) {
      assertThat(cluster.run("simulate", command, "--snapshot", file.toString()))
          .isEqualTo(new CommandRun(2, "", leaveOut));
    }
    assertThat(CommandRun.of("simulate", "fits", "--snapshot", file.toString(), "--context", "").out())
        .as("kubectl takes an empty one for none").isEqualTo(live);
    Path broken =
        Files.writeString(folder.resolve("broken.json"), Files.readString(file).replace("\"claims\"", "\"c\""));
    CommandRun refused = CommandRun.of("simulate", "fits", "--snapshot", broken.toString());
    assertThat(refused.err()).isEqualTo("partita: " + broken + " is no snapshot: claims: is missing\n");
    assertThat(refused.status()).isEqualTo(2);
    Files.writeString(broken, "{\"kind\":\"PartitaSnapshot\",\"version\":1,\"time\":\"\\u001b[2J\"}");
    assertThat(CommandRun.of("simulate", "fits", "--snapshot", broken.toString()).err())
        .contains("'?[2J'").doesNotContain("\u001b");
    assertThat(CommandRun.of("simulate", "fits", "--snapshot", folder.resolve("none").toString()).err())
        .contains("there is no file");
  }
}
