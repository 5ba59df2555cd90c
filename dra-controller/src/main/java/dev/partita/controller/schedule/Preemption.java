package dev.partita.controller.schedule;

import dev.partita.controller.allocate.Outcome;
import dev.partita.controller.booking.Booking;
import dev.partita.controller.budget.DecisionBudget;
import dev.partita.controller.budget.OverBudgetException;
import dev.partita.controller.claim.PodClaims;
import dev.partita.controller.claim.PodOrder;
import dev.partita.controller.commit.Evictor;
import dev.partita.controller.decide.Decision;
import dev.partita.controller.inventory.GpuHost;
import dev.partita.controller.inventory.Inventory;
import dev.partita.controller.nodes.PodRequests;
import dev.partita.controller.place.ClaimPlacement;
import dev.partita.controller.preempt.Borrowers;
import dev.partita.controller.preempt.Priorities;
import dev.partita.controller.preempt.VictimChoice;
import dev.partita.controller.preempt.VictimsOnNode;
import dev.partita.controller.state.Nomination;
import dev.partita.controller.state.Nomination.Grounds;
import dev.partita.controller.state.SchedulerState;
import dev.partita.controller.state.Victim;
import dev.partita.controller.turns.SearchSlots;
import dev.partita.controller.watch.ClusterObjects;
import dev.partita.controller.watch.ObjectKey;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes room for a pod that finds no place, at the cost of pods of lower priority, or of pods that borrow what is
 * guaranteed to the pod's namespace. For one thread.
 */
final class Preemption {
  private static final Logger LOG = LoggerFactory.getLogger(Preemption.class);

  /** How long a victim may take beyond its grace period before something else is tried. */
  private static final Duration PATIENCE = Duration.ofMinutes(5);

  private static final Duration PROTECTED = Duration.ofSeconds(30);

  /** What a search for room may take of the thread's time: everybody waits for it. */
  private static final Duration SEARCH = Duration.ofMillis(500);

  /** Of so many parts of the time one is for such searches. */
  private static final int PARTS = 5;

  private static final long DEFAULT_GRACE_SECONDS = 30;

  private final ClusterObjects view;
  private final Clock clock;
  private final SchedulerState state;
  private final Evictor evictor;
  private final Retries retries;
  private final Priorities priorities;
  private final DecisionBudget budget;
  private final SearchSlots slots;
  private final Map<String, Instant> protectedUntil = new HashMap<>();

  Preemption(
      ClusterObjects view,
      Clock clock,
      SchedulerState state,
      Evictor evictor,
      Retries retries,
      Priorities priorities,
      DecisionBudget budget) {
    this.view = view;
    this.clock = clock;
    this.state = state;
    this.evictor = evictor;
    this.retries = retries;
    this.priorities = priorities;
    this.budget = budget;
    this.slots = new SearchSlots(clock, PARTS);
  }

  /**
   * Looks for room for a pod that waits, and has victims evicted.
   *
   * @return what is being done, for people; empty if nothing is
   */
  Optional<String> makeRoom(Pod pod, Decision.Wait wait, Inventory inventory) {
    Optional<Nomination> nominated = underWay(pod);
    if (nominated.isPresent()) {
      return nominated.flatMap(Nomination::words);
    }
    state.endNomination(pod.getMetadata().getUid());
    if (!mayEvict(pod)) {
      return Optional.empty();
    }
    Optional<Plan> fresh = inItsTurn(pod, () -> find(pod, wait, inventory, Set.of()));
    fresh.ifPresent(room -> begin(Map.of(pod, room.nomination())));
    return fresh.flatMap(room -> room.nomination().words());
  }

  /**
   * A place that a pod has once others are gone.
   *
   * @param outcome what it is to get
   */
  record Plan(Nomination nomination, Outcome.Allocated outcome) {}

  /** What is being done for the pod, as long as it may still help. */
  Optional<Nomination> underWay(Pod pod) {
    return state.nominated(pod.getMetadata().getUid()).filter(this::isUnderWay);
  }

  /** Whether anybody may have to go for the pod: because of its priority, or of what is guaranteed to its namespace. */
  boolean mayEvict(Pod pod) {
    return isAllowed(pod) && (mayReclaim(pod) || priorities.isAnyBelow(PodOrder.priority(pod)));
  }

  private boolean mayReclaim(Pod pod) {
    return state.claims().quotas().guarantees(pod.getMetadata().getNamespace());
  }

