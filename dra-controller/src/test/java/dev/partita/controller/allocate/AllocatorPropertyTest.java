package dev.partita.controller.allocate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.DeviceMode;
import dev.partita.controller.GpuNodes;
import dev.partita.controller.booking.Account;
import dev.partita.controller.booking.Booking;
import dev.partita.controller.booking.Books;
import dev.partita.controller.booking.HostCapacities;
import dev.partita.controller.inventory.CardKey;
import dev.partita.controller.match.Candidates;
import dev.partita.controller.place.ClaimPlacement.DevicePlacement;
import dev.partita.controller.place.ClaimPlacement;
import dev.partita.controller.reasons.Explanation;
import dev.partita.controller.reasons.NodeRefusal;
import dev.partita.controller.request.ClaimRequest.NamedRequest;
import dev.partita.controller.request.ClaimRequest;
import dev.partita.controller.request.Constraint;
import dev.partita.controller.request.DeviceRequest.Access;
import dev.partita.controller.request.DeviceRequest.Modes;
import dev.partita.controller.request.DeviceRequest;
import dev.partita.controller.request.PodNeeds;
import dev.partita.controller.selector.DeviceSelectors;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Random clusters and streams of pods. Every decision is checked against what follows from the nodes' reports and from
 * earlier results alone. More streams: {@code -Dpartita.streams=5000}.
 */
class AllocatorPropertyTest {
  private static final int STEPS = 100;

  private final Allocator allocator = new Allocator(new DeviceSelectors());

