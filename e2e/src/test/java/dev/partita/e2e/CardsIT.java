package dev.partita.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.e2e.cluster.Ask;
import dev.partita.e2e.cluster.ClaimUnderTest;
import dev.partita.e2e.cluster.OnRealCluster;
import dev.partita.e2e.cluster.PodUnderTest;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.Workspace;
import org.junit.jupiter.api.Test;

/** Whole cards, several cards, and one claim for several containers. */
@OnRealCluster
class CardsIT {
  @Test
  void aWholeCardIsTheDriversOwnWithoutAnythingOfOursInTheContainer(RealCluster cluster, Workspace workspace) {
    PodUnderTest pod =
        workspace.pod(
            "whole",
            cluster.quietNodes().getFirst(),
            Ask.wholeCards(1),
            """
                nvidia-smi --query-gpu=memory.total --format=csv,noheader
                partita-probe info
                partita-probe alloc 130Gi
                ls -d /etc/partita /run/partita 2>&1
                grep -e libcuda -e libnvidia-ml /proc/self/mountinfo
                find / -xdev -name 'libcuda-real*' -o -xdev -name 'libnvidia-ml-real*' | sed 's/^/ours: /'
                env | grep CUDA_DEVICE
                true
                """);
    assertThat(pod.awaitLog())
        .contains("143771 MiB")
        .contains("alloc 139586437120 CUDA_SUCCESS")
        .contains("/etc/partita: No such file")
        .contains("/run/partita: No such file")
        .contains("libcuda.so.580.95.05", "libnvidia-ml.so.580.95.05")
        .doesNotContain("/opt/partita", "ours:", "CUDA_DEVICE", "device 1");
  }

  @Test
  void twoSharesOfOneRequestAreOfTwoCards(RealCluster cluster, Workspace workspace) {
    PodUnderTest pod =
        workspace.pod(
            "two",
            cluster.quietNodes().getFirst(),
            Ask.share("16Gi").cores(10).cards(2),
            """
                partita-probe info
                partita-probe alloc 12Gi --device 0
                partita-probe alloc 12Gi --device 1
                partita-probe alloc 17Gi --device 1
                nvidia-smi -L | wc -l
                ls /etc/partita/shares | wc -l
                exec sleep 600
                """);
    pod.awaitLine("17179869184").awaitRunning();
    assertThat(pod.claim().awaitAllocated()).hasSize(2).extracting(result -> result.getDevice())
        .doesNotHaveDuplicates();
    pod.awaitLine("alloc 18253611008 CUDA_ERROR_OUT_OF_MEMORY");
    assertThat(pod.log())
        .containsPattern("device 0 uuid=GPU-\\S+ name=\"NVIDIA H200\" total=17179869184")
        .containsPattern("device 1 uuid=GPU-\\S+ name=\"NVIDIA H200\" total=17179869184")
        .containsSubsequence("alloc 12884901888 CUDA_SUCCESS", "alloc 12884901888 CUDA_SUCCESS");
    assertThat(pod.exec("partita-probe info | sed 's/.*uuid=//; s/ .*//' | sort -u | wc -l").strip()).isEqualTo("2");
  }

  @Test
  void containersThatShareAClaimAreHeldToItsMemoryTogether(RealCluster cluster, Workspace workspace) {
    String node = cluster.quietNodes().getLast();
    ClaimUnderTest claim = workspace.claim("both", Ask.share("10Gi"));
    PodUnderTest first =
        workspace.podOf(claim, "first", node, "exec partita-probe hold 8Gi").awaitLine("holding 8589934592");
    PodUnderTest second =
        workspace.podOf(
            claim,
            "second",
            node,
            """
                partita-probe mem
                partita-probe alloc 512Mi
                partita-probe alloc 3Gi
                echo status $?
                exec sleep 600
                """);
    assertThat(second.awaitLine("status").log())
        .containsPattern("free=[12]\\d{9} total=10737418240")
        .contains("alloc 536870912 CUDA_SUCCESS")
        .contains("alloc 3221225472 CUDA_ERROR_OUT_OF_MEMORY")
        .contains("status 3");
    first.deleteAndAwait();
    assertThat(second.exec("partita-probe alloc 9Gi")).as("what the other gave back can be had")
        .contains("alloc 9663676416 CUDA_SUCCESS");
  }

  @Test
  void aWholeCardAndSharesOfItExcludeEachOther(RealCluster cluster, Workspace workspace) {
    String node = cluster.quietNodes().getLast();
    String whole = workspace.pod("whole", node, Ask.wholeCards(1), "exec sleep 600").awaitRunning().claim()
        .awaitAllocated().getFirst().getDevice();
    String share = workspace.pod("share", node, Ask.share("1Gi"), "exec sleep 600").awaitRunning().claim()
        .awaitAllocated().getFirst().getDevice();
    assertThat(share).endsWith("-shared").isNotEqualTo(whole + "-shared");
  }
}
