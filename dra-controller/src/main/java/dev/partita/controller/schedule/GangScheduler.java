package dev.partita.controller.schedule;

import dev.partita.controller.gang.GangKey;
import dev.partita.controller.gang.Gang;
import dev.partita.controller.claim.AllocatedClaim;
import dev.partita.controller.claim.PodClaims;
import dev.partita.controller.claim.PodOrder;
import dev.partita.controller.decide.Decider;
import dev.partita.controller.decide.Decision;
import dev.partita.controller.decide.GangDecision;
import dev.partita.controller.decide.PodDecisions;
import dev.partita.controller.decide.WhyWaiting;
import dev.partita.controller.state.PodPlan;
import dev.partita.controller.turns.Turn;
import dev.partita.controller.watch.ClusterObjects;
import dev.partita.controller.watch.ObjectKey;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Decides about gangs. It allocates nothing to any pod before there is a place for as many as the gang must have.
 * Places found for some of the pods count only within the decision, so that two gangs, each with half its pods, cannot
 * block each other. For one thread.
 */
public final class GangScheduler {
  /** The least pause between two looks at a gang that is not complete. */
  private static final Duration PAUSE = Duration.ofSeconds(1);

  /** That pause for each of its pods, for which an event and a condition are written every time. */
  private static final Duration FOR_EACH_POD = Duration.ofMillis(50);

  /** A gang that is not complete takes no more than this part of the time. */
  private static final int PART_OF_THE_TIME = 20;

  /** A gang that is looked at later is not set aside by any name. */
  private static final String NOTHING = "";

  private final ClusterObjects view;
  private final Clock clock;
  private final PodDecisions decisions;
  private final PodScheduler scheduler;
  private final Preemption preemption;
  private final SchedulingGates gates;
  private final AbandonedClaims abandoned;
  private final Retries retries;
  private final Map<GangKey, Look> looks = new HashMap<>();

  /**
   * When a gang that is not complete was looked at.
   *
   * @param next the next time, whoever comes meanwhile
   * @param isSetUp whether it is looked at then in any case
   */
  private record Look(Instant next, boolean isSetUp) {}

  /** @param clock cannot be set, unlike the time of day */
  public GangScheduler(
      ClusterObjects view,
      Clock clock,
      PodDecisions decisions,
      PodScheduler scheduler,
      Preemption preemption,
      SchedulingGates gates,
      AbandonedClaims abandoned,
      Retries retries) {
    this.view = view;
    this.clock = clock;
    this.retries = retries;
    this.decisions = decisions;
    this.scheduler = scheduler;
    this.preemption = preemption;
    this.gates = gates;
    this.abandoned = abandoned;
  }

  /** @return whether a place was looked for, and not found */
  boolean decide(GangKey gang) {
    List<Pod> there = view.podsOfGang(gang).stream().filter(Gang::isThere).toList();
    if (there.stream().anyMatch(pod -> scheduler.isWriting(ObjectKey.of(pod)))) {
      return false; // when that has ended it is looked at again
    }
    switch (Gang.state(gang, there, view)) {
      case Gang.State.Waits(String why) -> {
        wait(gang, why, there);
        return false;
      }
      case Gang.State.Complete(int size) -> {
        looks.remove(gang);
        List<Pod> live = live(there);
        return place(gang, size - (there.size() - live.size()), live);
      }
    }
  }

  private static List<Pod> live(List<Pod> there) {
    return there.stream().filter(PodClaims::isLive).sorted(PodOrder.MOST_URGENT_FIRST).toList();
  }

