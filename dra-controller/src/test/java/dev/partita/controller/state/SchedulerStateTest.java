package dev.partita.controller.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.partita.api.DeviceMode;
import dev.partita.controller.ClusterWithoutServer;
import dev.partita.controller.booking.Booking;
import dev.partita.controller.decide.Decision;
import dev.partita.controller.inventory.CardKey;
import dev.partita.controller.nodes.PodRequests;
import dev.partita.controller.place.ClaimPlacement;
import dev.partita.controller.watch.ObjectKey;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Two nodes with two cards each, four pods that run, and six that wait. */
class SchedulerStateTest {
  private static final int RUNNING = 4;
  private static final int WAITING = 6;

  private final ClusterWithoutServer cluster = cluster();
  private final SchedulerState state = cluster.state;

  private static ClusterWithoutServer cluster() {
    ClusterWithoutServer cluster = new ClusterWithoutServer();
    cluster.node("a", 2);
    cluster.node("b", 2);
    cluster.guarantee("default", "200Gi", "500Gi");
    for (int i = 0; i < RUNNING; i++) {
      cluster.running(key("r" + i), i, new CardKey(i % 2 == 0 ? "a" : "b", i / 2), (20 + 10 * i) + "Gi");
    }
    for (int i = 0; i < WAITING; i++) {
      cluster.waiting(key("w" + i), i % 3, (30 + 10 * i) + "Gi");
    }
    return cluster;
  }

  @Test
  void whatIsAssumedInAScopeCountsUntilItIsClosed() {
    String before = all(cluster);
    try (SchedulerState.Scope scope = state.scope()) {
      PodPlan plan = plan("w0").orElseThrow();
      scope.assume(plan);
      assertThat(state.claims().isAssumed(claim("w0"))).isTrue();
      assertThat(scope.placed()).containsExactly(Map.entry(claim("w0"), plan.outcome().node()));
      assertThat(all(cluster)).isNotEqualTo(before);
    }
    assertThat(all(cluster)).isEqualTo(before);
  }

  @Test
  void whatIsKeptOfAScopeCountsAsIfItHadBeenAssumedWithoutOne() {
    PodPlan plan = plan("w0").orElseThrow();
    try (SchedulerState.Scope scope = state.scope()) {
      scope.assume(plan);
      scope.keep();
    }
    ClusterWithoutServer other = cluster();
    other.state.assume(plan);
    assertThat(all(cluster)).isEqualTo(all(other));
  }

  @Test
  void whatIsLeftOutIsPutBackWhateverEndsTheScope() {
    String before = all(cluster);
    assertThatThrownBy(() -> {
      try (SchedulerState.Scope scope = state.without(List.of(claim("r0"), claim("r1")))) {
        scope.withoutPods(List.of(uid("r0")));
        assertThat(state.claims().bookings(claim("r0"))).isEmpty();
        assertThat(state.loads().counts(uid("r0"))).isFalse();
        throw new StackOverflowError();
      }
    }).isInstanceOf(StackOverflowError.class);
    assertThat(all(cluster)).isEqualTo(before);
  }

  @Test
  void whatIsLeftOutCannotBeKept() {
    try (SchedulerState.Scope scope = state.without(List.of(claim("r0")))) {
      assertThatThrownBy(scope::keep).isInstanceOf(IllegalStateException.class);
    }
    assertThat(state.claims().isTaken(claim("r0"))).isTrue();
  }

  @Test
  void aNominationIsKeptUntilItEndsOrThePodHasAnother() {
    Nomination first = nomination("w1", "a", 1);
    assertThat(state.standing(first)).isEqualTo(Nomination.Standing.ENDED);
    state.nominate(first);
    assertThat(state.standing(first)).isEqualTo(Nomination.Standing.KEPT);
    try (SchedulerState.Scope scope = state.withoutNominations(pod("w1"))) {
      assertThat(state.standing(first)).as("it is only left out of a decision").isEqualTo(Nomination.Standing.KEPT);
      assertThat(scope.placed()).isEmpty();
    }
    Nomination second = nomination("w1", "a", 1);
    state.nominate(second);
    assertThat(state.standing(first)).as("replaced by one that is equal").isEqualTo(Nomination.Standing.ENDED);
    assertThat(state.standing(second)).isEqualTo(Nomination.Standing.KEPT);
    state.endNomination(uid("w1"));
    assertThat(state.standing(second)).isEqualTo(Nomination.Standing.ENDED);
  }

