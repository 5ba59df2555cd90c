package dev.partita.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.partita.e2e.cluster.Ask;
import dev.partita.e2e.cluster.ClaimUnderTest;
import dev.partita.e2e.cluster.Daemons;
import dev.partita.e2e.cluster.Lab;
import dev.partita.e2e.cluster.NodeFiles;
import dev.partita.e2e.cluster.OnBrokenNode;
import dev.partita.e2e.cluster.OnRealCluster;
import dev.partita.e2e.cluster.PodTraits;
import dev.partita.e2e.cluster.PodUnderTest;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.Workspace;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Daemons end at any time; claims do not notice. */
@OnRealCluster
@OnBrokenNode
class RestartIT {
  @Test
  void aPluginThatRestartsBetweenPrepareAndUnprepareFinishesWhatItBegan(RealCluster cluster, Workspace workspace) {
    String node = cluster.brokenNode();
    Daemons daemons = new Daemons(cluster.client());
    PodUnderTest pod =
        workspace.pod("through", node, Ask.share("2Gi"), "exec partita-probe hold 1Gi").awaitLine("holding");
    ClaimUnderTest claim = pod.claim();
    String uid = claim.uid();
    daemons.replacePlugin(node);
    assertThat(pod.phase()).isEqualTo("Running");
    assertThat(pod.exec("partita-probe alloc 3Gi")).as("the limit holds throughout").contains("OUT_OF_MEMORY");
    PodUnderTest next = workspace.pod("after", node, Ask.share("2Gi"), "partita-probe alloc 1Gi");
    assertThat(next.awaitLog()).contains("CUDA_SUCCESS");
    pod.deleteAndAwait();
    await("traces").atMost(Workspace.PATIENCE)
        .untilAsserted(() -> assertThat(cluster.files().tracesOf(uid, node)).isEmpty());
  }

  @Test
  void whatIsReleasedWhileThePluginIsGoneIsUnpreparedWhenItIsBack(RealCluster cluster, Workspace workspace) {
    String node = cluster.brokenNode();
    Daemons daemons = new Daemons(cluster.client());
    PodUnderTest pod = workspace.pod("meanwhile", node, Ask.share("2Gi"), "exec sleep 600").awaitRunning();
    String uid = pod.claim().uid();
    daemons.killPlugin(node);
    pod.deleteAndAwait();
    daemons.awaitPlugin(node);
    await("traces").atMost(Workspace.PATIENCE)
        .untilAsserted(() -> assertThat(cluster.files().tracesOf(uid, node)).isEmpty());
  }

  @Test
  void aCorruptCheckpointIsSetAsideAndRebuilt(RealCluster cluster, Workspace workspace) {
    String node = cluster.brokenNode();
    Daemons daemons = new Daemons(cluster.client());
    PodUnderTest pod =
        workspace.pod("kept", node, Ask.share("2Gi"), "exec partita-probe hold 1Gi").awaitLine("holding");
    String uid = pod.claim().uid();
    String damaged =
        cluster.files().shell(
            node,
            """
                cd /var/lib/partita/claims
                for f in $(grep -l '%s' *); do
                  echo garbage > $f; basename $f
                done
                """
                .formatted(uid));
    assertThat(damaged).as("files of the checkpoint").isNotEmpty();
    daemons.replacePlugin(node);
    String record = damaged.lines().findFirst().orElseThrow();
    await("the record is set aside, by the plugin or by the one before it, and made anew")
        .atMost(Workspace.PATIENCE)
        .untilAsserted(
            () -> {
              assertThat(
                  cluster.files().shell(node, "find /var/lib/partita -name '%s.*' -exec cat {} +".formatted(record)))
                  .contains("garbage");
              assertThat(cluster.files().shell(node,
                  "find /var/lib/partita -name '%s' -exec grep -c '%s' {} +".formatted(record, uid))).isNotBlank();
            });
    assertThat(workspace.pod("next", node, Ask.share("2Gi"), "partita-probe alloc 1Gi").awaitLog())
        .contains("CUDA_SUCCESS");
    assertThat(pod.exec("partita-probe alloc 3Gi")).contains("OUT_OF_MEMORY");
    pod.deleteAndAwait();
    await("the claim's CDI spec and quota")
        .atMost(Workspace.PATIENCE)
        .untilAsserted(() -> assertThat(cluster.files().shell(node,
            "find /var/run/cdi /var/lib/partita/shares /run/partita -path '*%s*'".formatted(uid))).isEmpty());
  }