  /**
   * A pod that comes to the gang makes false what the others were told. That is put right after a pause, for all that
   * came meanwhile.
   */
  private void wait(GangKey gang, String why, List<Pod> there) {
    Instant now = clock.instant();
    @Nullable Look last = looks.get(gang);
    if (last != null && now.isBefore(last.next())) {
      if (!last.isSetUp() && !there.isEmpty()) {
        looks.put(gang, new Look(last.next(), true));
        retries.after(Duration.between(now, last.next()).plusMillis(1),
            new WorkItem.BackoffEnd(new Turn.OfGang(gang), NOTHING));
      }
      return;
    }
    looks.values().removeIf(look -> !now.isBefore(look.next()));
    List<Pod> live = live(there);
    long start = System.nanoTime();
    preemption.drop(live);
    for (Pod pod : live) {
      if (isSettled(pod)) {
        giveBack(pod, why);
      } else {
        hold(pod, decisions.read(pod), why);
      }
    }
    Duration took = Duration.ofNanos(System.nanoTime() - start);
    Duration pause =
        Collections.max(List.of(PAUSE, FOR_EACH_POD.multipliedBy(live.size()), took.multipliedBy(PART_OF_THE_TIME)));
    looks.put(gang, new Look(now.plus(pause), false));
  }

  /** @return whether there was no place */
  private boolean place(GangKey gang, int wanted, List<Pod> live) {
    List<Pod> settled = new ArrayList<>();
    List<Pod> open = new ArrayList<>();
    for (Pod pod : live) {
      (isSettled(pod) && !isHeldBack(pod) ? settled : open).add(pod);
    }
    int missing = wanted - settled.size();
    if (missing <= 0) {
      live.forEach(pod -> scheduler.decide(pod)); // each by itself: as many as there must be have their place
      return false;
    }
    List<GangDecision.NoPlace> leftOut = leftOut(open, missing);
    List<Pod> without = leftOut.stream().map(GangDecision.NoPlace::pod).toList();
    leftOut.forEach(each -> scheduler.apply(each.pod(), each.decision()));
    preemption.drop(without);
    Set<ObjectKey> keys = without.stream().map(ObjectKey::of).collect(Collectors.toSet());
    List<Pod> tried = open.stream().filter(pod -> !keys.contains(ObjectKey.of(pod))).toList();
    return switch (decisions.place(tried, missing)) {
      case GangDecision.Placed(List<PodPlan> plans) when plans.isEmpty() -> {
        live.forEach(each -> scheduler.decide(each)); // others are to allocate what is not allocated yet
        yield false;
      }
      case GangDecision.Placed(List<PodPlan> plans) -> {
        scheduler.write(plans);
        yield false;
      }
      case GangDecision.LeaveToScheduler _ -> {
        live.forEach(each -> scheduler.decide(each)); // kube-scheduler knows no gangs
        yield false;
      }
      case GangDecision.NoPlace(Pod _, Decision.Nothing _) -> false; // its next change comes back here
      case GangDecision.NoPlace(Pod pod, Decision decision) -> {
        List<Pod> needed = tried.subList(0, missing);
        refuse(gang, pod, decision, tried, Stream.concat(settled.stream(), without.stream()).toList());
        if (live.stream().flatMap(each -> unused(each)).findAny().isPresent()) {
          yield true; // when that is given back all of it is decided anew
        }
        if (decision instanceof Decision.Wait wait) {
          preemption.makeRoom(needed).ifPresentOrElse(words -> needed
              .forEach(each -> scheduler.awaitVictims(each, waiting(each), gang.title() + ": " + words)),
              () -> gates.show(needed, wait));
        } else {
          preemption.drop(needed);
        }
        yield true;
      }
    };
  }

  /** The pods that get no place as they stand, and what is to be done about each, if the gang has enough others. */
  private List<GangDecision.NoPlace> leftOut(List<Pod> open, int missing) {
    if (open.size() == missing) {
      return List.of();
    }
    List<GangDecision.NoPlace> unable = open.stream().flatMap(pod -> unable(pod).stream()).toList();
    return open.size() - unable.size() < missing ? List.of() : unable;
  }

  /** What is to be done about a pod that gets no place as it stands; empty if one is to be looked for. */
  private Optional<GangDecision.NoPlace> unable(Pod pod) {
    return switch (decisions.read(pod)) {
      case Decider.Reading.Decided(Decision decision) -> switch (decision) {
        case Decision.ClaimMissing _,Decision.HeldBack _,Decision.Refuse _ ->
            Optional.of(new GangDecision.NoPlace(pod, decision));
        case Decision.Nothing _,Decision.LeaveToScheduler _,Decision.Settled _,Decision.Wait _,Decision.Allocate _ ->
            Optional.empty();
      };
      case Decider.Reading.Open _ -> Optional.empty();
    };
  }

