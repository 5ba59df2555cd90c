package dev.partita.plugin;

import static dev.partita.plugin.TestClaims.claim;
import static dev.partita.plugin.TestClaims.share;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.partita.serving.access.MockApiServer;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import k8s.io.kubelet.pkg.apis.dra.v1.NodePrepareResourceResponse;
import org.junit.jupiter.api.Test;

/** A rolling update has the old and the new pod of the plugin on one node for a while. */
@MockApiServer(crud = true)
class HandoverTest {
  private static final Duration SOON = Duration.ofMinutes(2);

  @SuppressWarnings("NullAway.Init") // set by the extension
  KubernetesClient client;

  @Test
  void anOldAndANewPluginShareTheNodesStateAndTheNewOneGoesOnAlone() throws Exception {
    try (TestNode node = TestNode.withCards("node-h", "h200x1");
        PluginProcess next = new PluginProcess(node, client, "new", List.of())) {
      ResourceClaim before = client.resource(claim("before", share("node-h", "gpu", 0, "8Gi", ""))).create();
      ResourceClaim between = client.resource(claim("between", share("node-h", "gpu", 0, "8Gi", ""))).create();
      ResourceClaim tooMuch = client.resource(claim("too-much", share("node-h", "gpu", 0, "130Gi", ""))).create();
      Path old = node.root.resolve("plugins/gpu.partita.dev/dra-old.sock");
      NodePrepareResourceResponse first;
      try (KubeletPlugin _ = TestNode.start(node.settings("--pod-uid=old"), client)) {
        first = TestNode.prepare(old, before);
        assertThat(first.getError()).isEmpty();

        next.start();
        // a plugin that is still starting says so, and kubelet tries again
        NodePrepareResourceResponse again = await().atMost(SOON)
            .until(() -> TestNode.prepare(next.socket(), before), answer -> answer.getError().isEmpty());
        assertThat(again).as("the same answer").isEqualTo(first);
        assertThat(TestNode.prepare(next.socket(), between).getError()).isEmpty();
        assertThat(TestNode.prepare(old, tooMuch).getError()).as("the old one counts what the new one has given")
            .contains("would hold");
        assertThat(TestNode.unprepare(old, between)).isEmpty();
        assertThat(node.record(between)).doesNotExist();
      }
      assertThat(old).doesNotExist();
      assertThat(node.root.resolve("registry/gpu.partita.dev-new-reg.sock")).exists();
      assertThat(TestNode.prepare(next.socket(), before)).isEqualTo(first);
      assertThat(TestNode.unprepare(next.socket(), before)).isEmpty();
      assertThat(node.cdiFile(before)).doesNotExist();
      assertThat(next.end()).isZero();
      assertThat(next.socket()).doesNotExist();
    }
  }
}
