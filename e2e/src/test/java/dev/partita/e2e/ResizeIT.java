package dev.partita.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.partita.e2e.cluster.Ask;
import dev.partita.e2e.cluster.ClaimUnderTest;
import dev.partita.e2e.cluster.NeedsSteadyController;
import dev.partita.e2e.cluster.OnRealCluster;
import dev.partita.e2e.cluster.PartitaCommand.Outcome;
import dev.partita.e2e.cluster.PodUnderTest;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.Workspace;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
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
    assertThat(pod.exec("partita-probe alloc 1536Mi")).contains("OUT_OF_MEMORY");
    assertThat(pod.deviceMetadata()).contains("\"generation\": 1\n", "\"int\": " + (2L << 30));

    claim.annotate("gpu.partita.dev/resize", "memory=4Gi");
    awaitInForce(claim, "memory=4Gi,cores=0");
    assertThat(claim.annotation("gpu.partita.dev/resize-answer")).isEqualTo("memory=4Gi: granted");
    assertThat(pod.exec("partita-probe alloc 1536Mi")).as("beside the program that was there before")
        .contains("CUDA_SUCCESS");
    assertThat(pod.exec("nvidia-smi")).contains("/   4096MiB");
    assertThat(pod.deviceMetadata()).contains("\"generation\": 2\n", "\"int\": " + (4L << 30));
    assertThat(workspace.awaitEvent("ResourceClaim", claim.name(), "Resized").message()).contains("now 4 GiB of ");

    claim.annotate("gpu.partita.dev/resize", "memory=512Mi");
    assertThat(workspace.awaitEvent("ResourceClaim", claim.name(), "ResizeWaits").message())
        .contains("its processes hold 1.", "it has 512 MiB there once they hold no more than that");
    await("all three sizes in the status of " + claim.name()).atMost(Workspace.PATIENCE)
        .until(claim::statusData, data -> data.contains("sizeAsked=memory=512Mi,")
            && data.contains("sizeGranted=memory=512Mi,") && data.contains("sizeInForce=memory=4Gi,"));
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

  @Test
  void theCommandEndsWhenContainersAreHeldToTheSizeThatItAskedFor(RealCluster cluster, Workspace workspace) {
    PodUnderTest pod =
        workspace.pod("asks", cluster.quietNodes().getFirst(), Ask.share("2Gi"), "exec partita-probe hold 1Gi")
            .awaitLine("holding");
    ClaimUnderTest claim = pod.claim();
    Outcome resized =
        cluster.kubectlPartita("resize", "claim", claim.name(), "-n", workspace.namespace(), "--memory", "4Gi",
            "--cores", "40");
    assertThat(resized.status()).as(resized.out() + resized.err()).isZero();
    assertThat(resized.out()).startsWith("resourceclaim " + claim.name() + ": asked for memory=4Gi,cores=40\n")
        .endsWith("resourceclaim " + claim.name() + ": in force: memory=4Gi,cores=40\n");
    assertThat(resized.err()).isEmpty();
    assertThat(claim.annotation("gpu.partita.dev/resize")).isEqualTo("memory=4Gi,cores=40");
    assertThat(claim.annotation("gpu.partita.dev/resize-answer")).isEqualTo("memory=4Gi,cores=40: granted");
    assertThat(claim.annotation("gpu.partita.dev/granted-sizes")).endsWith("memory=4Gi,cores=40");
    assertThat(claim.statusData()).contains("sizeInForce=memory=4Gi,cores=40");
    assertThat(pod.exec("cat /etc/partita/shares/*/quota; partita-probe alloc 1Gi"))
        .contains("\nmemory 4294967296\n", "\ncores 40\n", "CUDA_SUCCESS");
  }

  @Test
  @NeedsSteadyController
  void aSizeBeyondTheCardIsRefusedInOneLineAndTheProgramGoesOnWithWhatItHas(RealCluster cluster, Workspace workspace) {
    String node = cluster.quietNodes().getFirst();
    PodUnderTest pod =
        workspace.pod("beyond", node, Ask.share("2Gi").onCardOf("gpu-2"), "exec partita-probe hold 512Mi")
            .awaitLine("holding");
    ClaimUnderTest claim = pod.claim();
    String why = "refused: card gpu-2 of node " + node + " has 139.8 GiB for shares";
    Outcome refused =
        cluster.kubectlPartita("resize", "claim", claim.name(), "-n", workspace.namespace(), "--memory", "200Gi");
    assertThat(refused.status()).isEqualTo(1);
    assertThat(refused.err()).isEqualTo("partita: " + why + "\n");
    assertThat(claim.annotation("gpu.partita.dev/resize-answer")).isEqualTo("memory=200Gi: " + why);
    assertThat(workspace.awaitEvent("ResourceClaim", claim.name(), "ResizeRefused").message())
        .isEqualTo("memory=200Gi: " + why);
    await("what is asked for in the status of " + claim.name()).atMost(Workspace.PATIENCE)
        .until(claim::statusData, data -> data.contains("sizeAsked=memory=200Gi"));
    goesOnWithTwoGibibytes(pod);
  }

  @Test
  @NeedsSteadyController // an old leader that has not ended yet may not know of the quota
  void aSizeBeyondTheQuotaWaitsForItToGrowAndSaysSoInOneLine(RealCluster cluster, Workspace workspace) {
    String namespace = workspace.namespace();
    workspace.createInCluster(
        """
            apiVersion: gpu.partita.dev/v1alpha1
            kind: GpuQuota
            metadata: {name: %1$s}
            spec: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %1$s}}, limits: [{guaranteed: {memory: 3Gi}}]}
            """
            .formatted(namespace));
    PodUnderTest pod =
        workspace.pod("held-back", cluster.quietNodes().getFirst(), Ask.share("2Gi"), "exec partita-probe hold 512Mi")
            .awaitLine("holding");
    ClaimUnderTest claim = pod.claim();
    Outcome waits =
        cluster.kubectlPartita("resize", "claim", claim.name(), "-n", namespace, "--memory", "4Gi", "--timeout", "10s");
    String answer = claim.annotation("gpu.partita.dev/resize-answer");
    assertThat(answer).startsWith("memory=4Gi: waits: ").contains("quota " + namespace, "3 GiB", "4 GiB");
    assertThat(waits.status()).isEqualTo(1);
    assertThat(waits.err()).isEqualTo("partita: waited 10 s for the new size to be in force; it goes on all the same: "
        + answer.substring("memory=4Gi: ".length()) + "\n");
    assertThat(workspace.awaitEvent("ResourceClaim", claim.name(), "ResizeWaits").message()).isEqualTo(answer);
    goesOnWithTwoGibibytes(pod);

    cluster.client().genericKubernetesResources("gpu.partita.dev/v1alpha1", "GpuQuota").withName(namespace).patch(
        PatchContext.of(PatchType.JSON_MERGE), "{\"spec\": {\"limits\": [{\"guaranteed\": {\"memory\": \"4Gi\"}}]}}");
    awaitInForce(claim, "memory=4Gi,cores=0");
  }

  /** From when the node's plugin puts the new quota in the place of the old one, by the node's own clock. */
  @Test
  void aProgramThatIsOutOfMemoryHasMoreWithinATenthOfASecond(RealCluster cluster, Workspace workspace) {
    PodUnderTest pod = workspace.pod("trains", cluster.quietNodes().getLast(), Ask.share("1Gi"),
        "exec partita-probe fill 100Gi --every 0.01");
    awaitFull(pod, 0);
    ClaimUnderTest claim = pod.claim();
    List<Long> milliseconds = new ArrayList<>();
    for (int resizes = 0; resizes < 10 && milliseconds.size() < 5; resizes++) {
      Quota before = Quota.of(pod);
      int growths = growths(pod).size();
      String size = "memory=" + (2 + resizes) + "Gi";
      claim.annotate("gpu.partita.dev/resize", size);
      awaitInForce(claim, size);
      awaitFull(pod, growths + 1);
      Quota after = Quota.of(pod);
      List<Instant> times = growths(pod);
      // else it was also changed for another reason: what its context takes was measured, and it has more by that, too
      if (after.generation() == before.generation() + 1 && times.size() == growths + 1) {
        milliseconds.add(Duration.between(after.since(), times.getLast()).toMillis());
      }
    }
    assertThat(milliseconds).as("until it had more, each time").hasSize(5);
    assertThat(milliseconds.stream().sorted().toList().get(2)).as("the median of %s", milliseconds).isBetween(-10L,
        100L);
  }

  /** Waits until its program is out of memory after it has had more so many times. */
  private static void awaitFull(PodUnderTest pod, int growths) {
    pod.awaitLine("out of memory");
    await("the program of pod " + pod.name() + " to be out of memory after growth " + growths)
        .atMost(Workspace.PATIENCE)
        .until(() -> growths(pod).size() >= growths && pod.log().endsWith(", out of memory\n"));
  }

  /** When its program had more again each time. */
  private static List<Instant> growths(PodUnderTest pod) {
    return pod.log().lines().filter(line -> line.contains(", more at "))
        .map(line -> line.replaceFirst(".*, more at ", "").split("\\."))
        .map(time -> Instant.ofEpochSecond(Long.parseLong(time[0]), Long.parseLong(time[1]))).toList();
  }

  /**
   * A share's quota file.
   *
   * @param since when it was put in the place of the one before
   */
  private record Quota(int generation, Instant since) {
    private static final DateTimeFormatter OF_STAT = DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss.SSSSSSSSS xx");

    static Quota of(PodUnderTest pod) {
      String[] said = pod.exec("cd /etc/partita/shares/*; sed -n 's/^generation //p' quota; stat -c %z quota").strip()
          .split("\n", 2);
      return new Quota(Integer.parseInt(said[0]), OffsetDateTime.parse(said[1], OF_STAT).toInstant());
    }
  }

  /** What a resize that came to nothing leaves: a program in a share of 2 GiB, of which it holds a quarter. */
  private static void goesOnWithTwoGibibytes(PodUnderTest pod) {
    assertThat(pod.phase()).isEqualTo("Running");
    assertThat(pod.claim().statusData()).doesNotContain("sizeInForce");
    assertThat(pod.log()).doesNotContain("released");
    assertThat(pod.exec("cat /etc/partita/shares/*/quota; partita-probe alloc 256Mi; partita-probe alloc 1Gi"))
        .contains("\nmemory 2147483648\n")
        .containsSubsequence("CUDA_SUCCESS", "OUT_OF_MEMORY");
  }

  private static void awaitInForce(ClaimUnderTest claim, String size) {
    await("the size " + size + " to be in force").atMost(Workspace.PATIENCE)
        .until(claim::statusData, data -> data.contains("sizeInForce=" + size));
  }
}
