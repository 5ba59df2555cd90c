package dev.partita.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.partita.e2e.cluster.Ask;
import dev.partita.e2e.cluster.ClaimUnderTest;
import dev.partita.e2e.cluster.NeedsSteadyController;
import dev.partita.e2e.cluster.OnOwnNode;
import dev.partita.e2e.cluster.OnRealCluster;
import dev.partita.e2e.cluster.PodUnderTest;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.Workspace;
import org.junit.jupiter.api.Test;

@OnRealCluster
class ReleaseIT {
  @Test
  @OnOwnNode
  void whatOnePodGaveBackTheNextOneGets(RealCluster cluster, Workspace workspace) {
    String node = cluster.ownNode();
    PodUnderTest first =
        workspace.pod("first", node, Ask.wholeCards(RealCluster.CARDS), "exec sleep 600").awaitRunning();
    PodUnderTest waiting = workspace.pod("waiting", node, Ask.share("100Gi"), "partita-probe alloc 99Gi");
    assertThat(workspace.awaitEvent("ResourceClaim", waiting.claim().name(), "Unallocatable").message()).isNotBlank();
    assertThat(waiting.phase()).isEqualTo("Pending");
    first.deleteAndAwait();
    assertThat(waiting.awaitLog()).contains("CUDA_SUCCESS");
  }

  @Test
  void nothingIsLeftOnTheNodeOfAClaimThatWasReleased(RealCluster cluster, Workspace workspace) {
    String node = cluster.quietNodes().getFirst();
    PodUnderTest pod =
        workspace.pod("brief", node, Ask.share("3Gi"), "exec partita-probe hold 2Gi").awaitLine("holding");
    ClaimUnderTest claim = pod.claim();
    String uid = claim.uid();
    assertThat(cluster.files().tracesOf(uid, node)).contains("/var/run/cdi/", "/var/lib/partita/", "/run/partita/");
    pod.deleteAndAwait();
    await("traces of the claim").atMost(Workspace.PATIENCE)
        .untilAsserted(() -> assertThat(cluster.files().tracesOf(uid, node)).isEmpty());
    await("the claim").atMost(Workspace.PATIENCE).until(() -> claim.find().isEmpty());
  }

  @Test
  @NeedsSteadyController
  void aClaimOfItsOwnIsReleasedAndCanBeUsedAgain(RealCluster cluster, Workspace workspace) {
    String node = cluster.quietNodes().getFirst();
    ClaimUnderTest claim = workspace.claim("again", Ask.share("3Gi"));
    PodUnderTest first = workspace.podOf(claim, "first", node, "partita-probe alloc 2Gi");
    assertThat(first.awaitLog()).contains("CUDA_SUCCESS");
    await("release").atMost(Workspace.PATIENCE).until(() -> claim.devices().isEmpty());
    workspace.awaitEvent("ResourceClaim", claim.name(), "Released");
    first.deleteAndAwait();
    assertThat(workspace.podOf(claim, "second", node, "partita-probe alloc 2Gi").awaitLog()).contains("CUDA_SUCCESS");
  }

  @Test
  @NeedsSteadyController
  void aClaimCanBeUsedAgainWhileAPodThatIsOverStillNamesIt(RealCluster cluster, Workspace workspace) {
    String node = cluster.quietNodes().getFirst();
    ClaimUnderTest claim = workspace.claim("again", Ask.share("3Gi"));
    assertThat(workspace.podOf(claim, "first", node, "partita-probe alloc 2Gi").awaitLog()).contains("CUDA_SUCCESS");
    await("release").atMost(Workspace.PATIENCE).until(() -> claim.devices().isEmpty());
    workspace.awaitEvent("ResourceClaim", claim.name(), "Released");
    assertThat(workspace.podOf(claim, "second", node, "partita-probe alloc 2Gi").awaitLog()).contains("CUDA_SUCCESS");
  }
}
