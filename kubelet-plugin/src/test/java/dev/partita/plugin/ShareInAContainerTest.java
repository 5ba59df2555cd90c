package dev.partita.plugin;

import static dev.partita.plugin.TestClaims.claim;
import static dev.partita.plugin.TestClaims.share;
import static dev.partita.plugin.TestClaims.whole;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.partita.serving.access.MockApiServer;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.client.KubernetesClient;
import org.junit.jupiter.api.Test;

/**
 * The CDI edits as they were written, applied in a mount namespace over this machine's own root, with real libraries.
 */
@MockApiServer(crud = true)
class ShareInAContainerTest {
  @SuppressWarnings("NullAway.Init") // set by the extension
  KubernetesClient client;

  @Test
  void aProgramSeesItsShareAndIsHeldToIt() throws Exception {
    try (TestNode node = TestNode.withCards("node-s", "h200x2")) {
      assumeTrue(TestContainer.canRun(node.root), "no mount namespace with an overlay on this machine");
      try (KubeletPlugin _ = TestNode.start(TestContainer.settings(node), client)) {
        TestContainer quarter =
            TestContainer.of(node, client.resource(claim("quarter", share("node-s", "gpu", 0, "8Gi", "25"))).create());
        TestContainer neighbour =
            TestContainer.of(node, client.resource(claim("neighbour", share("node-s", "gpu", 0, "20Gi", ""))).create());
        TestContainer whole = TestContainer.of(node, client.resource(claim("all", whole("node-s", "gpu", 1))).create());

        assertThat(quarter.run("info")).contains("device 0 uuid=GPU-", "total=8589934592").doesNotContain("device 1");
        assertThat(quarter.run("alloc", "6Gi")).contains("CUDA_SUCCESS");
        assertThat(quarter.run("alloc", "9Gi")).contains("CUDA_ERROR_OUT_OF_MEMORY");
        assertThat(neighbour.run("alloc", "9Gi")).contains("CUDA_SUCCESS");
        assertThat(whole.run("alloc", "100Gi")).contains("CUDA_SUCCESS");
        assertThat(quarter.smi()).contains("8192MiB");
      }
    }
  }

  @Test
  void anImagesOwnLibcudaInFrontDoesNotGetRoundTheShare() throws Exception {
    try (TestNode node = TestNode.withCards("node-i", "h200x1")) {
      assumeTrue(TestContainer.canRun(node.root), "no mount namespace with an overlay on this machine");
      try (KubeletPlugin _ = TestNode.start(TestContainer.settings(node), client)) {
        String driver = node.driverRoot() + "/usr/lib/x86_64-linux-gnu/libcuda.so.1";
        TestContainer carrying =
            TestContainer.of(node, client.resource(claim("held", share("node-i", "gpu", 0, "8Gi", ""))).create())
                .withFile(driver, "/usr/local/cuda/compat/libcuda.so.1")
                .withVariable("LD_LIBRARY_PATH=/usr/local/cuda/compat");

        assertThat(carrying.run("info")).contains("total=8589934592");
        assertThat(carrying.withoutHook("cover").run("info")).as("what the hook is for").contains("device 0 ")
            .doesNotContain("total=8589934592");
      }
    }
  }

  @Test
  void anImagesLibcudaForNewerDriversIsUsedBehindTheShare() throws Exception {
    try (TestNode node = TestNode.withCards("node-f", "h200x1")) {
      assumeTrue(TestContainer.canRun(node.root), "no mount namespace with an overlay on this machine");
      try (KubeletPlugin _ = TestNode.start(TestContainer.settings(node), client)) {
        TestContainer newer = withCompatLibrary(node, client.resource(
            claim("newer", share("node-f", "gpu", 0, "8Gi", ""))).create());

        assertThat(newer.inside("grep libcuda-real /proc/self/mountinfo")).contains(COMPAT_LIBRARY);
        assertThat(newer.run("info")).contains("total=8589934592");
        assertThat(newer.run("alloc", "6Gi")).contains("CUDA_SUCCESS");
        assertThat(newer.run("alloc", "9Gi")).contains("CUDA_ERROR_OUT_OF_MEMORY");
      }
    }
  }

  @Test
  void onGeForceCardsWhichRunNoLibcudaForNewerDriversTheHostsIsUsed() throws Exception {
    try (TestNode node = TestNode.withCards("node-g", "rtx4090x1")) {
      assumeTrue(TestContainer.canRun(node.root), "no mount namespace with an overlay on this machine");
      try (KubeletPlugin _ = TestNode.start(TestContainer.settings(node), client)) {
        TestContainer host = withCompatLibrary(node, client.resource(
            claim("host", share("node-g", "gpu", 0, "8Gi", ""))).create());

        assertThat(host.inside("grep libcuda-real /proc/self/mountinfo")).doesNotContain(COMPAT_LIBRARY);
        assertThat(host.run("info")).contains("total=8589934592");
      }
    }
  }

  private static final String COMPAT_LIBRARY = "/usr/local/cuda/compat/libcuda.so.999.10";

  private static TestContainer withCompatLibrary(TestNode node, ResourceClaim claim) throws Exception {
    return TestContainer.of(node, claim)
        .withFile(node.driverRoot() + "/usr/lib/x86_64-linux-gnu/libcuda.so.1", COMPAT_LIBRARY)
        .withVariable("LD_LIBRARY_PATH=/usr/local/cuda/compat");
  }
}
