package dev.partita.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.partita.e2e.cluster.OnRealCluster;
import dev.partita.e2e.cluster.PodUnderTest;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.Workspace;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.nio.file.Files;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/** The files in deploy/examples do what they say, as they are. */
@OnRealCluster
@Isolated("the examples choose no node, and may come to run on one that another test breaks or needs for itself")
class ExamplesIT {
  private static PodUnderTest apply(RealCluster cluster, Workspace workspace, String name) throws IOException {
    workspace.create(Files.readString(cluster.home().resolve("deploy/examples").resolve(name + ".yaml")));
    return new PodUnderTest(workspace, name);
  }

  @Test
  void quarterH200(RealCluster cluster, Workspace workspace) throws IOException {
    assertThat(apply(cluster, workspace, "quarter-h200").awaitLine("holding").log())
        .contains("8192MiB", "alloc 4294967296 CUDA_SUCCESS", "alloc 17179869184 CUDA_ERROR_OUT_OF_MEMORY");
  }

  @Test
  void wholeCard(RealCluster cluster, Workspace workspace) throws IOException {
    assertThat(apply(cluster, workspace, "whole-card").awaitLine("holding").log()).contains("143771MiB");
  }

  @Test
  void ownCard(RealCluster cluster, Workspace workspace) throws IOException {
    PodUnderTest pod = apply(cluster, workspace, "own-card").awaitLine("holding 153545080832");
    assertThat(pod.claim().awaitDeviceStatus().getFirst().getConditions().getFirst().getMessage())
        .contains("of it on the card) of NVIDIA H200", "nobody else on it");
  }

  @Test
  void growingMemory(RealCluster cluster, Workspace workspace) throws IOException {
    PodUnderTest pod = apply(cluster, workspace, "growing-memory").awaitLine("holding 7516192768");
    assertThat(pod.claim().awaitDeviceStatus().getFirst().getConditions().getFirst().getMessage())
        .contains("up to 40 GiB while no claim needs them");
  }

  @Test
  void timeSlicing(RealCluster cluster, Workspace workspace) throws IOException {
    PodUnderTest pod = apply(cluster, workspace, "time-slicing").awaitLine("holding 1073741824");
    assertThat(pod.log()).containsPattern("total=15\\d{10}");
    assertThat(pod.claim().awaitDeviceStatus().getFirst().getConditions().getFirst().getMessage())
        .contains("neither memory nor cores limited");
    PodUnderTest beside = new PodUnderTest(workspace, "time-slicing-beside").awaitLine("holding 1073741824");
    assertThat(beside.log()).containsPattern("total=15\\d{10}");
  }

  @Test
  void mps(RealCluster cluster, Workspace workspace) throws IOException {
    PodUnderTest pod = apply(cluster, workspace, "mps").awaitLine("holding 1073741824");
    assertThat(pod.log()).contains("total=8589934592", "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=25",
        "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT=0=8192M");
    assertThat(pod.claim().awaitDeviceStatus().getFirst().getConditions().getFirst().getMessage())
        .contains("by MPS at the same time as other claims");
    assertThat(new PodUnderTest(workspace, "mps-beside").awaitLine("holding 1073741824").log())
        .contains("total=8589934592");
  }

  @Test
  void twoCards(RealCluster cluster, Workspace workspace) throws IOException {
    assertThat(apply(cluster, workspace, "two-cards").awaitLine("holding").log())
        .contains("device 0", "device 1", "total=17179869184")
        .doesNotContain("OUT_OF_MEMORY");
  }

  @Test
  void sharedClaim(RealCluster cluster, Workspace workspace) throws IOException {
    apply(cluster, workspace, "shared-claim");
    await("the second container")
        .atMost(Workspace.PATIENCE)
        .ignoreException(KubernetesClientException.class) // no container to log yet
        .untilAsserted(
            () -> assertThat(workspace.client().pods().inNamespace(workspace.namespace()).withName("shared-claim")
                .inContainer("second").getLog())
                .contains("alloc 1073741824 CUDA_SUCCESS", "alloc 4294967296 CUDA_ERROR_OUT_OF_MEMORY",
                    "holding 1073741824"));
  }

  @Test
  void gang(RealCluster cluster, Workspace workspace) throws IOException {
    apply(cluster, workspace, "gang");
    await("both pods of the job to end well")
        .atMost(Workspace.PATIENCE)
        .until(
            () -> workspace.client().batch().v1().jobs().inNamespace(workspace.namespace()).withName("gang").get()
                .getStatus().getSucceeded(),
            succeeded -> Integer.valueOf(2).equals(succeeded));
  }
}
