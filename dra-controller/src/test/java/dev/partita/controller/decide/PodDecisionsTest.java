package dev.partita.controller.decide;

import static dev.partita.controller.ClusterWithoutServer.key;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.DeviceMode;
import dev.partita.api.Driver;
import dev.partita.api.node.GpuNodeSpec;
import dev.partita.controller.ClaimForm;
import dev.partita.controller.ClusterWithoutServer;
import dev.partita.controller.GpuNodes;
import dev.partita.controller.booking.Booking;
import dev.partita.controller.inventory.CardKey;
import dev.partita.controller.nodes.PodRequests;
import dev.partita.controller.state.Nomination;
import dev.partita.controller.state.PodPlan;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is decided about a pod, and about a gang, case by case, in the words of {@link ClusterWithoutServer}. */
class PodDecisionsTest {
  private final ClusterWithoutServer cluster = new ClusterWithoutServer();

  @ParameterizedTest(name = "{0}")
  @CsvSource(delimiter = '|',
      textBlock = """
          # what                               | nodes   | running                  | gang                    | decided
          each beside those before it          | a:2     | x 1 a/0 140              | t0 0 70, t1 0 70        | t0 a/1, t1 a/1
          on several nodes                     | a:1 b:1 | c/y 1 a/0 10             | t0 0 whole, t1 0 100    | t0 b/0, t1 a/0
          none, if the last one has no place   | a:2     | x 1 a/0 100              | t0 0 100, t1 0 100      | t1 waits
          none, if the first one has no place  | a:2     | x 1 a/0 100, y 1 a/1 100 | t0 0 100, t1 0 10       | t0 waits
          """)
  void allOfAGangArePlacedOrNone(String what, String nodes, String running, String gang, String decided) {
    cluster.nodes(nodes);
    cluster.running(running);
    List<Pod> pods = cluster.gang(gang);
    String before = cluster.taken();
    GangDecision decision = cluster.decisions.placeAll(pods);
    assertThat(words(decision)).isEqualTo(decided);
    switch (decision) {
      case GangDecision.Placed(List<PodPlan> plans) -> {
        assertThat(plans).allSatisfy(plan -> assertThat(plan.claims().keySet())
            .allMatch(cluster.state.claims()::isAssumed));
        assertThat(pods).allMatch(pod -> cluster.state.loads().counts(pod.getMetadata().getUid()));
      }
      case GangDecision.NoPlace _,GangDecision.LeaveToScheduler _ ->
          assertThat(cluster.taken()).as("nothing is assumed").isEqualTo(before);
    }
  }

  private static String words(GangDecision decision) {
    return switch (decision) {
      case GangDecision.Placed(List<PodPlan> plans) ->
          plans.stream().map(plan -> plan.pod().getMetadata().getName() + " " + card(plan))
              .collect(Collectors.joining(", "));
      case GangDecision.LeaveToScheduler _ -> "left to kube-scheduler";
      case GangDecision.NoPlace(Pod pod, Decision.Wait _) -> pod.getMetadata().getName() + " waits";
      case GangDecision.NoPlace(Pod pod, Decision other) -> pod.getMetadata().getName() + " " + other;
    };
  }

  private static String card(PodPlan plan) {
    CardKey card = plan.outcome().bookings().getFirst().getFirst().card();
    return card.node() + "/" + card.index();
  }

  @Test
  void podsOfAGangThatShareAClaimGetItOnce() {
    cluster.nodes("a:1 b:1");
    List<Pod> gang =
        cluster.gang("t0 0 70, t1 0 70").stream()
            .map(pod -> new PodBuilder(pod).editSpec().editResourceClaim(0).withResourceClaimName("t0")
                .endResourceClaim().endSpec().build())
            .toList();
    assertThat(cluster.decisions.placeAll(gang))
        .isInstanceOfSatisfying(GangDecision.Placed.class, placed -> assertThat(placed.plans()).hasSize(1));
  }

