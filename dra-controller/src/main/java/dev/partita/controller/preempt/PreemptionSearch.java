package dev.partita.controller.preempt;

import dev.partita.controller.allocate.Outcome;
import dev.partita.controller.claim.PodClaims;
import dev.partita.controller.claim.PodOrder;
import dev.partita.controller.decide.Decision;
import dev.partita.controller.decide.PodDecisions;
import dev.partita.controller.inventory.GpuHost;
import dev.partita.controller.inventory.Inventory;
import dev.partita.controller.nodes.PodRequests;
import dev.partita.controller.state.Nomination.Grounds;
import dev.partita.controller.state.Nomination;
import dev.partita.controller.state.SchedulerState;
import dev.partita.controller.state.Victim;
import dev.partita.controller.watch.ClusterObjects;
import dev.partita.controller.watch.ObjectKey;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Searches the cheapest pods to evict so that a pod, or all of a gang, finds a place: pods of lower priority, or pods
 * that borrow what is guaranteed to its namespace. In the end all counts as before. For one thread.
 */
public final class PreemptionSearch {
  /** How long a victim may take beyond its grace period before something else is tried. */
  private static final Duration PATIENCE = Duration.ofMinutes(5);

  private static final long DEFAULT_GRACE_SECONDS = 30;

  /** More of a grace period does not count: the victim's owner chooses it, and it may be any number. */
  private static final long LONGEST_GRACE_SECONDS = Duration.ofHours(1).toSeconds();

  private final ClusterObjects objects;
  private final SchedulerState state;
  private final PodDecisions decisions;
  private final Priorities priorities;
  private final Clock clock;
  private final Clock timeOfDay;
  private final Map<String, Instant> sparedUntil = new HashMap<>(); // by UID of the pod
  private final Map<String, Instant> endedSince = new HashMap<>(); // by UID of the claim, as seen here

  /**
   * @param clock cannot be set, unlike the time of day: for how long something lasts
   * @param timeOfDay by which the API server says when pods that are being deleted are to be gone
   */
  public PreemptionSearch(
      ClusterObjects objects,
      SchedulerState state,
      PodDecisions decisions,
      Priorities priorities,
      Clock clock,
      Clock timeOfDay) {
    this.objects = objects;
    this.state = state;
    this.decisions = decisions;
    this.priorities = priorities;
    this.clock = clock;
    this.timeOfDay = timeOfDay;
  }

  /** Spares that pod for so long: it may not be evicted now. */
  public void spare(String podUid, Duration howLong) {
    Instant now = clock.instant();
    sparedUntil.values().removeIf(until -> until.isBefore(now));
    sparedUntil.put(podUid, now.plus(howLong));
  }

  /** Whether pods may be evicted for the pod: because of its priority, or of what is guaranteed to its namespace. */
  public boolean mayEvict(Pod pod) {
    return isAllowed(pod) && (mayReclaim(pod) || priorities.isAnyBelow(PodOrder.priority(pod)));
  }

  private boolean mayReclaim(Pod pod) {
    return state.claims().quotas().guarantees(pod.getMetadata().getNamespace());
  }

  private static boolean isAllowed(Pod pod) {
    return !"Never".equals(pod.getSpec().getPreemptionPolicy()) && !PodClaims.isBound(pod);
  }

  /** Whom to evict for a pod that waits; empty if that would not help. */
  public Optional<PreemptionPlan> forPod(Pod pod, Decision.Wait wait) {
    return room(pod, wait, Set.of()).map(room -> new PreemptionPlan(Map.of(pod, room.nomination())));
  }

  /**
   * Whom to evict for all of these pods of a gang; empty if that would not help, or nobody has to go.
   *
   * @param pods for which nothing counts as taken
   */
  public Optional<PreemptionPlan> forGang(List<Pod> pods) {
    return new GangSearch(state, decisions, this).find(pods);
  }

  /**
   * A place that a pod has once others are gone.
   *
   * @param outcome what it is to get
   */
  record Room(Nomination nomination, Outcome.Allocated outcome) {}

  /**
   * The place that pods make which have ended, or are being deleted already; if that is none, the cheapest that pods of
   * lower priority can make for a pod that waits; if they cannot, the cheapest that borrowers can make.
   *
   * @param leaving UIDs of pods that are taken for gone already
   */
  Optional<Room> room(Pod pod, Decision.Wait wait, Set<String> leaving) {
    try (var _ = state.withoutNominations(pod)) {
      return going(pod, wait, leaving)
          .or(() -> choose(pod, wait, new Grounds.Priority(), leaving, onNode -> onNode.victims().keySet()))
          .or(() -> mayReclaim(pod) ? reclaim(pod, wait, leaving) : Optional.empty());
    }
  }

  private Optional<Room> going(Pod pod, Decision.Wait wait, Set<String> leaving) {
    Map<String, VictimsOnNode> nodes = going(leaving);
    return ended(pod, wait, nodes)
        .or(() -> choose(pod, wait, new Grounds.Priority(), node -> Objects.requireNonNull(nodes.get(node)),
            onNode -> onNode.victims().keySet()))
        .map(room -> new Room(room.nomination().evictingNobody(), room.outcome()));
  }

