package dev.partita.e2e.outside;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.e2e.cluster.Ask;
import dev.partita.e2e.cluster.Daemons;
import dev.partita.e2e.cluster.NeedsSteadyController;
import dev.partita.e2e.cluster.OnRealCluster;
import dev.partita.e2e.cluster.PaperNode;
import dev.partita.e2e.cluster.PodTraits;
import dev.partita.e2e.cluster.PodUnderTest;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.Workspace;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Gangs of Kubernetes' own PodGroups, which kube-scheduler schedules as such. The cluster has the feature gate
 * {@code GenericWorkload} on, and serves {@value #API}; neither is so by default.
 */
@OnRealCluster
@NeedsSteadyController
class PodGroupIT {
  private static final String API = "scheduling.k8s.io/v1beta1";
  private static final String UNALLOCATABLE = "Unallocatable";

  @BeforeEach
  void servesPodGroups(RealCluster cluster) {
    assertThat(cluster.serves(API, "PodGroup")).as("the API server serves PodGroups").isTrue();
  }

  /** One card, and each of the two needs most of it. */
  @Test
  void aPodGroupForWhichThereIsNoRoomTakesNothing(RealCluster cluster, Workspace workspace) {
    try (PaperNode node = PaperNode.create(cluster.client(), workspace.namespace(), 1)) {
      new Daemons(cluster.client()).awaitSlices(node.name());
      gangOfTwo(workspace);
      PodTraits member = PodTraits.on(node.name()).podGroup("train").gate(PodTraits.ALLOCATION_GATE);
      PodUnderTest first = workspace.pod("first", member, Ask.share("100Gi"), "true");
      PodUnderTest second = workspace.pod("second", member, Ask.share("100Gi"), "true");

      awaitUnallocatable(workspace, first, "gang of PodGroup train: waits for pod second");
      PodUnderTest single = workspace.pod("single", node.name(), Ask.share("139Gi"), "true").awaitBound();
      assertThat(List.of(first, second)).allSatisfy(pod -> assertThat(pod.claim().devices()).isEmpty());
      assertThat(explained(cluster, workspace, "second")).contains("0 of 1 card");
      single.deleteOnPaper();
    }
  }

  private static void gangOfTwo(Workspace workspace) {
    workspace.create(
        "{apiVersion: %s, kind: PodGroup, metadata: {name: train}, spec: {schedulingPolicy: {gang: {minCount: 2}}}}"
            .formatted(API));
  }

  private static void awaitUnallocatable(Workspace workspace, PodUnderTest pod, String why) {
    workspace.awaitEvent("ResourceClaim", pod.claim().name(), UNALLOCATABLE, why);
  }

  private static String explained(RealCluster cluster, Workspace workspace, String pod) {
    return cluster.command().run(cluster.kubeconfigEnvironment(), "explain", "pod", pod, "-n", workspace.namespace())
        .out();
  }
}
