package dev.partita.controller.preempt;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.DeviceMode;
import dev.partita.controller.ClusterWithoutServer;
import dev.partita.controller.GpuNodes;
import dev.partita.controller.HeldClock;
import dev.partita.controller.booking.Booking;
import dev.partita.controller.decide.Decision;
import dev.partita.controller.inventory.CardKey;
import dev.partita.controller.state.Nomination;
import dev.partita.controller.state.Victim;
import dev.partita.controller.watch.ObjectKey;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimBuilder;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Whom preemption takes, case by case, in the words of {@link ClusterWithoutServer}. */
class PreemptionSearchTest {
  private final ClusterWithoutServer cluster = new ClusterWithoutServer();
  private final PreemptionSearch search =
      search(cluster.clock);

  @ParameterizedTest(name = "{0}")
  @CsvSource(delimiter = '|', textBlock = """
      # what                                     | nodes   | running                          | waits      | goes
      the least important                        | a:1     | low 1 a/0 60, mid 5 a/0 60       | p 10 60    | low
      nobody of the same priority                | a:1     | same 10 a/0 100                  | p 10 60    | nobody
      nobody of a higher one                     | a:1     | high 50 a/0 100                  | p 10 60    | nobody
      nobody in vain                             | a:1     | low 1 a/0 100                    | p 10 600   | nobody
      two, where one would not do                | a:1     | x 1 a/0 60, y 2 a/0 60           | p 10 140   | x y
      the important one alone, if it must go     | a:1     | x 1 a/0 20, y 5 a/0 100          | p 10 100   | y
      the one on the other node that matters less| a:1 b:1 | x 5 a/0 100, y 1 b/0 100         | p 10 100   | y
      fewer, if they matter alike                | a:1 b:1 | x 1 a/0 70, y 1 a/0 70, z 1 b/0 140 | p 10 140 | z
      fewer on one card for a whole one          | a:2     | x 1 a/0 9, y 1 a/0 9, z 1 a/1 9  | p 10 whole | z
      who has a whole card                       | a:1     | x 1 a/0 whole                    | p 10 8     | x
      nobody where there is a card on another node | a:1 b:1 | x 1 a/0 140                    | p 10 100   | nobody
      """)
  void ofLowerPriorityGoes(String what, String nodes, String running, String waits, String goes) {
    start(nodes, running);
    Pod pod = cluster.waiting(waits);
    assertThat(victims(pod)).isEqualTo(goes);
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(delimiter = '|',
      textBlock = """
          # what                              | guaranteed and burst         | running                                | waits    | goes
          one of whom borrows                 | default 70 70, b 70 70       | x 0 a/0 60, y 0 a/0 60                 | b/p 0 60 | x
          nobody, for nobody borrows          | default 140 0, b 70 70       | x 0 a/0 60, y 0 a/0 60                 | b/p 0 60 | nobody
          nobody for more than is guaranteed  | default 105 35, b 30 70      | w 0 a/0 35, x 0 a/0 35, y 0 a/0 35, z 0 a/0 35 | b/p 0 35 | nobody
          nobody for more than is borrowed    | default 105 35, b 70 0       | w 0 a/0 35, x 0 a/0 35, y 0 a/0 35, z 0 a/0 35 | b/p 0 70 | nobody
          no more than is borrowed            | default 105 35, b 30 30      | x 0 a/0 35, y 0 a/0 35, z 0 a/0 35, s 0 a/0 30 | b/p 0 30 | s
          the largest, if that alone will do  | default 120 20, b 100 0      | s 0 a/0 20, l 0 a/0 120                | b/p 0 100 | l
          nobody of a higher priority         | default 70 70, b 70 70       | x 1 a/0 60, y 1 a/0 60                 | b/p 0 60 | nobody
          whoever is less important, first    | default 70 70, b 70 70       | x 0 a/0 60, y 5 a/0 60                 | b/p 5 60 | x
          the less important one, though the other borrows | default 0 70, c 70 70, b 70 70 | x 5 a/0 70, c/y 0 a/0 70 | b/p 5 70 | c/y
          nobody, if nothing is guaranteed    | default 70 70                | x 0 a/0 60, y 0 a/0 60                 | b/p 0 60 | nobody
          """)
  void whoBorrowsWhatIsGuaranteedGoes(String what, String quotas, String running, String waits, String goes) {
    cluster.guarantees(quotas);
    start("a:1", running);
    Pod pod = cluster.waiting(waits);
    assertThat(victims(pod)).isEqualTo(goes);
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(delimiter = '|',
      textBlock = """
          # what                             | running                           | waits                  | goes
          for each of them one               | x 1 a/0 100, y 1 a/1 100          | t0 10 100, t1 10 100   | t0: y, t1: x
          for who has a place, nobody        | x 1 a/0 100                       | t0 10 100, t1 10 100   | t0: nobody, t1: x
          nobody for half of a gang          | x 1 a/0 100, y 50 a/1 100         | t0 10 100, t1 10 100   | nobody
          nobody for three where two fit     | x 1 a/0 100, y 1 a/1 100          | t0 10 100, t1 10 100, t2 10 100 | nobody
          one who makes room for both        | x 1 a/0 140, y 50 a/1 100         | t0 10 70, t1 10 70     | t0: x, t1: nobody
          nobody where all have a place      | x 1 a/0 100                       | t0 10 40, t1 10 40     | nobody
          """)
  void ofLowerPriorityGoesForAGang(String what, String running, String waits, String goes) {
    start("a:2", running);
    assertThat(victimsOfGang(waits)).isEqualTo(goes);
  }

  /** Only the node of kube-scheduler has a card for s, and t tolerates the other one's taint. */
  @Test
  void aPodThatIsLeftToKubeSchedulerDoesNotKeepAGangFromMakingRoom() {
    cluster.node(new NodeBuilder().withNewMetadata().withName("a").endMetadata()
        .withNewSpec().addNewTaint("NoSchedule", "only", null, "t").endSpec().build(), 1);
    cluster.nodeOfScheduler("b", 1);
    cluster.running("x 1 a/0 100");
    List<Pod> gang = cluster.gang("s 10 10, t 10 100");
    gang.set(1, new PodBuilder(gang.get(1)).editSpec().addNewToleration("NoSchedule", "only", "Equal", null, "t")
        .endSpec().build());
    assertThat(said(search(gang))).isEqualTo("t: x");
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(delimiter = '|', textBlock = """
      # what                                 | quotas                 | waits                  | goes
      for all of its pods                    | default 70 70, b 70 70 | b/t0 0 35, b/t1 0 35   | b/t0: x, b/t1: w
      nobody, if the gang would borrow itself| default 70 70, b 40 70 | b/t0 0 40, b/t1 0 30   | nobody
      nobody for more than is borrowed       | default 105 70, b 70 70 | b/t0 0 35, b/t1 0 35  | nobody
      """)
  void whoBorrowsWhatIsGuaranteedGoesForAGang(String what, String quotas, String waits, String goes) {
    cluster.guarantees(quotas);
    start("a:2", "w 0 a/0 35, x 0 a/0 35, y 0 a/1 35, z 0 a/1 35, c/v 9 a/0 70, c/u 9 a/1 70");
    assertThat(victimsOfGang(waits)).isEqualTo(goes);
  }

  @Test
  void podsOfAGangThatShareAClaimNeedOnePlace() {
    start("a:2", "x 1 a/0 100, y 1 a/1 100");
    ResourceClaim both = ClusterWithoutServer.claim(new ObjectKey("default", "both"), "100Gi");
    cluster.put(both);
    List<Pod> gang = new ArrayList<>();
    for (String name : List.of("t0", "t1")) {
      Pod pod =
          ClusterWithoutServer.pod(new ObjectKey("default", name), 10).editSpec().editResourceClaim(0)
              .withResourceClaimName("both").endResourceClaim().endSpec().build();
      cluster.put(pod);
      gang.add(pod);
    }
    assertThat(said(search(gang))).isEqualTo("t0: y");
  }

  @Test
  void allOfAGangAwaitAllVictims() {
    start("a:2", "x 1 a/0 100, y 1 a/1 100");
    assertThat(search(cluster.gang("t0 10 100, t1 10 100")).orElseThrow().values()).allSatisfy(nomination -> {
      assertThat(nomination.awaited().pods()).isEqualTo(Set.of("default/x", "default/y"));
      assertThat(nomination.awaited().claims()).isEqualTo(Set.of("claim of default/x", "claim of default/y"));
    });
  }

  @Test
  void whatAPodIsToGetIsNominated() {
    start("a:1", "x 1 a/0 100");
    Nomination nomination = find(cluster.waiting("p 10 60")).orElseThrow();
    assertThat(nomination.place().node()).isEqualTo("a");
    assertThat(nomination.place().bookings())
        .containsExactly(List.of(new Booking(new CardKey("a", 0), DeviceMode.SHARED, 60 * GpuNodes.GIB, 0)));
    assertThat(nomination.awaited().claims()).containsExactly("claim of default/x");
    assertThat(nomination.awaited().until()).as("the grace period, and what a victim may take beyond it")
        .isEqualTo(cluster.clock.instant().plusSeconds(30 + 300));
  }

  @Test
  void nobodyWaitsForLongerThanAnHourForAVictimWhateverGracePeriodItAsksFor() {
    start("a:1", "x 1 a/0 100");
    Pod victim = requireNonNull(cluster.pod(new ObjectKey("default", "x")));
    for (long grace : new long[]{3_601, 1L << 40, Long.MAX_VALUE}) {
      cluster.put(new PodBuilder(victim).editSpec().withTerminationGracePeriodSeconds(grace).endSpec().build());
      assertThat(find(cluster.waiting("p 10 60")).orElseThrow().awaited().until())
          .isEqualTo(cluster.clock.instant().plusSeconds(3_600 + 300));
    }
  }

  @Test
  void nobodyGoesForRoomThatOthersLeaveWhoAreGoingAlready() {
    start("a:2", "x 1 a/0 100, y 1 a/1 100");
    Instant end = cluster.clock.instant().plusSeconds(30);
    goesAt("x", end);
    Pod pod = cluster.waiting("p 10 60");
    Nomination nomination = find(pod).orElseThrow();
    assertThat(nomination.victims()).isEmpty();
    assertThat(nomination.place().bookings())
        .containsExactly(List.of(new Booking(new CardKey("a", 0), DeviceMode.SHARED, 60 * GpuNodes.GIB, 0)));
    assertThat(nomination.awaited().pods()).containsExactly("default/x");
    assertThat(nomination.awaited().claims()).containsExactly("claim of default/x");
    assertThat(nomination.awaited().until()).isEqualTo(end.plusSeconds(300));
    cluster.state.nominate(nomination);
    assertThat(victims(cluster.waiting("second 10 60"))).as("there is room for both").isEqualTo("nobody");
    assertThat(victims(cluster.waiting("third 10 100"))).isEqualTo("y");
    cluster.clock.advance(Duration.ofSeconds(330));
    cluster.state.endNomination("default/p");
    assertThat(victims(pod)).as("it takes too long to go").isEqualTo("y");
  }

  @ParameterizedTest
  @ValueSource(strings = {"Succeeded", "Failed", "gone"})
  void nobodyGoesForRoomThatIsLeftByAPodThatHasEnded(String how) {
    start("a:2", "x 50 a/0 100, y 1 a/1 100");
    ends("x", how);
    Pod pod = cluster.waiting("p 10 60");
    Nomination nomination = find(pod).orElseThrow();
    assertThat(nomination.victims()).isEmpty();
    assertThat(nomination.place().bookings())
        .containsExactly(List.of(new Booking(new CardKey("a", 0), DeviceMode.SHARED, 60 * GpuNodes.GIB, 0)));
    assertThat(nomination.awaited().pods()).isEmpty();
    assertThat(nomination.awaited().claims()).containsExactly("claim of default/x");
    cluster.clock.advance(Duration.ofMinutes(4));
    assertThat(victims(pod)).isEqualTo("nobody");
    cluster.clock.advance(Duration.ofMinutes(1));
    assertThat(victims(pod)).as("its claim is not freed").isEqualTo("y");
  }

  @Test
  void aClaimThatAPodUsesBesideOneThatHasEndedIsNotFree() {
    start("a:1", "x 50 a/0 100");
    cluster.put(ClusterWithoutServer.pod(new ObjectKey("default", "other"), 50).editSpec().editResourceClaim(0)
        .withResourceClaimName("x").endResourceClaim().withNodeName("a").endSpec().build());
    ends("x", "Succeeded");
    assertThat(find(cluster.waiting("p 10 60"))).isEmpty();
  }

  @Test
  void roomThatIsLeftByAPodThatHasEndedIsForOneOfAGang() {
    start("a:2", "x 50 a/0 100, y 1 a/1 100");
    ends("x", "Succeeded");
    assertThat(victimsOfGang("t0 10 100, t1 10 100")).isEqualTo("t0: nobody, t1: y");
  }

  /** A search for the gang's second pod takes the other one for gone already, and so the claim for nobody's. */
  @Test
  void aGangWaitsNoLongerForAClaimToBeFreedIfAPodThatIsGoingUsesItToo() {
    start("a:3", "x 50 a/0 100, y 1 a/1 100, z 2 a/2 100");
    cluster.put(ClusterWithoutServer.pod(new ObjectKey("default", "other"), 50).editSpec().editResourceClaim(0)
        .withResourceClaimName("x").endResourceClaim().withNodeName("a").endSpec().build());
    goesAt("other", cluster.clock.instant().plusSeconds(3_600));
    ends("x", "Succeeded");
    assertThat(victimsOfGang("t0 10 100, t1 10 100")).isEqualTo("t0: nobody, t1: y");
    cluster.clock.advance(Duration.ofMinutes(5));
    assertThat(victimsOfGang("t0 10 100, t1 10 100")).isEqualTo("t0: y, t1: z");
  }

  /** Its claim stays reserved for it until kube-controller-manager frees it. */
  private void ends(String pod, String how) {
    ObjectKey key = new ObjectKey("default", pod);
    if (how.equals("gone")) {
      cluster.remove(key);
    } else {
      cluster.put(new PodBuilder(requireNonNull(cluster.pod(key))).withNewStatus().withPhase(how).endStatus().build());
    }
  }

  @Test
  void nobodyWaitsForLongerThanAnHourForOthersToGo() {
    start("a:2", "x 1 a/0 100, y 1 a/1 100");
    goesAt("x", cluster.clock.instant().plusSeconds(3_601));
    assertThat(victims(cluster.waiting("p 10 60"))).isEqualTo("y");
  }

  @ParameterizedTest(name = "{0} h")
  @ValueSource(ints = {-2, 2})
  void whoIsGoingIsAwaitedAlsoWhereTheTimeOfDayWasSetSinceTheStart(int hours) {
    start("a:2", "x 1 a/0 100, y 1 a/1 100");
    HeldClock timeOfDay = new HeldClock(cluster.clock.instant().plus(Duration.ofHours(hours)));
    goesAt("x", timeOfDay.instant().plusSeconds(30));
    Pod pod = cluster.waiting("p 10 60");
    Decision.Wait wait = (Decision.Wait) cluster.decisions.of(pod);
    Nomination nomination =
        requireNonNull(search(timeOfDay).forPod(pod, wait).orElseThrow().nominations().get(pod));
    assertThat(names(nomination)).isEqualTo("nobody");
    assertThat(nomination.awaited().until()).isEqualTo(cluster.clock.instant().plusSeconds(30 + 300));
  }

  @Test
  void roomThatOthersLeaveAnyhowIsForOneOfAGang() {
    start("a:2", "x 1 a/0 100, y 1 a/1 100");
    goesAt("x", cluster.clock.instant().plusSeconds(30));
    assertThat(victimsOfGang("t0 10 100, t1 10 100")).isEqualTo("t0: nobody, t1: y");
  }

  /** Somebody has deleted the pod, or evicted it. */
  private void goesAt(String pod, Instant end) {
    cluster.put(new PodBuilder(requireNonNull(cluster.pod(new ObjectKey("default", pod)))).editMetadata()
        .withDeletionTimestamp(end.toString()).endMetadata().build());
  }

  @Test
  void whatIsNominatedForOthersIsLeftToThemUnlessTheyMatterLess() {
    start("a:2", "x 1 a/0 100, y 1 a/1 100");
    cluster.state.nominate(find(cluster.waiting("first 10 100")).orElseThrow());
    assertThat(victims(cluster.waiting("same 10 100"))).isEqualTo("x");
    assertThat(victims(cluster.waiting("higher 20 100"))).as("as if nothing were kept for the other").isEqualTo("y");
  }

  @Test
  void whoSharesAClaimWithOneThatMayNotGoStays() {
    start("a:1", "x 1 a/0 100");
    Pod other =
        ClusterWithoutServer.pod(new ObjectKey("default", "other"), 50).editSpec().editResourceClaim(0)
            .withResourceClaimName("x").endResourceClaim().withNodeName("a").endSpec().build();
    cluster.put(other);
    assertThat(victims(cluster.waiting("p 10 60"))).isEqualTo("nobody");
    cluster.put(new PodBuilder(other).editSpec().withPriority(5).endSpec().build());
    assertThat(victims(cluster.waiting("q 10 60"))).as("both, for the claim is free when both are gone")
        .isEqualTo("other x");
  }

  @Test
  void whoMayNotBeEvictedIsSparedForAWhile() {
    start("a:1", "x 1 a/0 70, y 5 a/0 70");
    search.spare("default/x", Duration.ofSeconds(30));
    Pod pod = cluster.waiting("p 10 60");
    assertThat(victims(pod)).isEqualTo("y");
    cluster.clock.advance(Duration.ofSeconds(30));
    assertThat(victims(pod)).isEqualTo("x");
  }

  @Test
  void whatSomethingUnknownHasReservedIsNotTaken() {
    start("a:1", "x 1 a/0 100");
    ObjectKey key = new ObjectKey("default", "x");
    cluster.put(
        new ResourceClaimBuilder(requireNonNull(cluster.claim(key))).editStatus()
            .addNewReservedFor("", "unknown", "jobs", "unknown").endStatus().build());
    assertThat(victims(cluster.waiting("p 10 60"))).isEqualTo("nobody");
  }

  @Test
  void whatKubeletItselfRunsStays() {
    start("a:1", "x 1 a/0 100");
    Pod pod = requireNonNull(cluster.pod(new ObjectKey("default", "x")));
    cluster.put(
        new PodBuilder(pod).editMetadata().addToAnnotations("kubernetes.io/config.mirror", "1").endMetadata().build());
    assertThat(victims(cluster.waiting("p 10 60"))).isEqualTo("nobody");
  }

  @Test
  void aPodThatIsNotBoundYetStays() {
    start("a:1", "x 1 a/0 100");
    cluster.put(ClusterWithoutServer.pod(new ObjectKey("default", "x"), 1).build());
    assertThat(victims(cluster.waiting("p 10 60"))).isEqualTo("nobody");
  }

  @Test
  void cpuThatAVictimHasIsFreeWithItsCards() {
    cluster.node(
        new NodeBuilder().withNewMetadata().withName("a").endMetadata()
            .withNewStatus().addToAllocatable("cpu", new Quantity("4")).endStatus().build(),
        2);
    cluster.running("x 1 a/0 8, y 2 a/1 8");
    for (String name : List.of("x", "y")) {
      Pod pod = requireNonNull(cluster.pod(new ObjectKey("default", name)));
      cluster.put(requesting(pod, name.equals("x") ? "1" : "3"));
    }
    Pod pod = requesting(cluster.waiting("p 10 8"), "2");
    assertThat(victims(pod)).as("not the less important one, whose CPU is not enough").isEqualTo("y");
    assertThat(victims(requesting(pod, "5"))).isEqualTo("nobody");
  }

  @Test
  void nobodyGoesOnANodeThatThePodCannotUse() {
    start("a:1 b:1", "x 1 a/0 140, y 5 b/0 140");
    Pod pod = new PodBuilder(cluster.waiting("p 10 60")).editSpec().addToNodeSelector("pool", "b").endSpec().build();
    assertThat(victims(pod)).isEqualTo("nobody");
  }

  @Test
  void whoNeverPreemptsMayNot() {
    start("a:1", "x 1 a/0 100");
    Pod pod = cluster.waiting("p 10 60");
    assertThat(search.mayEvict(pod)).isTrue();
    assertThat(search.mayEvict(new PodBuilder(pod).editSpec().withPreemptionPolicy("Never").endSpec().build()))
        .isFalse();
    assertThat(search.mayEvict(cluster.waiting("low 1 60"))).as("nobody is less important").isFalse();
  }

  private static Pod requesting(Pod pod, String cpu) {
    return new PodBuilder(pod).editSpec()
        .withContainers(new ContainerBuilder().withNewResources()
            .addToRequests("cpu", new Quantity(cpu)).endResources().build())
        .endSpec().build();
  }

  private void start(String nodes, String running) {
    cluster.nodes(nodes);
    cluster.running(running);
  }

  private Optional<Nomination> find(Pod pod) {
    String before = cluster.taken();
    Decision decision = cluster.decisions.of(pod);
    Optional<PreemptionPlan> plan =
        decision instanceof Decision.Wait wait ? search.forPod(pod, wait) : Optional.empty();
    assertThat(cluster.taken()).as("nothing has changed").isEqualTo(before);
    return plan.map(found -> found.nominations().get(pod));
  }

  private String victims(Pod pod) {
    return find(pod).map(PreemptionSearchTest::names).orElse("nobody");
  }

  private PreemptionSearch search(Clock timeOfDay) {
    return new PreemptionSearch(cluster, cluster.state, cluster.decisions, cluster.priorities, cluster.clock,
        timeOfDay);
  }

  private static String names(Nomination nomination) {
    String names =
        nomination.victims().stream().map(Victim::toString).map(PreemptionSearchTest::inShort)
            .collect(Collectors.toCollection(TreeSet::new)).stream().collect(Collectors.joining(" "));
    return names.isEmpty() ? "nobody" : names;
  }

  private static String inShort(String name) {
    return name.replace("default/", "");
  }

  private Optional<Map<Pod, Nomination>> search(List<Pod> gang) {
    String before = cluster.taken();
    Optional<Map<Pod, Nomination>> found = search.forGang(gang).map(PreemptionPlan::nominations);
    assertThat(cluster.taken()).as("nothing has changed").isEqualTo(before);
    return found;
  }

  private String victimsOfGang(String pods) {
    return said(search(cluster.gang(pods)));
  }

  private static String said(Optional<Map<Pod, Nomination>> found) {
    return found
        .map(all -> all.entrySet().stream()
            .map(one -> inShort(ObjectKey.of(one.getKey()).toString()) + ": " + names(one.getValue()))
            .collect(Collectors.joining(", ")))
        .orElse("nobody");
  }
}
