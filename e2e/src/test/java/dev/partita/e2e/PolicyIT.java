package dev.partita.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.partita.e2e.cluster.Ask;
import dev.partita.e2e.cluster.Daemons;
import dev.partita.e2e.cluster.NeedsSteadyController;
import dev.partita.e2e.cluster.OnOwnNode;
import dev.partita.e2e.cluster.OnRealCluster;
import dev.partita.e2e.cluster.PaperNode;
import dev.partita.e2e.cluster.PodTraits;
import dev.partita.e2e.cluster.PodUnderTest;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.Workspace;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Who gets cards before whom, together with whom, and how much. */
@OnRealCluster
class PolicyIT {
  private static final String UNALLOCATABLE = "Unallocatable";

  @Test
  @NeedsSteadyController
  void aPodBeyondTheNamespacesQuotaWaitsAndSaysSoAndRunsOnceTheFirstIsGone(RealCluster cluster, Workspace workspace) {
    String node = cluster.quietNodes().getLast();
    String quota = workspace.namespace();
    limit(workspace, "{guaranteed: {memory: 8Gi}}");

    PodUnderTest first = workspace.pod("first", node, Ask.share("6Gi"), "exec sleep 600").awaitRunning();
    PodUnderTest second = workspace.pod("second", node, Ask.share("4Gi"), "partita-probe alloc 3Gi; exec sleep 600");

    workspace.awaitEvent("ResourceClaim", second.claim().name(), UNALLOCATABLE,
        "namespace quota " + quota + ": 6 GiB of 8 GiB memory, 4 GiB asked");
    awaitUse(workspace, "6Gi", "6 GiB of 8 GiB memory");
    assertThat(second.phase()).isEqualTo("Pending");
    assertThat(second.claim().devices()).isEmpty();

    first.deleteAndAwait();
    assertThat(second.awaitLine("alloc").log()).contains("CUDA_SUCCESS");
    awaitUse(workspace, "4Gi", "4 GiB of 8 GiB memory");
  }

  /** A quota of the workspace's namespace, with its name. */
  private static void limit(Workspace workspace, String limit) {
    workspace.createInCluster(
        """
            apiVersion: gpu.partita.dev/v1alpha1
            kind: GpuQuota
            metadata: {name: %1$s}
            spec:
              namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %1$s}}
              limits: [%2$s]
            """
            .formatted(workspace.namespace(), limit));
    await("the quota to count").atMost(Workspace.PATIENCE).until(() -> !quotaStatus(workspace).isEmpty());
  }

  private static void awaitUse(Workspace workspace, String memory, String fullest) {
    await("the quota to say that " + memory + " are used")
        .atMost(Workspace.PATIENCE)
        .untilAsserted(
            () -> {
              assertThat(quotaStatus(workspace).get("fullest")).isEqualTo(fullest);
              assertThat(String.valueOf(quotaStatus(workspace).get("used"))).contains("memory=" + memory, "claims=1");
            });
  }

  private static Map<String, Object> quotaStatus(Workspace workspace) {
    GenericKubernetesResource quota =
        workspace.client().genericKubernetesResources("gpu.partita.dev/v1alpha1", "GpuQuota")
            .withName(workspace.namespace()).get();
    return Optional.ofNullable(quota).map(q -> q.<Map<String, Object>>get("status")).orElse(Map.of());
  }

  @Test
  @NeedsSteadyController
  void nothingIsAllocatedToAGangBeforeItIsCompleteAndThenAllOfItRuns(RealCluster cluster, Workspace workspace) {
    PodTraits member = PodTraits.on(cluster.quietNodes().getLast()).gang("train", 2).gate(PodTraits.ALLOCATION_GATE);
    PodUnderTest first = workspace.pod("first", member, Ask.share("4Gi"), "partita-probe alloc 3Gi");
    workspace.awaitEvent("ResourceClaim", first.claim().name(), UNALLOCATABLE, "gang train: 1 of 2 pods are there");
    assertThat(first.claim().devices()).isEmpty();
    assertThat(first.gates()).containsExactly(PodTraits.ALLOCATION_GATE);

    PodUnderTest second = workspace.pod("second", member, Ask.share("5Gi"), "partita-probe alloc 4Gi");
    assertThat(first.awaitLog()).contains("CUDA_SUCCESS");
    assertThat(second.awaitLog()).contains("CUDA_SUCCESS");
  }