  /** Whether a quota guarantees the namespace all that these pods are to get, which counts as taken. */
  boolean isGuaranteed(String namespace, List<Outcome.Allocated> outcomes) {
    Set<String> claims = outcomes.stream().flatMap(outcome -> outcome.claims().stream())
        .map(placement -> placement.claim().uid()).collect(Collectors.toSet());
    List<List<Booking>> together = outcomes.stream().flatMap(outcome -> bookings(outcome).stream()).toList();
    try (var _ = state.without(claims)) {
      return state.claims().quotas().isGuaranteed(namespace, together);
    }
  }

  private static boolean isAllowed(Pod pod) {
    return !"Never".equals(pod.getSpec().getPreemptionPolicy()) && !PodClaims.isBound(pod);
  }

  /** Searches if it is the pod's turn to have a search; else it gets one later. */
  <T> Optional<T> inItsTurn(Pod pod, Supplier<Optional<T>> search) {
    String uid = pod.getMetadata().getUid();
    Optional<Duration> pause = slots.ask(uid);
    if (pause.isEmpty() || pause.get().isPositive()) {
      pause.ifPresent(later -> retries.after(later, new WorkItem.Again(ObjectKey.of(pod))));
      return Optional.empty();
    }
    long start = System.nanoTime();
    try {
      return budget.apart(SEARCH, search);
    } catch (OverBudgetException e) {
      LOG.info("pod {}: no preemption for it: the search {}", ObjectKey.of(pod), e.getMessage());
      return Optional.empty();
    } finally {
      slots.done(uid, Duration.ofNanos(System.nanoTime() - start));
    }
  }

  /**
   * The cheapest room that pods of lower priority can make for a pod that waits; where they cannot, that which
   * borrowers can.
   *
   * @param leaving UIDs of pods that are taken for gone already
   */
  Optional<Plan> find(Pod pod, Decision.Wait wait, Inventory inventory, Set<String> leaving) {
    try (var _ = state.withoutNominations(pod)) {
      return choose(pod, wait, inventory, new Grounds.Priority(), leaving, onNode -> onNode.victims().keySet())
          .or(() -> mayReclaim(pod) ? reclaim(pod, wait, inventory, leaving) : Optional.empty());
    }
  }

  /** Keeps these places for the pods, and has the victims evicted. */
  void begin(Map<Pod, Nomination> fresh) {
    fresh.forEach(
        (pod, nomination) -> {
          state.nominate(nomination);
          retries.after(Duration.between(clock.instant(), nomination.until()), new WorkItem.Again(ObjectKey.of(pod)));
        });
    evictor.evict(fresh);
  }

  /** Nothing is kept any longer for the pod. */
  void drop(Pod pod) {
    state.endNomination(pod.getMetadata().getUid());
  }

  /** Nothing is kept any longer for a pod that does not come for it in time. */
  void endIfOver(String podUid) {
    state.nominated(podUid).filter(nomination -> !isUnderWay(nomination))
        .ifPresent(over -> state.endNomination(podUid));
  }

  /** The pod is over or gone. */
  void forget(String podUid) {
    state.endNomination(podUid);
    slots.forget(podUid);
  }

  /** A victim may not be evicted, by a PodDisruptionBudget or otherwise: others are looked for. */
  void refused(ObjectKey pod, String podUid, String victimUid) {
    state.endNomination(podUid);
    state.endNominationsAwaiting(victimUid);
    protectedUntil.values().removeIf(until -> until.isBefore(clock.instant()));
    protectedUntil.put(victimUid, clock.instant().plus(PROTECTED));
    retries.after(PROTECTED, new WorkItem.Again(pod));
  }

  private boolean isUnderWay(Nomination nomination) {
    return clock.instant().isBefore(nomination.until())
        && (nomination.awaited().stream().anyMatch(victim -> view.podByUid(victim) != null)
            || nomination.claims().stream().anyMatch(state.claims()::isTaken));
  }

  private Optional<Plan> reclaim(Pod pod, Decision.Wait wait, Inventory inventory, Set<String> leaving) {
    Grounds guarantee = new Grounds.Guarantee(pod.getMetadata().getNamespace());
    Borrowers borrowers = new Borrowers(state, PodOrder.priority(pod));
    return choose(pod, wait, inventory, guarantee, leaving, borrowers::smallestFirst)
        .or(() -> choose(pod, wait, inventory, guarantee, leaving, borrowers::largestFirst));
  }

