package dev.partita.plugin;

import static dev.partita.plugin.TestClaims.claim;
import static dev.partita.plugin.TestClaims.share;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.partita.api.Driver;
import dev.partita.api.node.GpuNode;
import dev.partita.api.resize.AskedSize;
import dev.partita.api.resize.GrantedSize;
import dev.partita.api.resize.GrantedSizes;
import dev.partita.api.resize.NodeResizes;
import dev.partita.api.resize.ShareSize;
import dev.partita.serving.access.MockApiServer;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

/** A share gets another size while a process in its container uses it. */
@MockApiServer(crud = true)
class ResizeInAContainerTest {
  private static final Duration SOON = Duration.ofSeconds(60);
  private static final long GIB = 1L << 30;

  @SuppressWarnings("NullAway.Init") // set by the extension
  KubernetesClient client;

  @Test
  void aLargerShareIsHadAtOnceAndASmallerOneOnceItsProcessesHoldNoMore() throws Exception {
    try (TestNode node = TestNode.withCards("node-r", "h200x1")) {
      assumeTrue(TestContainer.canRun(node.root), "no mount namespace with an overlay on this machine");
      try (KubeletPlugin _ = TestNode.start(settings(node), client)) {
        ResourceClaim claim = client.resource(claim("c", share("node-r", "gpu", 0, "8Gi", ""))).create();
        TestContainer container = TestContainer.of(node, claim);
        try (TestContainer.Running _ = container.hold("4Gi")) {
          assertThat(container.run("alloc", "6Gi")).contains("CUDA_ERROR_OUT_OF_MEMORY");
          grant(claim, new ShareSize(12 * GIB, 40));
          await().atMost(SOON).until(() -> node.quota(claim), text -> text.contains("memory 12884901888\n"));
          assertThat(node.quota(claim)).contains("cores 40\n");
          assertThat(container.run("alloc", "6Gi")).as("beside the process that was there before")
              .contains("CUDA_SUCCESS");
          awaitInForce("memory=12Gi,cores=40");

          grant(claim, new ShareSize(2 * GIB, 40));
          await().atMost(SOON).untilAsserted(() -> assertThat(note("ResizeWaits"))
              .matches(
                  "its processes hold 4\\.\\d GiB of GPU-\\S+; it has 2 GiB there once they hold no more than that"));
          assertThat(node.quota(claim)).as("it keeps what it has meanwhile").contains("memory 12884901888\n");
        }
        await().atMost(SOON).until(() -> node.quota(claim), text -> text.contains("memory 2147483648\n"));
        awaitInForce("memory=2Gi,cores=40");
        assertThat(container.run("alloc", "3Gi")).contains("CUDA_ERROR_OUT_OF_MEMORY");
      }
      // what was granted while no plugin ran
      ResourceClaim claim = read();
      grant(claim, new ShareSize(3 * GIB, 40));
      try (KubeletPlugin _ = TestNode.start(settings(node), client)) {
        await().atMost(SOON).until(() -> node.quota(claim), text -> text.contains("memory 3221225472\n"));
        awaitInForce("memory=3Gi,cores=40");
      }
    }
  }

  @Test
  void aContainerThatRunsReadsItsNewSizeInItsDeviceMetadata() throws Exception {
    try (TestNode node = TestNode.withCards("node-r", "h200x1")) {
      assumeTrue(TestContainer.canRun(node.root), "no mount namespace with an overlay on this machine");
      try (KubeletPlugin _ = TestNode.start(settings(node), client)) {
        ResourceClaim claim = client.resource(claim("c", share("node-r", "gpu/large", 0, "8Gi", "25"))).create();
        TestContainer container = TestContainer.of(node, claim);
        String file = "/var/run/kubernetes.io/dra-device-attributes/resourceclaims/c/gpu/gpu.partita.dev-metadata.json";
        try (TestContainer.Running program = container.shell(
            "tr -d \"\\n \" <" + file + "; echo; while ! grep -q 12884901888 " + file
                + "; do sleep 0.01; done; tr -d \"\\n \" <" + file + "; echo")) {
          assertThat(program.firstLine()).contains("\"generation\":1}", "\"name\":\"gpu/large\"",
              "\"coreLimit\":{\"int\":25}", "\"memoryLimit\":{\"int\":8589934592}");
          grant(claim, new ShareSize(12 * GIB, 40));
          assertThat(program.nextLine()).contains("\"generation\":2}", "\"coreLimit\":{\"int\":40}",
              "\"memoryLimit\":{\"int\":12884901888}");
        }
      }
    }
  }

  /** Whatever else this machine does meanwhile is in the figures, so that they are printed, and held to little. */
  @Test
  void aProgramThatRunsHasALargerSizeAsSoonAsItIsWritten() throws Exception {
    try (TestNode node = TestNode.withCards("node-r", "h200x1")) {
      assumeTrue(TestContainer.canRun(node.root), "no mount namespace with an overlay on this machine");
      try (KubeletPlugin _ = TestNode.start(settings(node), client)) {
        ResourceClaim claim = client.resource(claim("c", share("node-r", "gpu", 0, "8Gi", ""))).create();
        TestContainer container = TestContainer.of(node, claim);
        try (TestContainer.Running program = container.allocatesOnceItCan("10Gi")) {
          assertThat(program.firstLine()).contains("CUDA_ERROR_OUT_OF_MEMORY");
          grant(claim, new ShareSize(12 * GIB, 0));
          Instant told = Instant.now();
          assertThat(program.nextLine()).contains("CUDA_SUCCESS");
          Instant had = Instant.now();
          Instant written = Files.getLastModifiedTime(node.quotaFile(claim)).toInstant();
          Duration seen = Duration.between(written, had);
          System.out.printf("a larger size: %d ms from the GpuNode's status to the program, %d of them from the file%n",
              Duration.between(told, had).toMillis(), seen.toMillis());
          assertThat(seen).isLessThan(Duration.ofSeconds(1));
        }
      }
    }
  }