  @ParameterizedTest(name = "{0} CPU each")
  @CsvSource(delimiter = '|', textBlock = """
      2 | t0 a/0
      3 | t0 waits
      """)
  void podsOfAGangThatShareAClaimAreOnItsNodeOnlyIfThereIsRoomForAllOfThem(String cpu, String decided) {
    cluster.node(withCpu("a", "4"), 1);
    List<Pod> gang = sharing(cluster.gang("t0 0 70, t1 0 70"), cpu);
    String before = cluster.taken();
    GangDecision decision = cluster.decisions.placeAll(gang);
    assertThat(words(decision)).isEqualTo(decided);
    if (decision instanceof GangDecision.NoPlace(Pod _, Decision.Wait wait)) {
      assertThat(cluster.taken()).as("nothing is assumed").isEqualTo(before);
      assertThat(wait.why().summary(WhyWaiting.MAX_EXPLANATION))
          .contains("no room for all pods of the gang that use the claim: too little CPU is free on the node");
    } else {
      assertThat(gang).allMatch(pod -> cluster.state.loads().counts(pod.getMetadata().getUid()));
    }
  }

  @Test
  void podsOfAGangThatShareAClaimPassOverNodesThatHaveNoRoomForAllOfThem() {
    for (int i = 0; i < 3; i++) {
      cluster.node(withCpu("a" + i, "4"), 1);
      cluster.running(key("r" + i), 0, new CardKey("a" + i, 0), "60Gi"); // which fits best
    }
    cluster.node(withCpu("b", "10"), 1);
    List<Pod> gang = new ArrayList<>(sharing(cluster.gang("t0 0 70, t1 0 70, t2 0 70"), "3"));
    gang.addAll(cluster.gang("u0 0 80"));
    GangDecision decision = cluster.decisions.placeAll(gang);
    assertThat(words(decision)).isEqualTo("t0 b/0, u0 a0/0");
    assertThat(gang).allMatch(pod -> cluster.state.loads().counts(pod.getMetadata().getUid()));
  }

  private static Node withCpu(String name, String cpu) {
    return new NodeBuilder().withNewMetadata().withName(name).endMetadata().withNewStatus()
        .addToAllocatable("cpu", new Quantity(cpu)).addToAllocatable("pods", new Quantity("10")).endStatus().build();
  }

  private static List<Pod> sharing(List<Pod> gang, String cpu) {
    return gang.stream()
        .map(pod -> new PodBuilder(pod).editSpec().editResourceClaim(0).withResourceClaimName("t0").endResourceClaim()
            .addNewContainer().withNewResources().addToRequests("cpu", new Quantity(cpu)).endResources().endContainer()
            .endSpec().build())
        .toList();
  }

