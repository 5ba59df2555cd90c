package dev.partita.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.partita.e2e.cluster.Ask;
import dev.partita.e2e.cluster.ClaimUnderTest;
import dev.partita.e2e.cluster.OnRealCluster;
import dev.partita.e2e.cluster.PodUnderTest;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.Workspace;
import org.junit.jupiter.api.Test;

/** Shares that get another size while programs use them. */
@OnRealCluster
class ResizeIT {
  @Test
  void aRunningProgramHasMoreMemoryOnceItIsGrantedAndLessOnceItHoldsNoMore(RealCluster cluster, Workspace workspace) {
    String node = cluster.quietNodes().getFirst();
    PodUnderTest pod =
        workspace.pod("grows", node, Ask.share("2Gi").onCardOf("gpu-1"), "exec partita-probe hold 1Gi")
            .awaitLine("holding");
    ClaimUnderTest claim = pod.claim();
    assertThat(pod.exec("partita-probe alloc 2Gi")).contains("OUT_OF_MEMORY");
    assertThat(pod.deviceMetadata()).contains("\"generation\": 1\n", "\"int\": " + (2L << 30));

    claim.annotate("gpu.partita.dev/resize", "memory=4Gi");
    awaitInForce(claim, "memory=4Gi,cores=0");
    assertThat(claim.annotation("gpu.partita.dev/resize-answer")).isEqualTo("memory=4Gi: granted");
    assertThat(pod.exec("partita-probe alloc 2Gi")).as("beside the program that was there before")
        .contains("CUDA_SUCCESS");
    assertThat(pod.exec("nvidia-smi")).contains("/   4096MiB");
    assertThat(pod.deviceMetadata()).contains("\"generation\": 2\n", "\"int\": " + (4L << 30));
    assertThat(workspace.awaitEvent("ResourceClaim", claim.name(), "Resized").message()).contains("now 4 GiB of ");

    claim.annotate("gpu.partita.dev/resize", "memory=512Mi");
    assertThat(workspace.awaitEvent("ResourceClaim", claim.name(), "ResizeWaits").message())
        .contains("its processes hold 1.", "it has 512 MiB there once they hold no more than that");
    assertThat(claim.statusData()).contains("sizeInForce=memory=4Gi");
  }

  @Test
  void aPodThatWaitsGetsWhatASmallerShareGivesBack(RealCluster cluster, Workspace workspace) {
    String node = cluster.quietNodes().getLast();
    PodUnderTest large =
        workspace.pod("large", node, Ask.share("100Gi").onCardOf("gpu-1"), "exec sleep infinity").awaitRunning();
    PodUnderTest next =
        workspace.pod("next", node, Ask.share("60Gi").onCardOf("gpu-1"), "exec sleep infinity");
    workspace.awaitEvent("ResourceClaim", next.claim().name(), "Unallocatable");
    large.claim().annotate("gpu.partita.dev/resize", "memory=20Gi");
    next.awaitRunning();
    assertThat(large.exec("partita-probe alloc 21Gi")).contains("OUT_OF_MEMORY");
    assertThat(next.exec("partita-probe alloc 50Gi")).contains("CUDA_SUCCESS");
  }

  private static void awaitInForce(ClaimUnderTest claim, String size) {
    await("the size " + size + " to be in force").atMost(Workspace.PATIENCE)
        .until(claim::statusData, data -> data.contains("sizeInForce=" + size));
  }
}