  @Test
  void aNominationIsSuspendedWhileItsPodIsGettingAnotherPlace() {
    Nomination nomination = nomination("w1", "a", 1);
    state.nominate(nomination);
    state.assume(plan("w1").orElseThrow());
    assertThat(state.standing(nomination)).isEqualTo(Nomination.Standing.SUSPENDED);
    state.forget(uid("w1"));
    assertThat(state.standing(nomination)).as("it did not get it").isEqualTo(Nomination.Standing.KEPT);
  }

  /** It goes where claims are that it shares with others of its gang. */
  @Test
  void aPodIsSettledOnTheRoomThatIsKeptForPodsOfLowerPriority() {
    cluster.node(new NodeBuilder().withNewMetadata().withName("narrow").endMetadata().withNewStatus()
        .addToAllocatable("cpu", new Quantity("4")).addToAllocatable("pods", new Quantity("110")).endStatus().build(),
        1);
    Pod lower = demanding("lower", 1);
    state.nominate(new Nomination(new Nomination.Preemptor(uid("lower"), "default", 1),
        new Nomination.Place("narrow", List.of(), PodRequests.of(lower)), List.of(), new Nomination.Grounds.Priority(),
        new Nomination.Awaited(Set.of(), Set.of(), Instant.EPOCH)));
    String before = all(cluster);
    try (SchedulerState.Scope scope = state.scope()) {
      assertThat(scope.settle(demanding("as-low", 1), "narrow")).hasValueSatisfying(
          why -> assertThat(why).contains("too little CPU"));
      assertThat(scope.settle(demanding("higher", 2), "narrow")).isEmpty();
    }
    assertThat(all(cluster)).isEqualTo(before);
  }

  private static Pod demanding(String name, int priority) {
    return new PodBuilder().withNewMetadata().withName(name).withNamespace("default").withUid(uid(name)).endMetadata()
        .withNewSpec().withPriority(priority).addNewContainer().withName("c").withNewResources()
        .addToRequests("cpu", new Quantity("3")).endResources().endContainer().endSpec().build();
  }

  @Test
  void aNominationCountsAgainstThePodsOfItsPriorityAndOfLowerOnes() {
    state.nominate(nomination("w1", "a", 1));
    String kept = all(cluster);
    try (SchedulerState.Scope lower = state.withoutNominations(pod("w0"))) {
      assertThat(all(cluster)).isEqualTo(kept);
      assertThat(lower.placed()).isEmpty();
    }
    for (String whom : List.of("w1", "w2")) {
      try (SchedulerState.Scope higherOrSelf = state.withoutNominations(pod(whom))) {
        assertThat(state.loads().of("a")).as(whom).isEqualTo(cluster().state.loads().of("a"));
        assertThat(higherOrSelf.placed()).isEmpty();
      }
      assertThat(all(cluster)).isEqualTo(kept);
    }
  }

  @Test
  void whatIsKeptForAPodDoesNotCountBesideWhatIsAssumedForIt() {
    Nomination nomination = nomination("w1", "a", 1);
    state.nominate(nomination);
    String kept = all(cluster);
    state.assume(plan("w1").orElseThrow());
    assertThat(state.loads().counts(nomination.key())).isFalse();
    drop(state, "w1");
    assertThat(all(cluster)).as("it is kept again").isEqualTo(kept);
  }

  @Test
  void aClaimThatIsBeingTakenBackStillIsAfterAScope() {
    assertThat(state.claims().releasing(claim("w0"))).isTrue();
    try (SchedulerState.Scope scope = state.scope()) {
      scope.assume(plan("w0").orElseThrow());
    }
    assertThat(state.claims().releasing(claim("w0"))).as("it is under way already").isFalse();
  }

