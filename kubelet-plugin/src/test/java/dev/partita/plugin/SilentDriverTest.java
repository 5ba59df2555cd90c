package dev.partita.plugin;

import static dev.partita.plugin.TestClaims.claim;
import static dev.partita.plugin.TestClaims.instance;
import static dev.partita.plugin.TestClaims.share;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.partita.api.node.GpuNodeStatus;
import dev.partita.plugin.inventory.NodeInventory;
import dev.partita.serving.access.MockApiServer;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A driver that does not come back from a call: from nvmlInit while the plugin starts, or while it holds a lock. */
@MockApiServer(crud = true)
class SilentDriverTest {
  private static final NodeInventory.Patience PATIENCE =
      new NodeInventory.Patience(Duration.ofMillis(300), Duration.ofMillis(500));
  private static final Duration SOON = Duration.ofSeconds(40);
  private static final String HANG_MICROS = "15000000";

  @SuppressWarnings("NullAway.Init") // set by the extension
  KubernetesClient client;

  @Test
  void kubeletKnowsThePluginAndClaimsAreReleasedWhileNvmlHangs() throws Exception {
    try (TestNode node = TestNode.withCards("node-s", "t4x2")) {
      ResourceClaim earlier = api().created(claim("earlier", share("node-s", "gpu", 0, "1Gi", "")));
      ResourceClaim later = api().created(claim("later", share("node-s", "gpu", 1, "1Gi", "")));
      try (KubeletPlugin _ = node.start(client)) {
        assertThat(node.prepare(earlier).getError()).isEmpty();
        api().statusWhen("node-s", GpuNodeStatus::isReady); // from which the next plugin has the cards
      }
      node.simulator("fault", "--root", node.driverRoot().toString(), "--function", "nvmlInit_v2", "--delay-us",
          HANG_MICROS, "--times", "1");
      int port = TestNode.freePort();
      try (KubeletPlugin _ = start(node.settings("--health-port=" + port), Duration.ofMinutes(3))) {
        assertThat(node.register().getName()).isEqualTo("gpu.partita.dev");
        assertThat(ask(port, "/healthz")).isEqualTo("200 ok");
        assertThat(node.unprepare(earlier)).isEmpty();
        assertThat(node.record(earlier)).doesNotExist();
        assertThat(node.prepare(later).getError()).contains("NVML does not answer");
        assertThat(api().statusWhen("node-s", status -> !status.isReady()).conditions().getFirst().getReason())
            .isEqualTo("NvmlDoesNotAnswer");
        assertThat(Objects.requireNonNull(api().gpuNode("node-s").getStatus()).gpus())
            .hasSize(2)
            .allSatisfy(gpu -> assertThat(gpu.health().reason()).isEqualTo("NvmlDoesNotAnswer"));
        await().atMost(SOON).until(() -> node.prepare(later).getError(), String::isEmpty);
        api().statusWhen("node-s",
            status -> status.isReady() && status.gpus().stream().allMatch(gpu -> gpu.health().reason() == null));
        await().atMost(SOON).until(() -> ask(port, "/readyz"), "200 ok"::equals);
      }
    }
  }

  /** NVML does not come back from making an instance, which is done with the claim's lock held. */
  @Test
  void anOperationThatHoldsItsLockTooLongIsSeenByTheLivenessProbeUntilItEnds() throws Exception {
    try (TestNode node = TestNode.withCards("node-l", "h200")) {
      ResourceClaim claim = api().created(claim("slow", instance("node-l", "gpu", 0, "1g-18gb-6")));
      int port = TestNode.freePort();
      Duration allowed = Duration.ofSeconds(1);
      try (KubeletPlugin _ = start(node.settings("--mig", "--health-port=" + port), allowed)) {
        await().atMost(SOON).until(() -> ask(port, "/healthz"), "200 ok"::equals);
        node.simulator(
            "fault", "--root", node.driverRoot().toString(), "--function", "nvmlDeviceCreateGpuInstanceWithPlacement",
            "--delay-us", "8000000", "--times", "1");
        CompletableFuture<String> error =
            CompletableFuture.supplyAsync(() -> node.prepare(claim).getError(), Thread::startVirtualThread);
        await()
            .atMost(SOON)
            .until(() -> ask(port, "/healthz"), said -> said.startsWith("503 one operation on the node's claims has"));
        assertThat(error).isNotDone();
        assertThat(error.get(SOON.toSeconds(), TimeUnit.SECONDS)).isEmpty();
        await().atMost(SOON).until(() -> ask(port, "/healthz"), "200 ok"::equals);
      }
    }
  }

  /** Nobody else would end it: kubelet's startup probe has been answered, and no loop runs that could stand still. */
  @Test
  void aStartThatDoesNotEndIsSeenByTheLivenessProbe() throws Exception {
    try (TestNode node = TestNode.withCards("node-b", "t4")) {
      int port = TestNode.freePort();
      PluginSettings settings = node.settings("--health-port=" + port);
      CompletableFuture<KubernetesClient> made = new CompletableFuture<>();
      CompletableFuture<KubeletPlugin> started = CompletableFuture.supplyAsync(
          () -> KubeletPlugin.start(settings, plugin -> made.join(), PATIENCE, Duration.ofSeconds(1)),
          Thread::startVirtualThread);
      await().atMost(SOON).ignoreExceptions()
          .until(() -> ask(port, "/healthz"), said -> said.startsWith("503 the plugin has been starting for "));
      made.complete(client);
      try (KubeletPlugin _ = started.get(SOON.toSeconds(), TimeUnit.SECONDS)) {
        assertThat(ask(port, "/healthz")).isEqualTo("200 ok");
      }
    }
  }

  private KubeletPlugin start(PluginSettings settings, Duration allowed) {
    return KubeletPlugin.start(settings, plugin -> client, PATIENCE, allowed);
  }

  private static String ask(int port, String path) throws IOException, InterruptedException {
    try (HttpClient http = HttpClient.newHttpClient()) {
      HttpResponse<String> answer =
          http.send(HttpRequest.newBuilder(URI.create("http://localhost:" + port + path)).build(),
              HttpResponse.BodyHandlers.ofString());
      return answer.statusCode() + " " + answer.body().strip();
    }
  }

  private TestApi api() {
    return new TestApi(client);
  }
}
