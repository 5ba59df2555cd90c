package dev.partita.controller.claims;

import dev.partita.controller.allocate.Booking;
import dev.partita.controller.allocate.Outcome;
import dev.partita.controller.claims.Nomination.Grounds;
import dev.partita.controller.inventory.GpuHost;
import dev.partita.controller.inventory.Inventory;
import dev.partita.controller.nodes.NodeLoads;
import dev.partita.controller.nodes.PodRequests;
import dev.partita.controller.preempt.Victim;
import dev.partita.controller.preempt.VictimChoice;
import dev.partita.controller.watch.ClusterView;
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
import org.jspecify.annotations.Nullable;

/**
 * Makes room for a pod that finds no place, at the cost of pods of lower priority, or of pods that borrow what is guaranteed to
 * the pod's namespace. For one thread.
 */
final class Preemption {
  /** How long a victim may take beyond its grace period before something else is tried. */
  private static final Duration PATIENCE = Duration.ofMinutes(5);

  private static final Duration PROTECTED = Duration.ofSeconds(30);
  private static final long DEFAULT_GRACE_SECONDS = 30;

  private final ClusterView view;
  private final Clock clock;
  private final ClaimLedger ledger;
  private final NodeLoads loads;
  private final Nominations nominations;
  private final Evictor evictor;
  private final Retries retries;
  private final Priorities priorities;
  private final SearchSlots slots;
  private final Map<String, Instant> protectedUntil = new HashMap<>();

  Preemption(
      ClusterView view,
      Clock clock,
      ClaimLedger ledger,
      NodeLoads loads,
      Nominations nominations,
      Evictor evictor,
      Retries retries,
      Priorities priorities) {
    this.view = view;
    this.clock = clock;
    this.ledger = ledger;
    this.loads = loads;
    this.nominations = nominations;
    this.evictor = evictor;
    this.retries = retries;
    this.priorities = priorities;
    this.slots = new SearchSlots(clock);
  }

  /**
   * Looks for room for a pod that waits, and has victims evicted.
   *
   * @return what is being done, for people; empty if nothing is
   */
  Optional<String> makeRoom(Pod pod, Decision.Wait wait, Inventory inventory) {
    String uid = pod.getMetadata().getUid();
    Optional<Nomination> standing = nominations.of(uid);
    if (standing.isPresent() && isUnderWay(standing.get())) {
      return Optional.of(words(standing.get()));
    }
    nominations.remove(uid);
    if ("Never".equals(pod.getSpec().getPreemptionPolicy()) || PodClaims.isBound(pod)) {
      return Optional.empty();
    }
    boolean mayReclaim = ledger.quotas().guarantees(pod.getMetadata().getNamespace());
    if (!mayReclaim && !priorities.isAnyBelow(PodTurns.priority(pod))) {
      return Optional.empty();
    }
    Optional<Duration> pause = slots.ask(uid);
    if (pause.isEmpty() || pause.get().isPositive()) {
      pause.ifPresent(later -> retries.after(later, new WorkItem.Again(ObjectKey.of(pod))));
      return Optional.empty();
    }
    long start = System.nanoTime();
    Optional<Nomination> fresh =
        nominations.without(
            uid,
            PodTurns.priority(pod),
            () ->
                choose(pod, wait, inventory, new Grounds.Priority(), onNode -> onNode.victims().keySet())
                    .or(() -> mayReclaim ? reclaim(pod, wait, inventory) : Optional.empty()));
    slots.done(uid, Duration.ofNanos(System.nanoTime() - start));
    fresh.ifPresent(
        nomination -> {
          nominations.put(nomination);
          retries.after(Duration.between(clock.instant(), nomination.until()), new WorkItem.Again(ObjectKey.of(pod)));
          evictor.evict(pod, nomination);
        });
    return fresh.map(Preemption::words);
  }

  /** Nothing is kept any longer for a pod that does not come for it in time. */
  void endIfOver(String podUid) {
    nominations.of(podUid).filter(nomination -> !isUnderWay(nomination)).ifPresent(over -> nominations.remove(podUid));
  }

  /** The pod is over or gone. */
  void forget(String podUid) {
    nominations.remove(podUid);
    slots.forget(podUid);
  }

  /** A victim may not be evicted, by a PodDisruptionBudget or otherwise: others are looked for. */
  void refused(ObjectKey pod, String podUid, String victimUid) {
    nominations.remove(podUid);
    protectedUntil.values().removeIf(until -> until.isBefore(clock.instant()));
    protectedUntil.put(victimUid, clock.instant().plus(PROTECTED));
    retries.after(PROTECTED, new WorkItem.Again(pod));
  }