  @Test
  void aShareThatIsPreparedAfterItWasResizedHasItsNewSize() throws Exception {
    try (TestNode node = TestNode.withCards("node-r", "h200x1");
        KubeletPlugin _ = TestNode.start(settings(node), client)) {
      ResourceClaim claim = client.resource(claim("c", share("node-r", "gpu", 0, "8Gi", ""))).create();
      grant(claim, new ShareSize(12 * GIB, 0));
      node.prepare(claim);
      assertThat(node.quota(claim)).contains("memory 12884901888\n");
      awaitInForce("memory=12Gi,cores=0");
    }
  }

  @Test
  void aSizeThatTheCardHasNotIsNeverInForce() throws Exception {
    try (TestNode node = TestNode.withCards("node-r", "h200x1");
        KubeletPlugin _ = TestNode.start(settings(node), client)) {
      ResourceClaim claim = client.resource(claim("c", share("node-r", "gpu", 0, "8Gi", ""))).create();
      node.prepare(claim);
      ResourceClaim other = client.resource(claim("other", share("node-r", "gpu", 0, "100Gi", ""))).create();
      node.prepare(other);
      grant(claim, new ShareSize(100 * GIB, 0));
      await().atMost(SOON).untilAsserted(() -> {
        assertThat(tell.getAsBoolean()).isTrue();
        assertThat(note("ResizeWaits")).contains("with this claim its shares would hold");
      });
      assertThat(node.quota(claim)).contains("memory 8589934592\n");
    }
  }

  @Test
  void aSizeThatIsAskedForStandsInTheStatusThoughNobodyGrantsIt() throws Exception {
    try (TestNode node = TestNode.withCards("node-r", "h200x1");
        KubeletPlugin _ = TestNode.start(settings(node), client)) {
      ResourceClaim claim = client.resource(claim("c", share("node-r", "gpu", 0, "8Gi", ""))).create();
      node.prepare(claim);
      annotate(claim, Driver.RESIZE_ANSWER_ANNOTATION, "memory=9Ti: refused: no card has it");
      NodeResizes asked =
          new NodeResizes(List.of(), List.of(new AskedSize(claim.getMetadata().getUid(), "memory=9Ti")));
      await().atMost(SOON).ignoreExceptions().untilAsserted(() -> {
        client.resources(GpuNode.class).withName("node-r").editStatus(read -> {
          read.setStatus(read.getStatus().withResizes(asked));
          return read;
        });
        assertThat(String.valueOf(read().getStatus().getDevices().getFirst().getData()))
            .contains("sizeAsked=memory=9Ti");
      });
      assertThat(node.quota(claim)).contains("memory 8589934592\n");
    }
  }

  private BooleanSupplier tell = () -> true;

  /** What the controller does. */
  private void grant(ResourceClaim claim, ShareSize size) {
    String share = claim.getStatus().getAllocation().getDevices().getResults().getFirst().getShareID();
    annotate(claim, Driver.GRANTED_SIZES_ANNOTATION, new GrantedSizes(Map.of(share, size)).toString());
    List<GrantedSize> sizes =
        List.of(new GrantedSize(claim.getMetadata().getUid(), GrantedSizes.key(share), size.toString()));
    tell = () -> tell(sizes);
    await().atMost(SOON).ignoreExceptions().until(() -> tell(sizes));
  }

  /** The plugin may write the claim's status at the same time. */
  private void annotate(ResourceClaim claim, String key, String value) {
    await().atMost(SOON).ignoreExceptions().until(() -> client.resources(ResourceClaim.class).inNamespace("default")
        .withName(claim.getMetadata().getName()).edit(read -> new ResourceClaimBuilder(read).editMetadata()
            .addToAnnotations(key, value).endMetadata().build())
        != null);
  }

  /** A real API server refuses a stale write of the plugin's over it; this one lets it through, so it is told again. */
  private boolean tell(List<GrantedSize> sizes) {
    return client.resources(GpuNode.class).withName("node-r").get().getStatus().grantedSizes().equals(sizes)
        || client.resources(GpuNode.class).withName("node-r").editStatus(node -> {
          node.setStatus(node.getStatus().withResizes(new NodeResizes(sizes, node.getStatus().askedSizes())));
          return node;
        }) != null;
  }

  private void awaitInForce(String size) {
    await().atMost(SOON).untilAsserted(() -> {
      assertThat(tell.getAsBoolean()).isTrue();
      var devices = read().getStatus().getDevices();
      assertThat(devices).isNotEmpty();
      assertThat(String.valueOf(devices.getFirst().getData())).contains("sizeInForce=" + size);
    });
  }

  private ResourceClaim read() {
    return Objects.requireNonNull(
        client.resources(ResourceClaim.class).inNamespace("default").withName("c").get());
  }

  private String note(String reason) {
    return client.events().v1().events().inNamespace("default").list().getItems().stream()
        .filter(event -> reason.equals(event.getReason())).map(Event::getNote).findFirst().orElse("");
  }

  private static PluginSettings settings(TestNode node) throws IOException {
    return TestContainer.settings(node, "--usage-period=0.1");
  }
}
