package dev.partita.plugin;

import static dev.partita.plugin.TestClaims.claim;
import static dev.partita.plugin.TestClaims.config;
import static dev.partita.plugin.TestClaims.share;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.partita.api.Bytes;
import dev.partita.api.Driver;
import dev.partita.api.node.GpuNode;
import dev.partita.api.node.GpuNodeSpec;
import dev.partita.api.node.Lending;
import dev.partita.serving.access.MockApiServer;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** A share grows into memory that no claim has, while a process in its container uses it, and gives it back. */
@MockApiServer(crud = true)
class LendingInAContainerTest {
  private static final Duration SOON = Duration.ofSeconds(60);
  private static final long GIB = 1L << 30;

  @SuppressWarnings("NullAway.Init") // set by the extension
  KubernetesClient client;

  @Test
  void aShareUsesMoreThanIsItsOwnUntilAClaimNeedsIt() throws Exception {
    try (TestNode node = TestNode.withCards("node-l", "h200x1")) {
      assumeTrue(TestContainer.canRun(node.root), "no mount namespace with an overlay on this machine");
      int port = TestNode.freePort();
      try (KubeletPlugin _ = TestNode.start(settings(node, port), client)) {
        ResourceClaim borrower = client.resource(growing("borrower", "8Gi", "100Gi")).create();
        TestContainer container = TestContainer.of(node, borrower);
        awaitMemory(node, borrower, "100Gi");
        assertThat(metric(port, "partita_share_memory_recalled_bytes")).isZero();
        awaitStatus("borrower", "memoryLimit=100Gi", "guarantee=memory=8Gi,cores=0");
        ResourceClaim owner = client.resource(claim("owner", share("node-l", "gpu", 0, "90Gi", ""))).create();
        CompletableFuture<String> prepared;
        try (TestContainer.Running _ = container.hold("60Gi")) {
          prepared = started(() -> node.prepare(owner).getError());
          await().atMost(SOON).until(() -> note("MemoryRecalled"),
              said -> said.contains("memory that this claim was lent is needed"));
          assertThat(container.run("alloc", "1Gi")).as("it has no more new memory").contains("OUT_OF_MEMORY");
          assertThat(prepared).as("what is held has not come back").isNotDone();
          assertThat(memory(node.quota(borrower))).as("what the other claim leaves of the card's 140 GiB")
              .isBetween(48 * GIB, 50 * GIB);
          assertThat(metric(port, "partita_share_memory_recalled_bytes"))
              .isEqualTo((double) (100 * GIB - memory(node.quota(borrower))));
          assertThat(metric(port, "partita_share_memory_recall_overdue_seconds")).as("in its grace").isZero();
        }
        assertThat(prepared.get(60, TimeUnit.SECONDS)).isEmpty();
        await().atMost(SOON).until(() -> recalls(port, "returned"), count -> count == 1);
        assertThat(metric(port, "partita_share_memory_recalled_bytes")).isZero();
        assertThat(recalls(port, "killed")).isZero();
        assertThat(TestContainer.of(node, owner).run("alloc", "85Gi")).contains("CUDA_SUCCESS");

        assertThat(node.unprepare(owner)).isEmpty();
        awaitMemory(node, borrower, "100Gi");
      }
    }
  }

  @Test
  void whoeverKeepsWhatWasLentIsKilledAfterTheGraceAndNotBefore() throws Exception {
    try (TestNode node = TestNode.withCards("node-l", "h200x1")) {
      assumeTrue(TestContainer.canRun(node.root), "no mount namespace with an overlay on this machine");
      int port = TestNode.freePort();
      try (KubeletPlugin _ = TestNode.start(settings(node, port), client)) {
        graceOf(5);
        ResourceClaim borrower = client.resource(growing("borrower", "8Gi", "100Gi")).create();
        TestContainer container = TestContainer.of(node, borrower);
        awaitMemory(node, borrower, "100Gi");
        try (TestContainer.Running program = container.hold("60Gi")) {
          ResourceClaim owner = client.resource(claim("owner", share("node-l", "gpu", 0, "100Gi", ""))).create();
          CompletableFuture<String> prepared = started(() -> node.prepare(owner).getError());
          await().atMost(SOON).until(() -> note("MemoryRecalled"), said -> said.contains("in 5 s are killed"));
          assertThat(program.process().isAlive()).isTrue();
          assertThat(prepared.get(60, TimeUnit.SECONDS)).isEmpty();
          assertThat(note("ProcessKilled")).contains("its share held memory that it was lent, after it was asked back");
          await().atMost(SOON).until(() -> recalls(port, "killed"), count -> count == 1);
          assertThat(recalls(port, "returned")).isZero();
        }
        assertThat(container.run("alloc", "6Gi")).as("its own part is still its own").contains("CUDA_SUCCESS");
      }
    }
  }