  /**
   * Three cards, and each member needs most of one: of the second gang only one would find a place, and it must not
   * take it.
   */
  @Test
  @NeedsSteadyController
  void ofTwoGangsThatHadHalfArrivedOneIsServedAndTheOtherHoldsNothingMeanwhile(
      RealCluster cluster,
      Workspace workspace) {
    try (PaperNode node = PaperNode.create(cluster.client(), workspace.namespace(), 3)) {
      new Daemons(cluster.client()).awaitSlices(node.name());
      PodUnderTest a0 = member(workspace, node, "a", 0);
      PodUnderTest b0 = member(workspace, node, "b", 0);
      for (PodUnderTest half : List.of(a0, b0)) {
        workspace.awaitEvent("ResourceClaim", half.claim().name(), UNALLOCATABLE, "1 of 2 pods are there");
      }
      List<PodUnderTest> a = List.of(a0, member(workspace, node, "a", 1));
      List<PodUnderTest> b = List.of(b0, member(workspace, node, "b", 1));

      await("one of the gangs to be bound").atMost(Workspace.PATIENCE).until(() -> areBound(a) || areBound(b));
      List<PodUnderTest> served = areBound(a) ? a : b;
      List<PodUnderTest> waiting = areBound(a) ? b : a;
      workspace.awaitEvent("ResourceClaim", waiting.getFirst().claim().name(), UNALLOCATABLE,
          ": waits for pod " + waiting.getLast().name());
      PodUnderTest single = workspace.pod("single", node.name(), Ask.share("139Gi"), "true").awaitBound();
      assertThat(waiting).allSatisfy(pod -> assertThat(pod.claim().devices()).isEmpty());
      assertThat(waiting).allSatisfy(pod -> assertThat(pod.gates()).containsExactly(PodTraits.ALLOCATION_GATE));

      single.deleteOnPaper();
      served.getFirst().deleteOnPaper();
      waiting.forEach(PodUnderTest::awaitBound);
    }
  }

  private static PodUnderTest member(Workspace workspace, PaperNode node, String gang, int number) {
    return workspace.pod(gang + number, PodTraits.on(node.name()).gang(gang, 2).gate(PodTraits.ALLOCATION_GATE),
        Ask.share("100Gi"), "true");
  }

  private static boolean areBound(List<PodUnderTest> pods) {
    return pods.stream().noneMatch(pod -> pod.node().isEmpty());
  }

  /** All priorities are below the default, so that no other test's pod is a victim. */
  @Test
  @NeedsSteadyController
  @OnOwnNode
  void aPodOfHigherPriorityEvictsTheLeastImportantThatADisruptionBudgetLetsGo(
      RealCluster cluster,
      Workspace workspace) {
    new Daemons(cluster.client()).awaitFreeCards(cluster.ownNode());
    PodTraits there = PodTraits.on(cluster.ownNode());
    PodUnderTest guarded = running(workspace, "guarded",
        there.priorityClass(workspace.priorityClass("lowest", -1000)).label("app", "guarded"), 1);
    PodUnderTest cheap = running(workspace, "cheap", there.priorityClass(workspace.priorityClass("low", -900)), 1);
    PodUnderTest dear = running(workspace, "dear", there.priorityClass(workspace.priorityClass("middle", -500)), 2);
    workspace.create(
        "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: guarded}, spec: {minAvailable: 1, selector: {matchLabels: {app: guarded}}}}");
    await("the budget to be counted")
        .atMost(Workspace.PATIENCE)
        .until(
            () -> Optional.ofNullable(budget(workspace).getStatus()).map(status -> status.getCurrentHealthy()).orElse(0)
                == 1);

    PodUnderTest urgent =
        workspace.pod("urgent", there.priorityClass(workspace.priorityClass("high", -100)), Ask.wholeCards(1),
            "partita-probe alloc 130Gi; exec sleep 600");

    String victim = workspace.namespace() + "/cheap";
    workspace.awaitEvent("ResourceClaim", urgent.claim().name(), UNALLOCATABLE,
        "preempts " + victim + " on " + cluster.ownNode());
    assertThat(workspace.awaitEvent("Pod", "cheap", "Preempted").message())
        .isEqualTo(
            "evicted to make room on %s for pod %s/urgent, whose priority is -100 (this pod's: -900)"
                .formatted(cluster.ownNode(), workspace.namespace()));
    cheap.awaitGone();
    assertThat(urgent.awaitLine("alloc").log()).contains("alloc 139586437120 CUDA_SUCCESS");
    assertThat(List.of(guarded, dear)).allSatisfy(pod -> assertThat(pod.isStaying()).isTrue());
    assertThat(workspace.events()).filteredOn(event -> event.reason().equals("Preempted")).hasSize(1);
  }