  private Optional<Plan> choose(
      Pod pod,
      Decision.Wait wait,
      Inventory inventory,
      Grounds grounds,
      Set<String> leaving,
      Function<VictimsOnNode, Set<Victim>> who) {
    Map<String, VictimsOnNode> nodes = new HashMap<>();
    SortedMap<String, Set<Victim>> candidates = new TreeMap<>();
    for (GpuHost host : inventory.hosts().values()) {
      VictimsOnNode onNode = VictimsOnNode.of(view, host.name(),
          victim -> !leaving.contains(victim.getMetadata().getUid()) && mayGo(victim, pod, grounds));
      if (!onNode.victims().isEmpty()) {
        nodes.put(host.name(), onNode);
        candidates.put(host.name(), who.apply(onNode));
      }
    }
    VictimChoice.Place place =
        (node, gone) -> {
          GpuHost host = Objects.requireNonNull(inventory.host(node));
          Optional<Outcome.Allocated> found =
              without(Objects.requireNonNull(nodes.get(node)), gone, wait, host);
          return found.isPresent()
              && switch (grounds) {
                case Grounds.Priority() -> true;
                case Grounds.Guarantee(String namespace) ->
                    state.claims().quotas().isGuaranteed(namespace, bookings(found.get()));
              };
        };
    return VictimChoice.choose(candidates, place)
        .map(
            chosen -> {
              VictimsOnNode onNode = Objects.requireNonNull(nodes.get(chosen.node()));
              GpuHost host = Objects.requireNonNull(inventory.host(chosen.node()));
              Outcome.Allocated outcome =
                  without(onNode, Set.copyOf(chosen.victims()), wait, host).orElseThrow();
              long grace = chosen.victims().stream()
                  .mapToLong(victim -> grace(Objects.requireNonNull(onNode.victims().get(victim)))).max().orElse(0);
              Set<String> freed = onNode.freedBy(Set.copyOf(chosen.victims()));
              return new Plan(nomination(pod, outcome, chosen.victims(), grounds, freed, grace), outcome);
            });
  }

  /** A place that the pod has without anybody going for it. */
  Nomination nomination(Pod pod, Outcome.Allocated outcome) {
    return nomination(pod, outcome, List.of(), new Grounds.Priority(), Set.of(), 0);
  }

  private Nomination nomination(
      Pod pod,
      Outcome.Allocated outcome,
      List<Victim> victims,
      Grounds grounds,
      Set<String> freed,
      long grace) {
    return new Nomination(
        pod.getMetadata().getUid(),
        pod.getMetadata().getNamespace(),
        PodOrder.priority(pod),
        outcome.node(),
        bookings(outcome),
        PodRequests.of(pod),
        victims,
        victims.stream().map(Victim::uid).collect(Collectors.toSet()),
        grounds,
        freed,
        clock.instant().plusSeconds(grace).plus(PATIENCE));
  }

  /** Whether the preemptor may have the victim evicted at all. */
  private boolean mayGo(Pod victim, Pod preemptor, Grounds grounds) {
    @Nullable Instant until = protectedUntil.get(victim.getMetadata().getUid());
    if (!PodClaims.isBound(victim) || (until != null && until.isAfter(clock.instant()))
        || VictimsOnNode.isStatic(victim)) {
      return false;
    }
    int higher = Integer.compare(PodOrder.priority(preemptor), PodOrder.priority(victim));
    return higher > 0 || (grounds instanceof Grounds.Guarantee && higher == 0 && borrows(victim));
  }

  private boolean borrows(Pod victim) {
    for (ObjectKey key : PodClaims.of(victim).orElse(List.of())) {
      @Nullable ResourceClaim claim = view.claim(key);
      if (claim != null && state.claims().quotas().isBorrowed(claim.getMetadata().getUid())) {
        return true;
      }
    }
    return false;
  }

  private Optional<Outcome.Allocated> without(
      VictimsOnNode onNode,
      Set<Victim> gone,
      Decision.Wait wait,
      GpuHost host) {
    try (SchedulerState.Scope scope = state.scope()) {
      scope.withoutPods(gone.stream().map(Victim::uid).toList());
      scope.without(onNode.freedBy(gone));
      return wait.dryRun().on(host);
    }
  }

  private static List<List<Booking>> bookings(Outcome.Allocated outcome) {
    return outcome.claims().stream().map(ClaimPlacement::bookings).toList();
  }

  private static long grace(Pod pod) {
    return Objects.requireNonNullElse(pod.getSpec().getTerminationGracePeriodSeconds(), DEFAULT_GRACE_SECONDS);
  }
}