  @Test
  void aPluginThatStartsAnewKnowsWhatWasLent() throws Exception {
    try (TestNode node = TestNode.withCards("node-l", "h200x1")) {
      ResourceClaim borrower = client.resource(growing("borrower", "8Gi", "100Gi")).create();
      try (KubeletPlugin _ = TestNode.start(settings(node), client)) {
        assertThat(node.prepare(borrower).getError()).isEmpty();
        awaitMemory(node, borrower, "100Gi");
      }
      String before = node.quota(borrower);
      try (KubeletPlugin _ = TestNode.start(settings(node), client)) {
        ResourceClaim owner = client.resource(claim("owner", share("node-l", "gpu", 0, "100Gi", ""))).create();
        assertThat(node.quota(borrower)).isEqualTo(before);
        assertThat(node.prepare(owner).getError()).isEmpty();
        assertThat(node.quota(borrower)).doesNotContain("memory " + 100 * GIB + "\n");
      }
    }
  }

  private static CompletableFuture<String> started(Supplier<String> call) {
    return CompletableFuture.supplyAsync(call, Thread::startVirtualThread);
  }

  private void graceOf(int seconds) {
    GpuNodeSpec spec = new GpuNodeSpec(GpuNodeSpec.Allocator.Controller, List.of(), null, null, List.of(), List.of(),
        List.of(), new Lending(null, seconds));
    await().atMost(SOON).ignoreExceptions().until(() -> {
      client.resources(GpuNode.class).withName("node-l").edit(node -> {
        node.setSpec(spec);
        return node;
      });
      return true;
    });
  }

  private static ResourceClaim growing(String name, String memory, String limit) {
    return claim(name, List.of(config("FromClaim", List.of(),
        Map.of("apiVersion", Driver.GROUP_VERSION, "kind", "GpuShareConfig", "memoryLimit", limit))),
        share("node-l", "gpu", 0, memory, ""));
  }

  private static void awaitMemory(TestNode node, ResourceClaim claim, String memory) {
    long bytes = Bytes.of(memory);
    await().atMost(SOON).until(() -> node.quota(claim), text -> text.contains("memory " + bytes + "\n"));
  }

  private static long memory(String quota) {
    return quota.lines().filter(line -> line.startsWith("memory "))
        .mapToLong(line -> Long.parseLong(line.substring("memory ".length()))).findFirst().orElseThrow();
  }

  private void awaitStatus(String claim, String... said) {
    await().atMost(SOON).untilAsserted(() -> {
      var devices = Objects.requireNonNull(
          client.resources(ResourceClaim.class).inNamespace("default").withName(claim).get()).getStatus().getDevices();
      assertThat(devices).isNotEmpty();
      assertThat(String.valueOf(devices.getFirst().getData())).contains(said);
    });
  }

  private String note(String reason) {
    return client.events().v1().events().inNamespace("default").list().getItems().stream()
        .filter(event -> reason.equals(event.getReason())).map(Event::getNote).findFirst().orElse("");
  }

  private static double metric(int port, String name) throws IOException, InterruptedException {
    return MetricsTest.value(port, name + "{", "claim=\"borrower\"");
  }

  private static double recalls(int port, String outcome) throws IOException, InterruptedException {
    return MetricsTest.value(port, "partita_plugin_memory_recalls_total{", "outcome=\"" + outcome + "\"");
  }

  private static PluginSettings settings(TestNode node, int metricsPort) throws IOException {
    return TestContainer.settings(node, "--usage-period=0.1", "--metrics-port=" + metricsPort,
        "--metrics-access=everybody", "--pod-resources-socket=" + node.root.resolve("none"));
  }

  private static PluginSettings settings(TestNode node) throws IOException {
    return TestContainer.settings(node, "--usage-period=0.1");
  }
}