  @Test
  @NeedsSteadyController
  @OnOwnNode
  void allOfAGangGetsTheRoomOfPodsOfLowerPriority(RealCluster cluster, Workspace workspace) {
    new Daemons(cluster.client()).awaitFreeCards(cluster.ownNode());
    PodTraits there = PodTraits.on(cluster.ownNode());
    PodTraits low = there.priorityClass(workspace.priorityClass("low", -900));
    List<PodUnderTest> cheap = List.of(running(workspace, "cheap0", low, 1), running(workspace, "cheap1", low, 1));
    PodUnderTest dear = running(workspace, "dear", there.priorityClass(workspace.priorityClass("middle", -500)), 2);

    PodTraits member = there.priorityClass(workspace.priorityClass("high", -100)).gang("train", 2);
    List<PodUnderTest> gang = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      gang.add(workspace.pod("train" + i, member, Ask.wholeCards(1), "partita-probe alloc 130Gi; exec sleep 600"));
    }

    workspace.awaitEvent("ResourceClaim", gang.getLast().claim().name(), UNALLOCATABLE,
        "gang train: preempts " + workspace.namespace() + "/cheap");
    cheap.forEach(PodUnderTest::awaitGone);
    assertThat(gang)
        .allSatisfy(pod -> assertThat(pod.awaitLine("alloc").log()).contains("alloc 139586437120 CUDA_SUCCESS"));
    assertThat(dear.isStaying()).isTrue();
    assertThat(workspace.events()).filteredOn(event -> event.reason().equals("Preempted")).hasSize(2);
  }

  /** The priority is below the default, so that no other test's pod has a part in it. */
  @Test
  @NeedsSteadyController
  @OnOwnNode
  void whatANamespaceHasBorrowedIsTakenBackForOneToWhichItIsGuaranteed(RealCluster cluster, Workspace lender) {
    new Daemons(cluster.client()).awaitFreeCards(cluster.ownNode());
    try (Workspace borrower = lender.another()) {
      limit(lender, "{guaranteed: {cards: 1}}");
      limit(borrower, "{guaranteed: {cards: 3}, burst: {cards: 1}}");
      PodTraits there = PodTraits.on(cluster.ownNode()).priorityClass(lender.priorityClass("same", -100));
      PodUnderTest own = running(borrower, "own", there, 3);
      PodUnderTest borrowed = running(borrower, "borrowed", there, 1);
      await("the quota to say that something is borrowed").atMost(Workspace.PATIENCE)
          .until(() -> String.valueOf(quotaStatus(borrower).get("limits")).contains("borrows=true"));

      PodUnderTest owed = lender.pod("owed", there, Ask.wholeCards(1), "partita-probe alloc 130Gi; exec sleep 600");

      assertThat(borrower.awaitEvent("Pod", borrowed.name(), "Preempted").message())
          .as("a pod of another namespace is named by its UID alone")
          .contains("for pod " + owed.uid() + ",")
          .doesNotContain(lender.namespace(), "owed");
      borrowed.awaitGone();
      assertThat(owed.awaitLine("alloc").log()).contains("alloc 139586437120 CUDA_SUCCESS");
      assertThat(own.isStaying()).isTrue();
      await("the quota to say that nothing is borrowed").atMost(Workspace.PATIENCE)
          .until(() -> String.valueOf(quotaStatus(borrower).get("limits")).contains("borrows=false"));
    }
  }

  private static PodUnderTest running(Workspace workspace, String name, PodTraits traits, int cards) {
    return workspace.pod(name, traits, Ask.wholeCards(cards), "trap 'exit 0' TERM; sleep 600 & wait").awaitRunning();
  }

  private static PodDisruptionBudget budget(Workspace workspace) {
    return Objects.requireNonNull(workspace.client().policy().v1().podDisruptionBudget()
        .inNamespace(workspace.namespace()).withName("guarded").get());
  }
}