  @Test
  void slicesComeBackAfterKubeletRestarted(RealCluster cluster, Workspace workspace) {
    assumeTrue(cluster.lab().isPresent(), "only a lab's kubelets can be killed");
    String node = cluster.brokenNode();
    Daemons daemons = new Daemons(cluster.client());
    PodUnderTest pod =
        workspace.pod("stays", node, Ask.share("3Gi"), "exec partita-probe hold 1Gi").awaitLine("holding");
    List<String> before = daemons.awaitSlices(node).stream().map(slice -> slice.getMetadata().getUid()).toList();
    cluster.lab().orElseThrow().kill(node, "kubelet");
    cluster.lab().orElseThrow().start(node, "kubelet");
    await("slices made anew")
        .atMost(Workspace.PATIENCE)
        .until(() -> daemons.slices(node).stream().map(slice -> slice.getMetadata().getUid()).toList(),
            now -> !now.isEmpty() && now.stream().noneMatch(before::contains));
    assertThat(workspace.pod("fresh", node, Ask.share("2Gi"), "partita-probe alloc 1Gi").awaitLog())
        .contains("CUDA_SUCCESS");
    assertThat(pod.exec("partita-probe alloc 3Gi; partita-probe alloc 512Mi")).containsSubsequence("OUT_OF_MEMORY",
        "CUDA_SUCCESS");
  }

  /**
   * The lab's nodes cannot be booted. This takes from one what a boot takes: the processes of the pod and of the
   * plugin, and what lies in memory.
   */
  @Test
  void aPodHasItsShareAgainAfterAReboot(RealCluster cluster, Workspace workspace) {
    assumeTrue(cluster.lab().isPresent(), "only a lab's kubelets can be killed");
    Lab lab = cluster.lab().orElseThrow();
    String node = cluster.brokenNode();
    Daemons daemons = new Daemons(cluster.client());
    PodUnderTest pod =
        workspace.pod("booted", PodTraits.on(node).startedAgain(), Ask.share("3Gi"), "exec partita-probe hold 1Gi")
            .awaitLine("holding");
    String claim = pod.claim().uid();
    String plugin = daemons.awaitPlugin(node).getMetadata().getUid();
    lab.kill(node, "kubelet");
    try {
      assertThat(lab.shell(node, NodeFiles.signalling(plugin, "KILL"))).isNotBlank();
      assertThat(lab.shell(node, NodeFiles.signalling(pod.uid(), "KILL"))).isNotBlank();
      assertThat(lab.shell(node, "find /run/partita /var/run/cdi -mindepth 1 -delete; find /run/partita /var/run/cdi"))
          .doesNotContain(claim);
    } finally {
      lab.start(node, "kubelet");
    }
    pod.awaitStartedAgain(1).awaitLine("holding");
    assertThat(pod.exec("partita-probe alloc 3Gi; partita-probe alloc 512Mi")).containsSubsequence("OUT_OF_MEMORY",
        "CUDA_SUCCESS");
    pod.deleteAndAwait();
    await("traces").atMost(Workspace.PATIENCE)
        .untilAsserted(() -> assertThat(cluster.files().tracesOf(claim, node)).isEmpty());
  }

  @Test
  void aContainerThatEndsAfterAnUpgradeOfTheDriverIsStartedAgainWithTheNewOne(
      RealCluster cluster,
      Workspace workspace) {
    String node = cluster.brokenNode();
    PodUnderTest pod =
        workspace.pod("upgraded", PodTraits.on(node).startedAgain(), Ask.share("3Gi"), "exec partita-probe hold 1Gi")
            .awaitLine("holding");
    String uid = pod.claim().uid();
    String before = changeDriver(cluster, node, "999.1.2");
    try {
      assertThat(workspace.pod("at-once", node, Ask.share("2Gi"), "partita-probe alloc 1Gi").awaitLog())
          .as("before the node is read again").contains("CUDA_SUCCESS");
      await("a CDI spec of the new driver")
          .atMost(Workspace.PATIENCE)
          .until(() -> cluster.files().shell(node, "cat /var/run/cdi/*%s*".formatted(uid)),
              spec -> spec.contains(".so.999.1.2") && !spec.contains(".so." + before));
      pod.killProcesses();
      pod.awaitStartedAgain(1).awaitLine("holding");
      assertThat(pod.exec("partita-probe alloc 3Gi; partita-probe alloc 512Mi")).containsSubsequence("OUT_OF_MEMORY",
          "CUDA_SUCCESS");
    } finally {
      changeDriver(cluster, node, before);
    }
  }

  /** Gives the libraries of a node's driver another version; the one that they had. Who has them mapped keeps them. */
  private static String changeDriver(RealCluster cluster, String node, String version) {
    return cluster.files()
        .shell(
            node,
            """
                set -e
                cd "$(dirname "$(find /var/lib/partita/simulator -name libcuda.so.1)")"
                link=$(readlink libcuda.so.1); old=${link#libcuda.so.}
                for library in libcuda libnvidia-ml; do
                  mv $library.so.$old $library.so.%1$s
                  ln -sf $library.so.%1$s $library.so.1
                done
                echo $old
                """
                .formatted(version));
  }
}
