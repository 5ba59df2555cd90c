package dev.partita.plugin;

import static dev.partita.plugin.TestClaims.claim;
import static dev.partita.plugin.TestClaims.share;
import static dev.partita.plugin.TestClaims.whole;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.partita.serving.access.MockApiServer;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import k8s.io.kubelet.pkg.apis.dra.v1.NodePrepareResourceResponse;
import org.junit.jupiter.api.Test;

/** A card is allocated anew while kubelet still has to release it, as after a pod was deleted by force. */
@MockApiServer(crud = true)
class ReleaseUnderWayTest {
  private static final Duration SOON = Duration.ofSeconds(20);

  @SuppressWarnings("NullAway.Init") // set by the extension
  KubernetesClient client;

  @Test
  void theNextClaimOnTheCardIsPreparedAsSoonAsKubeletHasReleasedTheOneThatIsGone() throws Exception {
    try (TestNode node = TestNode.withCards("node-x", "h100x2");
        KubeletPlugin _ = node.start(client)) {
      ResourceClaim gone = api().created(claim("gone", whole("node-x", "gpu", 0)));
      assertThat(node.prepare(gone).getError()).isEmpty();
      client.resource(gone).delete();
      ResourceClaim next = api().created(claim("next", whole("node-x", "gpu", 0)));
      ResourceClaim beside = api().created(claim("beside", share("node-x", "gpu", 1, "1Gi", "")));
      CompletableFuture<Map<String, NodePrepareResourceResponse>> call =
          underWay(() -> TestNode.prepareAll(node.draSocket(), Duration.ofSeconds(45), List.of(next, beside)));
      await("the other claim of the call").atMost(SOON).until(() -> Files.exists(node.cdiFile(beside)));
      assertThat(call).as("the card is not free yet").isNotDone();
      assertThat(node.cdiFile(next)).doesNotExist();

      assertThat(node.unprepare(gone)).isEmpty();
      assertThat(call.get(5, TimeUnit.SECONDS).values()).hasSize(2)
          .allSatisfy(one -> assertThat(one.getError()).isEmpty());
      assertThat(node.cdiFile(next)).exists();
    }
  }

  @Test
  void aClaimThatHasOtherDevicesByNowIsWaitedForAndOneThatStillHasItsCardIsNot() throws Exception {
    try (TestNode node = TestNode.withCards("node-y", "h100x2");
        KubeletPlugin _ = node.start(client)) {
      ResourceClaim moved = api().created(claim("moved", whole("node-y", "gpu", 0)));
      assertThat(node.prepare(moved).getError()).isEmpty();
      ResourceClaim next = api().created(claim("next", whole("node-y", "gpu", 0)));
      long asked = System.nanoTime();
      assertThat(TestNode.prepare(node.draSocket(), Duration.ofSeconds(45), next).getError())
          .contains("claim default/moved", "prepared");
      assertThat(Duration.ofNanos(System.nanoTime() - asked)).as("nothing to wait for").isLessThan(SOON);

      ResourceClaim stored = api().stored("moved");
      stored.getStatus().setAllocation(null);
      client.resource(stored).updateStatus();
      ResourceClaim beside = api().created(claim("beside", share("node-y", "gpu", 1, "1Gi", "")));
      CompletableFuture<Map<String, NodePrepareResourceResponse>> call =
          underWay(() -> TestNode.prepareAll(node.draSocket(), Duration.ofSeconds(45), List.of(next, beside)));
      await("the other claim of the call").atMost(SOON).until(() -> Files.exists(node.cdiFile(beside)));
      assertThat(call).as("the card is not free yet").isNotDone();
      assertThat(node.unprepare(moved)).isEmpty();
      assertThat(call.get(5, TimeUnit.SECONDS).values()).hasSize(2)
          .allSatisfy(one -> assertThat(one.getError()).isEmpty());
    }
  }

  @Test
  void aReleaseThatDoesNotComeIsSaidBeforeKubeletStopsWaiting() throws Exception {
    try (TestNode node = TestNode.withCards("node-z", "h100x1");
        KubeletPlugin _ = node.start(client)) {
      ResourceClaim gone = api().created(claim("gone", whole("node-z", "gpu", 0)));
      assertThat(node.prepare(gone).getError()).isEmpty();
      client.resource(gone).delete();
      ResourceClaim next = api().created(claim("next", whole("node-z", "gpu", 0)));
      NodePrepareResourceResponse answer = TestNode.prepare(node.draSocket(), Duration.ofSeconds(7), next);
      assertThat(answer.getError()).as("kubelet gives 45 s, this one 7").contains("claim default/gone", "prepared");
      assertThat(node.record(next)).doesNotExist();
      assertThat(node.unprepare(gone)).isEmpty();
      assertThat(node.prepare(next).getError()).isEmpty();
    }
  }

  /** On a thread of its own: the API's client needs the common pool. */
  private static <T> CompletableFuture<T> underWay(Supplier<T> call) {
    return CompletableFuture.supplyAsync(call, Thread::startVirtualThread);
  }

  private TestApi api() {
    return new TestApi(client);
  }
}
