package dev.partita.plugin;

import static dev.partita.plugin.TestClaims.byMps;
import static dev.partita.plugin.TestClaims.claim;
import static dev.partita.plugin.TestClaims.share;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.partita.serving.access.MockApiServer;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Cards that claims share by MPS, on the simulated driver with its control daemon. */
@MockApiServer(crud = true)
class MpsOnANodeTest {
  private static final Duration SOON = Duration.ofSeconds(60);

  @SuppressWarnings("NullAway.Init") // set by the extension
  KubernetesClient client;

  @Test
  void oneDaemonServesTheClaimsOfACardOutlivesThePluginAndEndsWithTheLast() throws Exception {
    try (TestNode node = TestNode.withCards("node-m", "h200")) {
      ResourceClaim first = byMpsOn("first");
      ResourceClaim second = byMpsOn("second");
      ProcessHandle daemon;
      try (KubeletPlugin _ = TestNode.start(node.settings(), client)) {
        assertThat(node.prepare(first).getError()).isEmpty();
        daemon = daemon(node).orElseThrow();
        assertThat(node.prepare(second).getError()).isEmpty();
        assertThat(daemon(node)).contains(daemon);
        assertThat(node.unprepare(first)).isEmpty();
      }
      assertThat(daemon(node)).contains(daemon);
      try (KubeletPlugin _ = TestNode.start(node.settings(), client)) {
        assertThat(node.prepare(second).getError()).isEmpty();
        assertThat(daemon(node)).contains(daemon);
        assertThat(node.unprepare(second)).isEmpty();
        assertThat(daemon.info().command()).as("its program").isEmpty();
        assertThat(node.root.resolve("run/mps")).isEmptyDirectory();
      } finally {
        daemon.destroyForcibly();
      }
    }
  }

  @Test
  void aDaemonThatIsKilledIsBegunAnewAndItsClaimSaysSo() throws Exception {
    try (TestNode node = TestNode.withCards("node-m", "h200");
        KubeletPlugin _ = TestNode.start(node.settings(), client)) {
      ResourceClaim claim = byMpsOn("killed");
      assertThat(node.prepare(claim).getError()).isEmpty();
      ProcessHandle first = daemon(node).orElseThrow();
      try {
        first.destroyForcibly();
        await().atMost(SOON).until(() -> daemon(node).filter(daemon -> daemon.pid() != first.pid()).isPresent());
        assertThat(new TestApi(client).eventWhen("killed", "MpsDaemonEnded", 1).getNote()).contains("begun anew");
      } finally {
        assertThat(node.unprepare(claim)).isEmpty();
      }
      assertThat(daemon(node)).isEmpty();
    }
  }

  @Test
  void twoContainersAreClientsOfTheDaemonAndEachIsHeldToItsMemory() throws Exception {
    try (TestNode node = TestNode.withCards("node-m", "h200")) {
      assumeTrue(TestContainer.canRun(node.root), "no mount namespace with an overlay on this machine");
      ResourceClaim first = byMpsOn("first");
      ResourceClaim second = byMpsOn("second");
      try (KubeletPlugin _ = TestNode.start(TestContainer.settings(node), client)) {
        TestContainer one = TestContainer.of(node, first);
        TestContainer two = TestContainer.of(node, second);
        try (TestContainer.Running _ = one.hold("7Gi"); TestContainer.Running _ = two.hold("7Gi")) {
          String server = mps(node, "get_server_list").strip();
          assertThat(server).matches("[0-9]+");
          assertThat(mps(node, "get_active_thread_percentage " + server)).isEqualTo("25.0\n");
          assertThat(mps(node, "get_client_list " + server).lines()).hasSize(2);
          assertThat(two.run("alloc", "9Gi")).contains("CUDA_ERROR_OUT_OF_MEMORY");
          assertThat(two.inside("env")).contains("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=25",
              "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT=0=8192M");
        }
        assertThat(node.unprepare(first)).isEmpty();
        assertThat(node.unprepare(second)).isEmpty();
        assertThat(daemon(node)).isEmpty();
      }
    }
  }

  private ResourceClaim byMpsOn(String name) {
    return client.resource(claim(name, List.of(byMps()), share("node-m", "gpu", 0, "8Gi", "25"))).create();
  }

  private static Path pipe(TestNode node) throws IOException {
    try (var cards = Files.exists(node.root.resolve("run/mps"))
        ? Files.list(node.root.resolve("run/mps"))
        : java.util.stream.Stream.<Path>empty()) {
      return cards.findFirst().map(card -> card.resolve("pipe")).orElse(node.root.resolve("none"));
    }
  }

  private static Optional<ProcessHandle> daemon(TestNode node) throws IOException {
    Path file = pipe(node).resolve("nvidia-cuda-mps-control.pid");
    if (!Files.exists(file)) {
      return Optional.empty();
    }
    String number = Files.readString(file).strip();
    return number.isEmpty()
        ? Optional.empty()
        : ProcessHandle.of(Long.parseLong(number))
            .filter(daemon -> daemon.info().command().isPresent());
  }

  private static String mps(TestNode node, String command) throws IOException {
    ProcessBuilder builder =
        new ProcessBuilder(node.driverRoot().resolve("usr/bin/nvidia-cuda-mps-control").toString());
    builder.environment().put("CUDA_MPS_PIPE_DIRECTORY", pipe(node).toString());
    Process process = builder.start();
    try (var to = process.getOutputStream()) {
      to.write((command + "\n").getBytes(StandardCharsets.US_ASCII));
    }
    return new String(process.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
  }
}
