package dev.partita.plugin;

import static dev.partita.plugin.TestClaims.claim;
import static dev.partita.plugin.TestClaims.whole;
import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.serving.access.FaultyApiServer.Fault;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import k8s.io.kubelet.pkg.apis.dra.v1.NodePrepareResourceResponse;
import org.junit.jupiter.api.Test;

/** A plugin ends, as for an update, while kubelet waits for its answer. */
class EndDuringCallTest {
  @Test
  void whatIsUnderWayIsDoneBeforeAnythingThatItNeedsGoes() throws Exception {
    try (TestNode node = TestNode.withCards("node-e", "h200x1");
        FaultyApi server = new FaultyApi()) {
      TestApi api = new TestApi(server.client);
      ResourceClaim claim = api.created(claim("ending", whole("node-e", "gpu", 0)));
      CountDownLatch asked = new CountDownLatch(1);
      CompletableFuture<NodePrepareResourceResponse> call;
      try (KubeletPlugin _ = TestNode.start(node.settings("--mig=true"), server.ofPlugin)) {
        api.statusWhen("node-e", status -> status.isReady());
        server.lateBy(Duration.ofSeconds(2)); // less than calls are waited for
        server.fail(request -> {
          if (!request.getPath().contains("/resourceclaims/ending")) {
            return Fault.NONE;
          }
          asked.countDown();
          return Fault.LATE;
        });
        call = CompletableFuture.supplyAsync(() -> node.prepare(claim), Thread::startVirtualThread);
        assertThat(asked.await(20, TimeUnit.SECONDS)).isTrue();
      }
      assertThat(call.get(20, TimeUnit.SECONDS).getError()).isEmpty();
      assertThat(node.cdiFile(claim)).exists();
    }
  }
}