  @Test
  void aGangIsKubeSchedulersWhereItAllocates() {
    cluster.nodeOfScheduler("a", 2);
    List<Pod> gang = cluster.gang("t0 0 70, t1 0 70");
    assertThat(cluster.decisions.placeAll(gang)).isEqualTo(new GangDecision.LeaveToScheduler());
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(delimiter = '|', textBlock = """
      # what; s are kube-scheduler's            | gang                                | needs | decided
      enough beside one that is passed over     | t0 0 200, s0 0 10, t1 0 10          | 2     | left to kube-scheduler
      too few, after one that is passed over    | t0 0 200, s0 0 10, t1 0 200         | 2     | t0 waits
      too few, before one that is passed over   | s0 0 10, t0 0 200, t1 0 200         | 2     | t0 waits
      too few, and none is to spare             | s0 0 10, t0 0 200                   | 2     | t0 waits
      """)
  void aGangIsKubeSchedulersOnlyIfAsManyAsItNeedsMayHaveAPlace(String what, String gang, int needs, String decided) {
    cluster.node(new NodeBuilder().withNewMetadata().withName("a").endMetadata()
        .withNewSpec().addNewTaint("NoSchedule", "only", null, "t").endSpec().build(), 1);
    cluster.nodeOfScheduler("b", 1);
    List<Pod> pods = cluster.gang(gang).stream()
        .map(pod -> pod.getMetadata().getName().startsWith("s")
            ? pod
            : new PodBuilder(pod).editSpec().addNewToleration("NoSchedule", "only", "Equal", null, "t").endSpec()
                .build())
        .toList();
    String before = cluster.taken();
    assertThat(words(cluster.decisions.place(pods, needs))).isEqualTo(decided);
    assertThat(cluster.taken()).as("nothing is assumed").isEqualTo(before);
  }

  @Test
  void aPodWaitsForItsClaimToBeMade() {
    cluster.nodes("a:1");
    Pod pod = ClusterWithoutServer.pod(key("p"), 0).build();
    assertThat(decide(pod)).isEqualTo(new Decision.ClaimMissing(List.of()));
    ResourceClaim claim = ClusterWithoutServer.claim(key("p"), "8Gi");
    cluster.put(
        new ResourceClaimBuilder(claim).editMetadata().withDeletionTimestamp("2026-01-01T00:00:00Z").endMetadata()
            .build());
    assertThat(decide(pod)).as("it is being deleted").isEqualTo(new Decision.ClaimMissing(List.of()));
    cluster.put(claim);
    assertThat(decide(pod)).isInstanceOf(Decision.Allocate.class);
  }

  @Test
  void nothingIsToBeDoneAsLongAsWhatWasDecidedIsBeingWritten() {
    cluster.nodes("a:1");
    Pod pod = cluster.waiting("p 0 8");
    cluster.state.assume(((Decision.Allocate) decide(pod)).plan());
    assertThat(decide(pod)).isEqualTo(new Decision.Nothing());
  }

  @Test
  void aPodWhoseClaimsAreAllocatedIsSettledOnTheirNode() {
    cluster.nodes("a:1 b:1");
    Pod pod = cluster.waiting("p 0 8");
    ResourceClaim claim = requireNonNull(cluster.claim(key("p")));
    cluster.put(ClusterWithoutServer.allocated(claim, new CardKey("b", 0), "8Gi", List.of()));
    assertThat(decide(pod)).isEqualTo(new Decision.Settled(Optional.of("b")));
  }

  @Test
  void aClaimGoesWhereAnotherOneOfThePodIs() {
    cluster.nodes("a:2 b:1");
    Pod pod = withClaim(cluster.waiting("p 0 8"), "second");
    cluster.put(ClusterWithoutServer.claim(key("second"), "8Gi"));
    ResourceClaim claim = requireNonNull(cluster.claim(key("p")));
    cluster.put(ClusterWithoutServer.allocated(claim, new CardKey("b", 0), "8Gi", List.of()));
    assertThat(card(((Decision.Allocate) decide(pod)).plan())).isEqualTo("b/0");
  }

  @Test
  void whatHalfAPodHasIsGivenBackIfTheOtherHalfHasNoPlace() {
    cluster.nodes("a:2 b:1");
    Pod pod = withClaim(cluster.waiting("p 0 100"), "second");
    cluster.put(pod);
    cluster.put(ClusterWithoutServer.claim(key("second"), "100Gi"));
    ResourceClaim claim = requireNonNull(cluster.claim(key("p")));
    cluster.put(ClusterWithoutServer.allocated(claim, new CardKey("b", 0), "100Gi", List.of()));
    assertThat(((Decision.Wait) decide(pod)).unused()).extracting(each -> each.getMetadata().getName())
        .containsExactly("p");
  }

  @Test
  void whatPodsHaveIsGivenBackIfAnotherClaimOfEachOfThemIsMissing() {
    cluster.nodes("a:1");
    Pod pod = withClaim(cluster.waiting("p 0 8"), "missing");
    cluster.put(pod);
    ResourceClaim claim = requireNonNull(cluster.claim(key("p")));
    cluster.put(ClusterWithoutServer.allocated(claim, new CardKey("a", 0), "8Gi", List.of()));
    cluster.put(
        withClaim(ClusterWithoutServer.pod(key("other"), 0).build(), "p"));
    assertThat(((Decision.ClaimMissing) decide(pod)).unused()).extracting(each -> each.getMetadata().getName())
        .containsExactly("p");
    Pod complete = ClusterWithoutServer.pod(key("third"), 0).editSpec().editResourceClaim(0)
        .withResourceClaimName("p").endResourceClaim().endSpec().build();
    cluster.put(complete);
    assertThat(((Decision.ClaimMissing) decide(pod)).unused()).as("that pod can use it").isEmpty();
  }

  @Test
  void whatAPodHasIsGivenBackIfAnotherClaimOfItIsRefused() {
    cluster.nodes("a:1");
    Pod pod = withClaim(cluster.waiting("p 0 8"), "refused");
    cluster.put(pod);
    ResourceClaim claim = requireNonNull(cluster.claim(key("p")));
    cluster.put(ClusterWithoutServer.allocated(claim, new CardKey("a", 0), "8Gi", List.of()));
    cluster.put(notUnderstood(ClusterWithoutServer.claim(key("refused"), "8Gi")));
    assertThat(((Decision.Refuse) decide(pod)).unused()).extracting(each -> each.getMetadata().getName())
        .containsExactly("p");
    cluster.put(ClusterWithoutServer.pod(key("other"), 0).editSpec().editResourceClaim(0)
        .withResourceClaimName("p").endResourceClaim().endSpec().build());
    assertThat(((Decision.Refuse) decide(pod)).unused()).as("that pod can use it").isEmpty();
  }

  private static ResourceClaim notUnderstood(ResourceClaim claim) {
    return new ResourceClaimBuilder(claim).editSpec().editDevices().editFirstRequest().editExactly().editCapacity()
        .addToRequests("speed", new Quantity("1")).endCapacity().endExactly().endRequest().endDevices().endSpec()
        .build();
  }

  private static Pod withClaim(Pod pod, String claim) {
    return new PodBuilder(pod).editSpec().addNewResourceClaim().withName(claim).withResourceClaimName(claim)
        .endResourceClaim().endSpec().build();
  }

  @Test
  void whatIsNotUnderstoodIsRefused() {
    cluster.nodes("a:1");
    Pod pod = cluster.waiting("p 0 8");
    cluster.put(notUnderstood(requireNonNull(cluster.claim(key("p")))));
    assertThat(decide(pod)).isInstanceOfSatisfying(Decision.Refuse.class,
        refused -> assertThat(refused.problems().values()).singleElement().asString().contains("speed"));
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(delimiter = '|', textBlock = """
      # what speaks against every node | why
      taint                            | the node has the taint gpus=none:NoSchedule
      cordon                           | the node is cordoned
      selector                         | the pod's nodeSelector does not match
      veto                             | kube-scheduler found no room for the pod there
      quota                            | namespace quota of-default: 0 bytes of 4 GiB memory, 8 GiB asked
      """)
  void aPodThatWaitsIsToldWhy(String what, String why) {
    NodeBuilder node = new NodeBuilder().withNewMetadata().withName("a").endMetadata().withNewSpec().endSpec();
    switch (what) {
      case "taint" -> node.editSpec().addNewTaint("NoSchedule", "gpus", null, "none").endSpec();
      case "cordon" -> node.editSpec().withUnschedulable(true).endSpec();
      default -> {}
    }
    cluster.node(node.build(), 1);
    PodBuilder pod = new PodBuilder(cluster.waiting("p 0 8"));
    switch (what) {
      case "selector" -> pod.editSpec().addToNodeSelector("pool", "b").endSpec();
      case "veto" -> cluster.vetoes.add("claim of default/p", "a", cluster.clock.instant());
      case "quota" -> cluster.guarantees("default 2 2");
      default -> {}
    }
    assertThat(decide(pod.build())).isInstanceOfSatisfying(Decision.Wait.class,
        wait -> assertThat(wait.why().summary(WhyWaiting.MAX_EXPLANATION)).endsWith(why));
  }

  @Test
  void aPartOfACardThatIsTooMuchForAQuotaIsLookedForOnSmallerCards() {
    cluster.node(GpuNodes.ready("large",
        new GpuNodeSpec(GpuNodeSpec.Allocator.Controller, List.of(GpuNodeSpec.PublishedMode.values()), null),
        GpuNodes.migCards("large", 1)));
    cluster.node(GpuNodes.ready("small", 1, "NVIDIA A30", 24 * GpuNodes.GIB));
    cluster.running("x 1 large/0 1"); // so that it would be packed there
    cluster.guarantees("default 10 0");
    Pod pod = cluster.waiting("p 0 8");
    ResourceClaim tenth = new ClaimForm("p", Driver.SHARE_CLASS).config(Map.of("memoryPercent", 10)).claim();
    cluster.put(
        new ResourceClaimBuilder(requireNonNull(cluster.claim(key("p")))).withSpec(tenth.getSpec()).build());
    assertThat(decide(pod)).isInstanceOfSatisfying(Decision.Allocate.class,
        allocate -> assertThat(card(allocate.plan())).isEqualTo("small/0"));
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(delimiter = '|',
      textBlock = """
          # what waits                          | nodes   | running     | quota       | asked   | one more node
          a share, of which none is free        | a:1     | x 1 a/0 140 |             | 8       | like a (1x h200) would do
          a whole card, and others are used     | a:1 b:2 | x 1 a/0 8   |             | whole 3 | like those that there are would not do
          more than any card has                | a:1     |             |             | 200     | like those that there are would not do
          a share, and no node is there         |         |             |             | 8       | like those that there are would not do
          more than its quota allows            | a:1     |             | default 2 2 | 8       | would not do: a quota is what keeps the pod waiting
          more than its quota, and none is free | a:1     | x 1 a/0 140 | default 2 2 | 8       | would not do: a quota is what keeps the pod waiting
          more than a card and its quota        | a:1     |             | default 2 2 | 200     | would not do: a quota is what keeps the pod waiting
          """)
  void whatOneMoreNodeWouldChange(
      String what,
      @Nullable String nodes,
      @Nullable String running,
      @Nullable String quota,
      String asked,
      String words) {
    Optional.ofNullable(nodes).ifPresent(cluster::nodes);
    Optional.ofNullable(running).ifPresent(cluster::running);
    Optional.ofNullable(quota).ifPresent(cluster::guarantees);
    String[] ask = asked.split(" ", -1);
    Pod pod = cluster.waiting("p 0 " + ask[0]);
    if (ask.length > 1) {
      cluster.put(
          new ResourceClaimBuilder(requireNonNull(cluster.claim(key("p")))).editSpec().editDevices().editFirstRequest()
              .editExactly().withCount(Long.valueOf(ask[1])).endExactly().endRequest().endDevices().endSpec().build());
    }
    NewNode newNode = newNode(pod);
    assertThat(newNode.words()).isEqualTo("one more node " + words);
    assertThat(newNode.mayHelp()).isEqualTo(!words.contains("quota"));
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(delimiter = '|', textBlock = """
      # the only node     | is a new one like it of use
      cordoned            | true
      not ready           | true
      vetoed              | true
      tainted             | false
      selected by a label | true
      of another label    | false
      named by the pod    | false
      named by a claim    | false
      """)
  void aNewNodeIsLikeAnotherOneButForItsNameAndState(String only, boolean isOfUse) {
    NodeBuilder node = new NodeBuilder().withNewMetadata().withName("a").addToLabels("kubernetes.io/hostname", "a")
        .addToLabels("pool", "gpus").endMetadata().withNewSpec().endSpec();
    switch (only) {
      case "cordoned" -> node.editSpec().withUnschedulable(true).endSpec();
      case "not ready" -> node.editSpec().addNewTaint("NoSchedule", "node.kubernetes.io/not-ready", null, null)
          .endSpec();
      case "tainted" -> node.editSpec().addNewTaint("NoSchedule", "gpus", null, "none").endSpec();
      default -> {}
    }
    cluster.node(node.build(), 1);
    cluster.running("x 1 a/0 140");
    PodBuilder pod = new PodBuilder(cluster.waiting("p 0 8"));
    switch (only) {
      case "vetoed" -> cluster.vetoes.add("claim of default/p", "a", cluster.clock.instant());
      case "selected by a label" -> pod.editSpec().addToNodeSelector("pool", "gpus").endSpec();
      case "of another label" -> pod.editSpec().addToNodeSelector("pool", "none").endSpec();
      case "named by the pod" -> pod.editSpec().addToNodeSelector("kubernetes.io/hostname", "a").endSpec();
      case "named by a claim" -> {
        ResourceClaim other = ClusterWithoutServer.claim(key("other"), "8Gi");
        cluster.put(ClusterWithoutServer.allocated(other, new CardKey("a", 0), "8Gi", List.of()));
        pod = new PodBuilder(withClaim(pod.build(), "other"));
      }
      default -> {}
    }
    assertThat(newNode(pod.build()))
        .isEqualTo(isOfUse ? new NewNode.Like("a", "1x h200") : new NewNode.OfOtherKind());
  }

  private NewNode newNode(Pod pod) {
    return ((Decision.Wait) decide(pod)).newNode().get();
  }

  @Test
  void whatIsKeptForAPodIsTakenForThoseOfItsPriorityAndFreeForHigherOnes() {
    cluster.nodes("a:1");
    Pod first = cluster.waiting("first 5 100");
    cluster.state.nominate(
        new Nomination(new Nomination.Preemptor("default/first", "default", 5),
            new Nomination.Place("a",
                List.of(List.of(new Booking(new CardKey("a", 0), DeviceMode.SHARED, 100 * GpuNodes.GIB, 0))),
                PodRequests.of(first)),
            List.of(), new Nomination.Grounds.Priority(),
            new Nomination.Awaited(Set.of(), Set.of(), cluster.clock.instant())));
    assertThat(decide(cluster.waiting("same 5 100"))).isInstanceOf(Decision.Wait.class);
    assertThat(decide(cluster.waiting("higher 6 100"))).isInstanceOf(Decision.Allocate.class);
    assertThat(decide(first)).as("its own").isInstanceOf(Decision.Allocate.class);
  }

  private Decision decide(Pod pod) {
    return cluster.decisions.of(pod);
  }
}
