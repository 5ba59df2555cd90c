package dev.partita.plugin;

import static dev.partita.plugin.TestClaims.claim;
import static dev.partita.plugin.TestClaims.share;
import static dev.partita.plugin.TestClaims.timeSlicing;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.partita.serving.access.MockApiServer;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Cards in turn, on the simulated driver and its nvidia-smi. */
@MockApiServer(crud = true)
class TimeSlicingOnANodeTest {
  @SuppressWarnings("NullAway.Init") // set by the extension
  KubernetesClient client;

  @Test
  void theDriversNvidiaSmiSetsTheTimeSliceAndTheNextPluginRestoresIt() throws Exception {
    try (TestNode node = TestNode.withCards("node-t", "h200x2")) {
      ResourceClaim first = inTurn(node, "first", "Long");
      ResourceClaim second = inTurn(node, "second", "Medium");
      try (KubeletPlugin _ = TestNode.start(node.settings(), client)) {
        assertThat(node.prepare(first).getError()).isEmpty();
        assertThat(timeSlices(node)).containsExactly("LONG", "DEFAULT");
        assertThat(node.prepare(second).getError()).isEmpty();
        assertThat(timeSlices(node)).containsExactly("MEDIUM", "DEFAULT");
        assertThat(node.unprepare(second)).isEmpty();
      }
      try (KubeletPlugin _ = TestNode.start(node.settings(), client)) {
        assertThat(timeSlices(node)).containsExactly("LONG", "DEFAULT");
        assertThat(node.unprepare(first)).isEmpty();
        assertThat(timeSlices(node)).containsExactly("DEFAULT", "DEFAULT");
      }
    }
  }

  @Test
  void twoContainersSeeAllOfTheCardAndWhatOneTakesTheOtherLacks() throws Exception {
    try (TestNode node = TestNode.withCards("node-u", "h200")) {
      assumeTrue(TestContainer.canRun(node.root), "no mount namespace with an overlay on this machine");
      try (KubeletPlugin _ = TestNode.start(TestContainer.settings(node), client)) {
        TestContainer first = TestContainer.of(node, inTurn(node, "first", "Short"));
        TestContainer second = TestContainer.of(node, inTurn(node, "second", "Default"));
        assertThat(first.run("info")).contains("device 0 ").containsPattern("total=15\\d{10}");
        assertThat(second.run("alloc", "100Gi")).contains("CUDA_SUCCESS");
        try (TestContainer.Running _ = first.hold("100Gi")) {
          assertThat(second.run("alloc", "100Gi")).contains("CUDA_ERROR_OUT_OF_MEMORY");
        }
      }
    }
  }

  private ResourceClaim inTurn(TestNode node, String name, String interval) {
    return client.resource(claim(name, List.of(timeSlicing(interval)), share(node.name, "gpu", 0, "140Gi", "")))
        .create();
  }

  private static List<String> timeSlices(TestNode node) throws Exception {
    ProcessBuilder builder = new ProcessBuilder(node.driverRoot().resolve("usr/bin/nvidia-smi").toString(),
        "compute-policy", "--list").redirectErrorStream(true);
    builder.environment().put("LD_LIBRARY_PATH", node.driverRoot().resolve("usr/lib/x86_64-linux-gnu").toString());
    Process process = builder.start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return said.lines().map(line -> line.substring(line.lastIndexOf(' ') + 1)).toList();
  }
}
