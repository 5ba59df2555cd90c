package dev.partita.controller;

import static dev.partita.controller.Cluster.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.partita.controller.explain.PodExplanation.NodeReason;
import dev.partita.controller.explain.PodExplanation.State;
import dev.partita.controller.explain.PodExplanation;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceConstraint;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceConstraintBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceRequest;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceRequestBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimBuilder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.Socket;
import java.net.SocketException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What the controller tells those who may ask it. */
class ExplainTest {
  private static final String H200 = "device.attributes[\"gpu.partita.dev\"].model == \"h200\"";

  private final Cluster cluster = Cluster.empty();
  private final HttpClient http = HttpClient.newHttpClient();

  @AfterEach
  void close() {
    http.close();
    cluster.close();
  }

  private HttpResponse<String> ask(String path) {
    try {
      URI uri = URI.create("http://127.0.0.1:" + cluster.explainPort() + path);
      return http.send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private List<PodExplanation> explained(String path) {
    HttpResponse<String> answer = ask(path);
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    try {
      return new ObjectMapper().readValue(answer.body(), new TypeReference<>() {});
    } catch (JsonProcessingException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void everyNodeAndCardHasItsReason() {
    cluster.add(GpuNodes.ready("node-0", 2, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.add(GpuNodes.ready("node-1", 1, "NVIDIA A100", 80 * GpuNodes.GIB));
    cluster.start();
    cluster.claim(new ClaimForm("taken", "whole.gpu.partita.dev").selector(H200));
    cluster.pod("taken", "taken");
    String device = cluster.result("taken").getDevice();
    cluster.claim(new ClaimForm("two", "whole.gpu.partita.dev").count(2).selector(H200));
    cluster.pod("two", "two");
    cluster.note("two", "Unallocatable");

    PodExplanation why = explained("/explain/pod/default/two").getFirst();

    assertThat(why.state()).isEqualTo(State.Waiting);
    assertThat(why.nodes()).extracting(NodeReason::node).containsExactly("node-0", "node-1");
    assertThat(why.nodes().getFirst().byCard()).containsExactly(Map.entry(device, "taken as a whole"));
    assertThat(why.nodes().getFirst().reason()).isEqualTo("claim two, request gpu: 1 of 2 cards fit, 2 wanted");
    assertThat(why.nodes().get(1).byCard()).containsExactly(Map.entry("gpu-0", "model is a100, asked h200"));
    assertThat(explained("/explain/claim/default/two")).containsExactly(why);
  }

  @Test
  void askingChangesNothing() {
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.start();
    cluster.claim("c", "gpu.partita.dev", Map.of("memory", "100Gi"));
    eventually().untilAsserted(() -> assertThat(explained("/explain/claim/default/c")).as("nobody uses it").isEmpty());
    cluster.pod("p", "c");
    cluster.result("c");
    eventually().until(() -> explained("/explain/pod/default/p").getFirst().state() == State.Settled);
    cluster.claim("d", "gpu.partita.dev", Map.of("memory", "100Gi"));
    cluster.pod("q", "d");
    cluster.note("d", "Unallocatable");
    for (int i = 0; i < 3; i++) {
      assertThat(explained("/explain/pod/default/q").getFirst().state()).isEqualTo(State.Waiting);
    }
    cluster.client.pods().inNamespace("default").withName("p").delete(); // nobody had reserved its claim
    cluster.result("d");
  }

  /** Without an end to it, this takes 20 s a node, in which nobody gets a place. */
  @Test
  void aPodThatIsHardToDecideIsSaidToBeAndKeepsNobodyWaitingForItsExplanation() {
    IntStream.range(0, 4)
        .forEach(i -> cluster.add(GpuNodes.ready("node-" + i, 8, "NVIDIA H200", 140 * GpuNodes.GIB)));
    cluster.start();
    cluster.awaitOffered("node-0", "node-1", "node-2", "node-3");
    cluster.client.resource(sharesOfMoreCardsThanThereAre("hard")).create();
    cluster.pod("hard", "hard");
    eventually()
        .untilAsserted(() -> assertThat(cluster.note("hard", "Unallocatable")).contains("takes longer to decide"));

    HttpResponse<String> answer = ask("/explain/pod/default/hard");
    cluster.claim("easy", "gpu.partita.dev", Map.of("memory", "1Gi"));
    cluster.pod("easy", "easy");

    eventually().atMost(Duration.ofSeconds(10)).until(() -> cluster.isAllocated("easy"));
    assertThat(answer.body()).contains("could not be decided: takes longer to decide than 500 ms",
        "fewer requests, constraints and selectors");
    assertThat(explained("/explain/claim/default/hard")).singleElement().extracting(PodExplanation::state)
        .isEqualTo(State.Waiting);
  }

  /** Shares of 32 requests, of which 9 are to be of different cards of a node with 8. */
  private static ResourceClaim sharesOfMoreCardsThanThereAre(String name) {
    DeviceRequest share = new ClaimForm(name, "gpu.partita.dev").capacity(Map.of("memory", "1Gi")).claim().getSpec()
        .getDevices().getRequests().getFirst();
    List<DeviceConstraint> constraints = new ArrayList<>();
    IntStream.range(0, 31).forEach(
        _ -> constraints.add(new DeviceConstraintBuilder().withMatchAttribute("gpu.partita.dev/model").build()));
    constraints.add(new DeviceConstraintBuilder().withDistinctAttribute("gpu.partita.dev/uuid")
        .withRequests(IntStream.range(23, 32).mapToObj(i -> "gpu-" + i).toList()).build());
    return new ResourceClaimBuilder().withNewMetadata().withName(name).withNamespace("default").endMetadata()
        .withNewSpec().withNewDevices()
        .withRequests(
            IntStream.range(0, 32).mapToObj(i -> new DeviceRequestBuilder(share).withName("gpu-" + i).build()).toList())
        .withConstraints(constraints).endDevices().endSpec().build();
  }

  @Test
  void ofAClaimThatManyPodsUseSomeAreExplainedAndItIsSaidHowManyAreLeftOut() {
    cluster.start();
    cluster.claim("c", "gpu.partita.dev", Map.of("memory", "1Gi"));
    IntStream.range(10, 35).forEach(i -> cluster.pod("p" + i, "c"));
    eventually().untilAsserted(() -> assertThat(explained("/explain/claim/default/c")).hasSize(21));
    List<PodExplanation> pods = explained("/explain/claim/default/c");
    assertThat(pods.subList(0, 20)).extracting(PodExplanation::state).containsOnly(State.Waiting);
    assertThat(pods.getLast().state()).isEqualTo(State.LeftOut);
    assertThat(pods.getLast().summary()).startsWith("it and 4 more of the pods that use claim default/c are not");
  }

  @Test
  void whatThereIsNotAndWhatIsNoQuestionAreSaidSo() {
    cluster.start();
    assertThat(ask("/explain/pod/default/none").statusCode()).isEqualTo(404);
    assertThat(ask("/explain/claim/default/none").statusCode()).isEqualTo(404);
    assertThat(ask("/explain/pod/none").statusCode()).isEqualTo(400);
    assertThat(ask("/explain/secret/default/none").statusCode()).isEqualTo(400);
    assertThat(ask("/").statusCode()).isEqualTo(400);
  }

  @Test
  void nobodyReachesItFromOutsideThePod() throws SocketException {
    cluster.start();
    Optional<InetAddress> outside =
        NetworkInterface.networkInterfaces().flatMap(NetworkInterface::inetAddresses)
            .filter(a -> !a.isLoopbackAddress() && !a.isLinkLocalAddress()).findFirst();
    org.junit.jupiter.api.Assumptions.assumeTrue(outside.isPresent(),
        "this machine has no address but the loopback one");
    org.assertj.core.api.Assertions.assertThatThrownBy(() -> new Socket(outside.get(), cluster.explainPort()).close())
        .isInstanceOf(IOException.class);
  }
}