  /** Whatever comes before, and whatever was tried and left: what counts is what lasts. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void randomSequencesEndAsIfOnlyWhatLastsHadHappened(long seed) {
    Random random = new Random(seed);
    Map<String, PodPlan> assumed = new LinkedHashMap<>();
    Map<String, Nomination> nominated = new LinkedHashMap<>();
    Set<String> releasing = new HashSet<>();
    for (int step = 0; step < 120; step++) {
      String pod = "w" + random.nextInt(WAITING);
      switch (random.nextInt(6)) {
        case 0 -> {
          Optional<PodPlan> plan = plan(pod);
          plan.ifPresent(found -> {
            state.assume(found);
            assumed.put(pod, found);
            releasing.remove(pod);
          });
        }
        case 1 -> {
          if (assumed.remove(pod) != null) {
            drop(state, pod);
          }
        }
        case 2 -> {
          if (!assumed.containsKey(pod)) {
            Nomination nomination = nomination(pod, random.nextBoolean() ? "a" : "b", random.nextInt(2));
            state.nominate(nomination);
            nominated.put(pod, nomination);
          }
        }
        case 3 -> {
          state.endNomination(uid(pod));
          nominated.remove(pod);
        }
        case 4 -> {
          if (!assumed.containsKey(pod)) {
            state.claims().releasing(claim(pod));
            releasing.add(pod);
          }
        }
        default -> {
          String before = all(cluster);
          tryOut(random, 3);
          assertThat(all(cluster)).as("step %d", step).isEqualTo(before);
        }
      }
    }
    ClusterWithoutServer anew = cluster();
    nominated.values().forEach(anew.state::nominate);
    assumed.values().forEach(anew.state::assume);
    releasing.forEach(pod -> anew.state.claims().releasing(claim(pod)));
    assertThat(all(cluster)).isEqualTo(all(anew));
  }

  /** Leaves out and assumes at random, and in it again. */
  private void tryOut(Random random, int depth) {
    try (SchedulerState.Scope scope =
        random.nextBoolean() ? state.scope() : state.withoutNominations(pod("w" + random.nextInt(WAITING)))) {
      for (int i = 0; i < 4; i++) {
        switch (random.nextInt(4)) {
          case 0 -> plan("w" + random.nextInt(WAITING)).ifPresent(scope::assume);
          case 1 -> scope.without(List.of(claim("r" + random.nextInt(RUNNING)), claim("w" + random.nextInt(WAITING))));
          case 2 -> scope.withoutPods(List.of(uid("r" + random.nextInt(RUNNING))));
          default -> {
            if (depth > 0) {
              tryOut(random, depth - 1);
            }
          }
        }
      }
    }
  }

  private static void drop(SchedulerState state, String pod) {
    state.claims().dropped(claim(pod));
    state.loads().remove(uid(pod));
    state.forget(uid(pod));
  }

  /** Where the pod would go now; empty if it has a place, or finds none. */
  private Optional<PodPlan> plan(String pod) {
    return cluster.decisions.of(pod(pod)) instanceof Decision.Allocate(PodPlan plan)
        ? Optional.of(plan)
        : Optional.empty();
  }

  /** Of what the pod would get on that card of an empty node. */
  private Nomination nomination(String pod, String node, int card) {
    PodPlan plan =
        ((Decision.Allocate) cluster().decisions.of(pod(pod))).plan();
    var bookings =
        plan.outcome().claims().stream().map(ClaimPlacement::bookings)
            .map(
                each -> each.stream()
                    .map(
                        booking -> new Booking(new CardKey(node, card),
                            DeviceMode.SHARED, booking.memory(), booking.cores()))
                    .toList())
            .toList();
    int priority = Objects.requireNonNull(pod(pod).getSpec().getPriority());
    return new Nomination(new Nomination.Preemptor(uid(pod), "default", priority),
        new Nomination.Place(node, bookings, PodRequests.of(pod(pod))), List.of(), new Nomination.Grounds.Priority(),
        new Nomination.Awaited(Set.of(), Set.of(claim("r" + card)), Instant.EPOCH));
  }

  private Pod pod(String name) {
    return Objects.requireNonNull(cluster.pod(key(name)));
  }

  private static ObjectKey key(String name) {
    return new ObjectKey("default", name);
  }

  private static String uid(String pod) {
    return key(pod).toString();
  }

  private static String claim(String pod) {
    return "claim of " + key(pod);
  }

  /** All that counts, in words. */
  private static String all(ClusterWithoutServer cluster) {
    SchedulerState state = cluster.state;
    Map<String, Object> all = new TreeMap<>();
    Set<String> pods = new LinkedHashSet<>();
    for (int i = 0; i < Math.max(RUNNING, WAITING); i++) {
      pods.addAll(List.of("r" + i, "w" + i));
    }
    for (String pod : pods) {
      all.put("claim of " + pod, state.claims().standing(claim(pod)));
      all.put("load of " + pod, state.loads().entry(uid(pod)));
      all.put("kept for " + pod, state.loads().entry("nominated:" + uid(pod)));
      all.put("nominated for " + pod, state.nominated(uid(pod)));
    }
    for (String node : List.of("a", "b")) {
      List<Object> cards = new ArrayList<>();
      for (int card = 0; card < 2; card++) {
        cards.add(state.claims().accounts().of(new CardKey(node, card)));
      }
      all.put("node " + node, List.of(state.loads().of(node), state.claims().capacities().of(node), cards));
    }
    all.put("quotas", state.claims().quotas().statuses());
    all.put("claims of victims", state.claimsOfVictims().stream().sorted().toList());
    return all.toString().replace(", ", ",\n");
  }
}