  private SortedMap<String, VictimsOnNode> going(Set<String> leaving) {
    SortedMap<String, VictimsOnNode> nodes = new TreeMap<>();
    Set<String> ended = new HashSet<>();
    for (String node : state.inventory().hosts().keySet()) {
      nodes.put(node, VictimsOnNode.going(objects, node,
          other -> !leaving.contains(other.getMetadata().getUid()) && isGoneSoon(other),
          claim -> {
            ended.add(claim.getMetadata().getUid());
            return isFreedSoon(claim);
          }));
    }
    endedSince.keySet().retainAll(ended);
    return nodes;
  }

  /** The place that pods make which have ended: their claims have yet to be freed. */
  private Optional<Room> ended(Pod pod, Decision.Wait wait, Map<String, VictimsOnNode> nodes) {
    for (VictimsOnNode onNode : nodes.values()) {
      Set<String> freed = onNode.freedBy(Set.of());
      if (!freed.isEmpty()) {
        GpuHost host = Objects.requireNonNull(state.inventory().host(onNode.node()));
        Optional<Outcome.Allocated> outcome = without(onNode, Set.of(), wait, host);
        if (outcome.isPresent()) {
          return Optional.of(new Room(
              nomination(pod, outcome.get(), List.of(), new Grounds.Priority(), freed, 0), outcome.get()));
        }
      }
    }
    return Optional.empty();
  }

  private Optional<Room> reclaim(Pod pod, Decision.Wait wait, Set<String> leaving) {
    Grounds guarantee = new Grounds.Guarantee(pod.getMetadata().getNamespace());
    Borrowers borrowers = new Borrowers(state, PodOrder.priority(pod));
    return choose(pod, wait, guarantee, leaving, borrowers::smallestFirst)
        .or(() -> choose(pod, wait, guarantee, leaving, borrowers::largestFirst));
  }

  private Optional<Room> choose(
      Pod pod,
      Decision.Wait wait,
      Grounds grounds,
      Set<String> leaving,
      Function<VictimsOnNode, Set<Victim>> who) {
    return choose(pod, wait, grounds,
        node -> VictimsOnNode.of(objects, node,
            victim -> !leaving.contains(victim.getMetadata().getUid()) && mayGo(victim, pod, grounds)),
        who);
  }

  private Optional<Room> choose(
      Pod pod,
      Decision.Wait wait,
      Grounds grounds,
      Function<String, VictimsOnNode> whoMay,
      Function<VictimsOnNode, Set<Victim>> who) {
    Inventory inventory = state.inventory();
    Map<String, VictimsOnNode> nodes = new HashMap<>();
    SortedMap<String, Set<Victim>> candidates = new TreeMap<>();
    for (GpuHost host : inventory.hosts().values()) {
      VictimsOnNode onNode = whoMay.apply(host.name());
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
                    state.claims().quotas().isGuaranteed(namespace, found.get().bookings());
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
              return new Room(nomination(pod, outcome, chosen.victims(), grounds, freed, grace), outcome);
            });
  }

  /** The nomination for a place that needs no victims. */
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
    Set<String> awaited = victims.stream().map(Victim::uid).collect(Collectors.toSet());
    return new Nomination(
        new Nomination.Preemptor(pod.getMetadata().getUid(), pod.getMetadata().getNamespace(), PodOrder.priority(pod)),
        new Nomination.Place(outcome.node(), outcome.bookings(), PodRequests.of(pod)), victims, grounds,
        new Nomination.Awaited(awaited, freed, clock.instant().plusSeconds(grace).plus(PATIENCE)));
  }

  /** Whether the preemptor may have the victim evicted at all. */
  private boolean mayGo(Pod victim, Pod preemptor, Grounds grounds) {
    @Nullable Instant until = sparedUntil.get(victim.getMetadata().getUid());
    if (!PodClaims.isBound(victim) || (until != null && until.isAfter(clock.instant()))
        || VictimsOnNode.isStatic(victim)) {
      return false;
    }
    int higher = Integer.compare(PodOrder.priority(preemptor), PodOrder.priority(victim));
    return higher > 0 || (grounds instanceof Grounds.Guarantee && higher == 0 && borrows(victim));
  }

  private boolean borrows(Pod victim) {
    for (ObjectKey key : PodClaims.of(victim).orElse(List.of())) {
      @Nullable ResourceClaim claim = objects.claim(key);
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

  /** Seconds until its grace period is over, at most an hour; less than none if it is. */
  private long grace(Pod pod) {
    @Nullable String deleted = pod.getMetadata().getDeletionTimestamp();
    return deleted != null
        ? Duration.between(timeOfDay.instant(), Instant.parse(deleted)).toSeconds()
        : Math.clamp(
            Objects.requireNonNullElse(pod.getSpec().getTerminationGracePeriodSeconds(), DEFAULT_GRACE_SECONDS), 0,
            LONGEST_GRACE_SECONDS);
  }

  /** Whether it is worth waiting for a claim to be freed whose users have ended. */
  private boolean isFreedSoon(ResourceClaim claim) {
    Instant now = clock.instant();
    Instant since = endedSince.computeIfAbsent(claim.getMetadata().getUid(), _ -> now);
    return now.isBefore(since.plus(PATIENCE));
  }

  /** Whether it is worth waiting for a pod that is being deleted. */
  private boolean isGoneSoon(Pod pod) {
    return PodClaims.isBound(pod) && grace(pod) <= LONGEST_GRACE_SECONDS && grace(pod) > -PATIENCE.toSeconds();
  }
}