  private boolean isUnderWay(Nomination nomination) {
    return clock.instant().isBefore(nomination.until())
        && (nomination.victims().stream().anyMatch(victim -> view.podByUid(victim.uid()) != null)
            || nomination.claims().stream().anyMatch(ledger::isTaken));
  }

  private Optional<Nomination> reclaim(Pod pod, Decision.Wait wait, Inventory inventory) {
    Grounds guarantee = new Grounds.Guarantee(pod.getMetadata().getNamespace());
    Borrowers borrowers = new Borrowers(ledger, nominations, PodTurns.priority(pod));
    return choose(pod, wait, inventory, guarantee, borrowers::smallestFirst).or(() -> choose(pod, wait, inventory, guarantee, borrowers::largestFirst));
  }

  private Optional<Nomination> choose(Pod pod, Decision.Wait wait, Inventory inventory, Grounds grounds, Function<VictimsOnNode, Set<Victim>> who) {
    Map<String, VictimsOnNode> nodes = new HashMap<>();
    SortedMap<String, Set<Victim>> candidates = new TreeMap<>();
    for (GpuHost host : inventory.hosts().values()) {
      VictimsOnNode onNode = VictimsOnNode.of(view, host.name(), victim -> mayGo(victim, pod, grounds));
      if (!onNode.victims().isEmpty()) {
        nodes.put(host.name(), onNode);
        candidates.put(host.name(), who.apply(onNode));
      }
    }
    VictimChoice.Place place =
        (node, gone) -> {
          GpuHost host = Objects.requireNonNull(inventory.host(node));
          Optional<Outcome.Allocated> found = without(Objects.requireNonNull(nodes.get(node)), gone, () -> wait.trial().on(host));
          return found.isPresent()
              && switch (grounds) {
                case Grounds.Priority() -> true;
                case Grounds.Guarantee(String namespace) -> ledger.quotas().isGuaranteed(namespace, bookings(found.get()));
              };
        };
    return VictimChoice.choose(candidates, place)
        .map(
            chosen -> {
              VictimsOnNode onNode = Objects.requireNonNull(nodes.get(chosen.node()));
              GpuHost host = Objects.requireNonNull(inventory.host(chosen.node()));
              Outcome.Allocated outcome = without(onNode, Set.copyOf(chosen.victims()), () -> wait.trial().on(host)).orElseThrow();
              long grace = chosen.victims().stream().mapToLong(victim -> grace(Objects.requireNonNull(onNode.victims().get(victim)))).max().orElse(0);
              return new Nomination(
                  pod.getMetadata().getUid(),
                  PodTurns.priority(pod),
                  chosen.node(),
                  bookings(outcome).stream().flatMap(List::stream).toList(),
                  PodRequests.of(pod),
                  chosen.victims(),
                  grounds,
                  onNode.freedBy(Set.copyOf(chosen.victims())),
                  clock.instant().plusSeconds(grace).plus(PATIENCE));
            });
  }

  /** Whether the preemptor may have the victim evicted at all. */
  private boolean mayGo(Pod victim, Pod preemptor, Grounds grounds) {
    @Nullable Instant until = protectedUntil.get(victim.getMetadata().getUid());
    if (!PodClaims.isBound(victim) || (until != null && until.isAfter(clock.instant())) || VictimsOnNode.isStatic(victim)) {
      return false;
    }
    int higher = Integer.compare(PodTurns.priority(preemptor), PodTurns.priority(victim));
    return higher > 0 || (grounds instanceof Grounds.Guarantee && higher == 0 && borrows(victim));
  }

  private boolean borrows(Pod victim) {
    for (ObjectKey key : PodClaims.of(victim).orElse(List.of())) {
      @Nullable ResourceClaim claim = view.claim(key);
      if (claim != null && ledger.quotas().isBorrowed(claim.getMetadata().getUid())) {
        return true;
      }
    }
    return false;
  }

  private <T> T without(VictimsOnNode onNode, Set<Victim> gone, Supplier<T> question) {
    gone.forEach(victim -> loads.remove(victim.uid()));
    try {
      return ledger.without(onNode.freedBy(gone), question);
    } finally {
      for (Victim victim : gone) {
        Pod pod = Objects.requireNonNull(onNode.victims().get(victim));
        loads.put(victim.uid(), onNode.node(), PodRequests.of(pod));
      }
    }
  }

  private static List<List<Booking>> bookings(Outcome.Allocated outcome) {
    return outcome.claims().stream().map(Outcome.ClaimPlacement::bookings).toList();
  }

  private static long grace(Pod pod) {
    return Objects.requireNonNullElse(pod.getSpec().getTerminationGracePeriodSeconds(), DEFAULT_GRACE_SECONDS);
  }

  private static String words(Nomination nomination) {
    return "preempts " + String.join(", ", nomination.victims().stream().map(Victim::toString).toList()) + " on " + nomination.node();
  }
}