  /**
   * The gang waits.
   *
   * @param open those that wait with the pod
   * @param others those that do not: what they have is given back
   */
  private void refuse(GangKey gang, Pod pod, Decision decision, List<Pod> open, List<Pod> others) {
    scheduler.apply(pod, decision);
    String why =
        gang.title() + ": waits for pod " + pod.getMetadata().getName()
            + switch (decision) {
              case Decision.Wait wait -> ": " + wait.why().summary(WhyWaiting.MAX_EXPLANATION);
              case Decision.Refuse(Map<ResourceClaim, List<String>> problems, List<ResourceClaim> _) ->
                  ": " + String.join("; ", problems.values().stream().flatMap(List::stream).toList());
              case Decision.HeldBack(List<String> gates, List<ResourceClaim> _) ->
                  ", which has scheduling gates of others: " + String.join(", ", gates);
              case Decision.Nothing _,Decision.LeaveToScheduler _,Decision.Settled _,Decision.ClaimMissing _,Decision.Allocate _ ->
                  ", whose claims are not there yet";
            };
    release(pod, why);
    open.stream().filter(other -> !other.equals(pod)).forEach(other -> hold(other, why));
    others.forEach(other -> giveBack(other, why));
  }

  /** Gives back what the pod has and nobody uses: its gang may never be complete again. */
  private void giveBack(Pod pod, String why) {
    scheduler.waitFor(pod);
    release(pod, why);
  }

  private void release(Pod pod, String why) {
    abandoned.release(unused(pod).toList(), why);
  }

  /** What it has and nobody uses, but for what others than its gang wait to use. */
  private Stream<ResourceClaim> unused(Pod pod) {
    Optional<GangKey> gang = view.gangOf(pod);
    return claims(pod).stream().filter(AllocatedClaim::isUnusedAndOurs)
        .filter(claim -> view.podsOf(ObjectKey.of(claim)).stream().filter(PodClaims::isLive)
            .allMatch(user -> view.gangOf(user).equals(gang)));
  }

  /** Whether all its claims are allocated. */
  private boolean isSettled(Pod pod) {
    Optional<List<ObjectKey>> keys = PodClaims.of(pod);
    return keys.isPresent() && claims(pod).stream().filter(AllocatedClaim::isAllocated).count() == keys.get().size();
  }

  /** Whether others' gates keep it from what it has, which is taken back. */
  private boolean isHeldBack(Pod pod) {
    return decisions.read(pod) instanceof Decider.Reading.Decided(Decision.HeldBack _);
  }

  /** A pod for which there is nothing to allocate, or not any more, waits for nobody. */
  private void hold(Pod pod, Decider.Reading reading, String why) {
    switch (reading) {
      case Decider.Reading.Decided(Decision.ClaimMissing missing) -> scheduler.apply(pod, missing);
      case Decider.Reading.Decided(Decision.Settled settled) when claims(pod).stream()
          .noneMatch(AllocatedClaim::isAllocated) ->
          scheduler.apply(pod, settled);
      case Decider.Reading _ -> hold(pod, why);
    }
  }

  /** What it has already nobody is to wait for either, be it one of several claims, or all that are ours. */
  private void hold(Pod pod, String why) {
    scheduler.hold(pod, waiting(pod), why);
    release(pod, why);
  }

  private List<ResourceClaim> waiting(Pod pod) {
    return claims(pod).stream().filter(claim -> !AllocatedClaim.isAllocated(claim)).toList();
  }

  private List<ResourceClaim> claims(Pod pod) {
    List<ResourceClaim> claims = new ArrayList<>();
    for (ObjectKey key : PodClaims.of(pod).orElse(List.of())) {
      @Nullable ResourceClaim claim = view.claim(key);
      Optional.ofNullable(claim).ifPresent(claims::add);
    }
    return claims;
  }
}