  static LongStream seeds() {
    return LongStream.rangeClosed(1, Long.getLong("partita.streams", 12));
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void everyDecisionOfAStreamIsRight(long seed) {
    Random random = new Random(seed);
    RandomStream stream = new RandomStream(random);
    boolean expecting = seed % 2 == 0; // else no pod requests CPU, and there is nothing to expect
    KnownCluster cluster = new KnownCluster(stream.cluster(5));
    KnownCluster unwatched = new KnownCluster(cluster.nodes()); // where nobody only looks
    for (String node : cluster.nodeNames()) {
      HostCapacities.Capacity room = stream.room(expecting);
      cluster.capacities.put(node, room);
      unwatched.capacities.put(node, room);
    }
    for (int step = 0; step < STEPS; step++) {
      switch (random.nextInt(10)) {
        case 0, 1, 2 -> {
          List<String> live = List.copyOf(cluster.live.keySet());
          if (!live.isEmpty()) {
            String gone = live.get(random.nextInt(live.size()));
            cluster.release(gone);
            unwatched.release(gone);
          }
        }
        case 3 -> {
          int node = random.nextInt(cluster.nodes().size());
          cluster.change(node, stream.otherHealth(cluster.nodes().get(node)));
          unwatched.change(node, cluster.nodes().get(node));
        }
        default -> {
          List<ClaimRequest> pod = stream.pod("s" + step);
          PodNeeds needs =
              expecting ? new PodNeeds(1_000L * random.nextInt(9), random.nextInt(9) * GpuNodes.GIB) : PodNeeds.NONE;
          boolean looksOnly = requests(pod).stream().allMatch(request -> request.access() == Access.MONITOR);
          cluster.history.arrived(needs, pod);
          unwatched.history.arrived(needs, looksOnly ? List.of() : pod);
          Outcome outcome = decide(cluster, needs, pod, random);
          if (!looksOnly) {
            Outcome without = allocator.allocate(needs, pod, unwatched.candidates(needs), unwatched.refreshed());
            assertThat(words(without)).as("whether others look at cards makes no difference").isEqualTo(words(outcome));
          }
          if (outcome instanceof Outcome.Allocated allocated) {
            checkGivesBackExactly(cluster, needs, pod, allocated, stream.pod("probe"));
            HostCapacities.Capacity room = stream.room(expecting);
            cluster.take(allocated, room);
            unwatched.take(looksOnly ? new Outcome.Allocated(allocated.node(), List.of()) : allocated, room);
          }
        }
      }
      cluster.checkCards();
    }
    List.copyOf(cluster.live.keySet()).forEach(cluster::release);
    assertThat(cluster.accounts().values()).allSatisfy(account -> assertThat(account).isEqualTo(Account.EMPTY));
  }

  private Outcome decide(KnownCluster cluster, PodNeeds needs, List<ClaimRequest> pod, Random random) {
    Candidates candidates = cluster.candidates(needs);
    FreeCards cards = cluster.refreshed();
    Outcome outcome = allocator.allocate(needs, pod, candidates, cards);
    assertThat(allocator.allocate(needs, pod, candidates, cards)).as("same input, same outcome").isEqualTo(outcome);
    if (random.nextInt(4) == 0) { // it takes long to read everything anew
      Outcome anew = new Allocator(new DeviceSelectors()).allocate(needs, pod, candidates, cluster.readAnew());
      assertThat(words(anew)).as("same input, same outcome, whatever was before").isEqualTo(words(outcome));
    }
    switch (outcome) {
      case Outcome.Allocated allocated -> {
        assertThat(cluster.capacities.of(allocated.node()).holds(needs)).isTrue();
        checkPlacement(cluster, pod, allocated);
        checkNothingBetterWasPossible(cluster, needs, pod, allocated);
      }
      case Outcome.Unallocatable(Explanation explanation) -> {
        assertThat(explanation).isEqualTo(allocator.explainOneByOne(pod, candidates, cards));
        checkExplanation(cluster, needs, pod, explanation);
      }
    }
    if (requests(pod).stream().allMatch(request -> request.access() == Access.MONITOR)) {
      FreeCards free = new FreeCards(new Books());
      free.refresh(cluster.inventory());
      boolean served = allocator.place(PodNeeds.NONE, pod, candidates, free).isPresent();
      assertThat(outcome instanceof Outcome.Allocated).as("to who only looks it counts for nothing what is taken")
          .isEqualTo(served);
    }
    return outcome;
  }

  /** An outcome without the objects that stand for devices. */
  private static List<Object> words(Outcome outcome) {
    return switch (outcome) {
      case Outcome.Unallocatable(Explanation explanation) -> List.of(explanation);
      case Outcome.Allocated allocated -> {
        List<Object> words = new ArrayList<>();
        allocated.claims().forEach(claim -> claim.devices().forEach(
            result -> words.addAll(
                List.of(claim.claim(), result.request(), TakenOfCard.place(result), result.memory(), result.cores()))));
        yield words;
      }
    };
  }

  private static List<DeviceRequest> requests(List<ClaimRequest> pod) {
    return pod.stream().flatMap(claim -> claim.requests().stream()).flatMap(request -> request.alternatives().stream())
        .toList();
  }

  /** Each request has what it asked for, in one of its ways, on one node, of devices that may be given to it. */
  private static void checkPlacement(KnownCluster cluster, List<ClaimRequest> pod, Outcome.Allocated allocated) {
    assertThat(allocated.claims()).extracting(ClaimPlacement::claim)
        .containsExactlyElementsOf(pod.stream().map(ClaimRequest::claim).toList());
    for (int i = 0; i < pod.size(); i++) {
      ClaimRequest claim = pod.get(i);
      List<DevicePlacement> results = allocated.claims().get(i).devices();
      assertThat(results).as("what the API lets a claim have").hasSizeLessThanOrEqualTo(32);
      for (DevicePlacement result : results) {
        DeviceRequest request = result.request();
        ReportedDevice device = cluster.device(result);
        assertThat(device.node()).as("all on one node").isEqualTo(allocated.node());
        assertThat(device.isSelectedBy(request)).isTrue();
        assertThat(device.isTolerated(request)).as("taints that are not tolerated").isTrue();
        assertThat(device.hasCapacity(request)).isTrue();
        boolean takes = device.mode() == DeviceMode.SHARED && request.access() == Access.OWN;
        assertThat(result.memory()).isEqualTo(takes ? device.bytes(request) : 0);
        assertThat(result.cores()).isEqualTo((int) (takes ? request.cores().orElse(0) : 0));
      }
      for (NamedRequest request : claim.requests()) {
        List<DevicePlacement> its =
            results.stream().filter(result -> request.alternatives().contains(result.request())).toList();
        Set<DeviceRequest> served = new HashSet<>(its.stream().map(DevicePlacement::request).toList());
        assertThat(served).as("one alternative of each request").hasSize(1);
        Set<Object> different = new HashSet<>();
        boolean inferred = isInInferredMode(cluster, its);
        its.stream().map(cluster::device).forEach(
            device -> assertThat(
                different.add(device.profile().isPresent() || !inferred ? device.name() : device.card()))
                .as("results of one request on different cards").isTrue());
        int wanted = ReportedDevice.wanted(served.iterator().next());
        assertThat(its.size()).isEqualTo(wanted == 0 ? its.size() : wanted);
      }
      for (Constraint constraint : claim.constraints()) {
        List<Optional<String>> values =
            results.stream().filter(result -> EveryWay.means(constraint, result.request()))
                .map(result -> cluster.device(result).attribute(constraint.attribute())).toList();
        assertThat(values).allSatisfy(value -> assertThat(value).isPresent());
        assertThat(Set.copyOf(values))
            .hasSize(constraint instanceof Constraint.Equal ? Math.min(1, values.size()) : values.size());
      }
    }
  }

  /** What is taken, given back and asked for again is as it was, and so is everything else. */
  private void checkGivesBackExactly(
      KnownCluster cluster,
      PodNeeds needs,
      List<ClaimRequest> pod,
      Outcome.Allocated allocated,
      List<ClaimRequest> other) {
    Map<CardKey, Account> before = cluster.accounts();
    Candidates candidates = cluster.candidates(needs);
    Optional<Outcome.Allocated> then = allocator.place(needs, other, candidates, cluster.refreshed());
    HostCapacities.Capacity room = cluster.capacities.of(allocated.node());
    cluster.take(allocated, room);
    allocator.place(needs, other, candidates, cluster.refreshed());
    allocated.claims().forEach(claim -> cluster.release(claim.claim().uid()));
    assertThat(cluster.accounts()).isEqualTo(before);
    assertThat(allocator.place(needs, pod, candidates, cluster.refreshed())).contains(allocated);
    assertThat(allocator.place(needs, other, candidates, cluster.refreshed())).isEqualTo(then);
  }

  /** No alternatives that come first had a place, and the other ways to ask say the same. */
  private void checkNothingBetterWasPossible(
      KnownCluster cluster,
      PodNeeds needs,
      List<ClaimRequest> pod,
      Outcome.Allocated allocated) {
    int rank = 0;
    for (int i = 0; i < pod.size(); i++) {
      List<DevicePlacement> results = allocated.claims().get(i).devices();
      for (NamedRequest request : pod.get(i).requests()) {
        rank += request.alternatives().indexOf(results.stream().map(DevicePlacement::request)
            .filter(request.alternatives()::contains).findFirst().orElseThrow());
      }
    }
    boolean inferred = allocated.claims().stream().allMatch(claim -> isInInferredMode(cluster, claim.devices()));
    Modes modes = inferred ? Modes.INFERRED : Modes.ANY;
    for (String node : cluster.nodeNames()) {
      boolean candidate = cluster.capacities.of(node).holds(needs);
      if (candidate && rank > 0) {
        assertThat(cluster.everyWay(node).canServe(pod, rank, modes)).as("%s in a way that comes before", node)
            .isNotEqualTo(Optional.of(true));
      }
      if (candidate && modes == Modes.ANY) {
        assertThat(cluster.everyWay(node).canServe(pod, Integer.MAX_VALUE, Modes.INFERRED))
            .as("%s in the mode that is inferred", node).isNotEqualTo(Optional.of(true));
      }
      boolean placed = allocator.placeOn(node, pod, cluster.refreshed()).isPresent();
      cluster.everyWay(node).canServe(pod)
          .ifPresent(can -> assertThat(placed).as("%s on %s", pod, node).isEqualTo(can));
    }
  }

  /** Whether each is of its card what its request means. */
  private static boolean isInInferredMode(KnownCluster cluster, List<DevicePlacement> results) {
    return results.stream().allMatch(
        result -> ReportedDevice.inInferredMode(cluster.devices(cluster.device(result).card()), result.request())
            .contains(cluster.device(result)));
  }

  /**
   * What is said of a node or card is true; what is said of a card goes away once that is satisfied; and no way to
   * place the pod was missed.
   */
  private void checkExplanation(KnownCluster cluster, PodNeeds needs, List<ClaimRequest> pod, Explanation explanation) {
    assertThat(explanation.summary(900)).isNotBlank().hasSizeLessThanOrEqualTo(900);
    assertThat(explanation.nodes()).extracting(NodeRefusal::node).containsExactlyElementsOf(cluster.nodeNames());
    for (NodeRefusal refusal : explanation.nodes()) {
      String node = refusal.node();
      assertThat(refusal instanceof NodeRefusal.PodUnfit).isEqualTo(!cluster.capacities.of(node).holds(needs));
      if (refusal instanceof NodeRefusal.PodUnfit) {
        continue;
      }
      assertThat(cluster.everyWay(node).canServe(pod)).as("%s could serve %s", node, pod)
          .isNotEqualTo(Optional.of(true));
      if (refusal instanceof NodeRefusal.CardsUnfit unfit) {
        checkCards(cluster, pod, unfit);
      } else if (!((NodeRefusal.NotTogether) refusal).why().endsWith("one claim can hold 32")) {
        for (ClaimRequest claim : pod) {
          for (NamedRequest request : claim.requests()) {
            EveryWay ways = cluster.everyWay(node);
            assertThat(request.alternatives()).as("requests that fit by themselves")
                .anyMatch(alternative -> ways.canServe(claim, alternative).orElse(true));
          }
        }
      }
    }
  }

  private void checkCards(KnownCluster cluster, List<ClaimRequest> pod, NodeRefusal.CardsUnfit unfit) {
    ClaimRequest claim = pod.stream().filter(its -> its.claim().equals(unfit.claim())).findFirst().orElseThrow();
    DeviceRequest request =
        requests(List.of(claim)).stream().filter(its -> its.name().equals(unfit.request())).findFirst().orElseThrow();
    EveryWay ways = cluster.everyWay(unfit.node());
    assertThat((long) unfit.fitting()).isEqualTo(ways.cardsFor(request));
    assertThat(unfit.devices()).isLessThan(unfit.wanted());
    assertThat(ways.canServe(claim, request)).as("%s by itself on %s", request, unfit.node())
        .isNotEqualTo(Optional.of(true));
    assertThat(unfit.fitting() + unfit.refusals().size()).isEqualTo(unfit.cards());
    unfit.refusals().forEach((index, why) -> {
      CardKey card = new CardKey(unfit.node(), index);
      RefusalTruth.assertTrue(why, cluster.devices(card), cluster.taken(card), request);
    });
    List<Integer> refused = List.copyOf(unfit.refusals().keySet());
    if (!refused.isEmpty()) { // one of them is enough: the next step has others
      List<Booking> taken = cluster.live.values().stream().flatMap(its -> its.bookings().stream()).toList();
      int index = refused.get(cluster.live.size() % refused.size());
      RefusedCard.of(cluster.node(unfit.node()), index, taken, request).assertReasonsGoAway(allocator);
    }
  }
}
