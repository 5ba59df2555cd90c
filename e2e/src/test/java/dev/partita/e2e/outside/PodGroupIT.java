package dev.partita.e2e.outside;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

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
 * Gangs of Kubernetes' own PodGroups, which kube-scheduler schedules as such, and their claims. The cluster has the
 * feature gates {@code GenericWorkload} and {@code DRAWorkloadResourceClaims} on, and serves {@value #API}; none of
 * that is so by default.
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

  @Test
  void podsOfAPodGroupWaitForItAndForEachOtherAndThenRunTogether(RealCluster cluster, Workspace workspace) {
    PodTraits member =
        PodTraits.on(cluster.quietNodes().getLast()).podGroup("train").gate(PodTraits.ALLOCATION_GATE);
    PodUnderTest first = workspace.pod("first", member, Ask.share("4Gi"), "partita-probe alloc 3Gi");
    await("why the pod waits").atMost(Workspace.PATIENCE).untilAsserted(
        () -> assertThat(explained(cluster, workspace, "first"))
            .contains("gang of PodGroup train: there is no PodGroup of that name"));

    gangOfTwo(workspace);
    awaitUnallocatable(workspace, first, "gang of PodGroup train: 1 of 2 pods are there");
    assertThat(explained(cluster, workspace, "first")).contains("gang of PodGroup train: 1 of 2 pods are there");
    assertThat(first.claim().devices()).isEmpty();

    PodUnderTest second = workspace.pod("second", member, Ask.share("5Gi"), "partita-probe alloc 4Gi");
    assertThat(first.awaitLog()).contains("CUDA_SUCCESS");
    assertThat(second.awaitLog()).contains("CUDA_SUCCESS");
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

  @Test
  void podsOfAPodGroupUseItsClaimTogether(RealCluster cluster, Workspace workspace) {
    workspace.template("ours", Ask.share("4Gi"));
    workspace.create(
        """
            apiVersion: %s
            kind: PodGroup
            metadata: {name: train}
            spec:
              schedulingPolicy: {gang: {minCount: 2}}
              resourceClaims: [{name: gpu, resourceClaimTemplateName: ours}]
            """.formatted(API));
    PodTraits member =
        PodTraits.on(cluster.quietNodes().getLast()).podGroup("train").gate(PodTraits.ALLOCATION_GATE);
    PodUnderTest first = workspace.podOfTemplate("ours", "first", member, "exec partita-probe hold 3Gi");
    PodUnderTest second = workspace.podOfTemplate("ours", "second", member, "exec sleep 600");

    first.awaitLine("holding");
    second.awaitRunning();
    assertThat(second.claim().name()).as("the claim of the PodGroup").isEqualTo(first.claim().name());
    assertThat(first.claim().get().getStatus().getReservedFor())
        .extracting(user -> user.getResource() + " " + user.getName()).containsExactly("podgroups train");
    assertThat(second.exec("partita-probe alloc 3Gi")).as("what the other pod has left of the share")
        .contains("OUT_OF_MEMORY");
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
