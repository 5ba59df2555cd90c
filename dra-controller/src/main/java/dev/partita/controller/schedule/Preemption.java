package dev.partita.controller.schedule;

import dev.partita.controller.budget.DecisionBudget;
import dev.partita.controller.budget.OverBudgetException;
import dev.partita.controller.commit.Evictor;
import dev.partita.controller.decide.Decision;
import dev.partita.controller.preempt.PreemptionPlan;
import dev.partita.controller.preempt.PreemptionSearch;
import dev.partita.controller.state.Nomination;
import dev.partita.controller.state.SchedulerState;
import dev.partita.controller.turns.SearchSlots;
import dev.partita.controller.watch.ClusterObjects;
import dev.partita.controller.watch.ObjectKey;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes room for a pod that finds no place, at the cost of pods of lower priority, or of pods that borrow what is
 * guaranteed to the pod's namespace. For one thread.
 */
public final class Preemption {
  private static final Logger LOG = LoggerFactory.getLogger(Preemption.class);

  private static final Duration PROTECTED = Duration.ofSeconds(30);

  /** What a search for room may take of the thread's time: everybody waits for it. */
  private static final Duration SEARCH = Duration.ofMillis(500);

  /** Of so many parts of the time one is for such searches. */
  private static final int PARTS = 5;

  private final ClusterObjects view;
  private final Clock clock;
  private final SchedulerState state;
  private final PreemptionSearch search;
  private final Evictor evictor;
  private final Retries retries;
  private final DecisionBudget budget;
  private final SearchSlots slots;

  public Preemption(
      ClusterObjects view,
      Clock clock,
      SchedulerState state,
      PreemptionSearch search,
      Evictor evictor,
      Retries retries,
      DecisionBudget budget) {
    this.view = view;
    this.clock = clock;
    this.state = state;
    this.search = search;
    this.evictor = evictor;
    this.retries = retries;
    this.budget = budget;
    this.slots = new SearchSlots(clock, PARTS);
  }

  /**
   * Looks for room for a pod that waits, and has victims evicted.
   *
   * @return what is being done, for people; empty if nothing is
   */
  Optional<String> makeRoom(Pod pod, Decision.Wait wait) {
    return makeRoom(List.of(pod), () -> search.forPod(pod, wait));
  }

  /**
   * Looks for room for pods of a gang, for all of them or for none, and has victims evicted.
   *
   * @param pods those that have no place yet and are needed; nothing counts as taken for them
   * @return what is being done, for people; empty if nothing is
   */
  Optional<String> makeRoom(List<Pod> pods) {
    return makeRoom(pods, () -> search.forGang(pods));
  }

  private Optional<String> makeRoom(List<Pod> pods, Supplier<Optional<PreemptionPlan>> planned) {
    List<Nomination> underWay = pods.stream().flatMap(pod -> underWay(pod).stream()).toList();
    if (!underWay.isEmpty()) {
      return PreemptionPlan.words(underWay);
    }
    drop(pods);
    if (pods.stream().noneMatch(search::mayEvict)) {
      pods.forEach(pod -> slots.forget(pod.getMetadata().getUid()));
      return Optional.empty();
    }
    Optional<PreemptionPlan> plan = inTheirTurn(pods, planned);
    plan.ifPresent(this::begin);
    return plan.flatMap(PreemptionPlan::words);
  }

  /** Whether room may yet be made for the pod: it is to be searched, or is being made. */
  boolean mayMakeRoom(Pod pod) {
    return slots.isGiven(pod.getMetadata().getUid()) || underWay(pod).isPresent();
  }

  /** What is being done for the pod, as long as it may still help. */
  private Optional<Nomination> underWay(Pod pod) {
    return state.nominated(pod.getMetadata().getUid()).filter(this::isUnderWay);
  }

  /** Searches if it is the turn of these to have a search, all together; otherwise they get one later. */
  private Optional<PreemptionPlan> inTheirTurn(List<Pod> pods, Supplier<Optional<PreemptionPlan>> planned) {
    Pod pod = pods.stream().filter(each -> slots.isGiven(each.getMetadata().getUid())).findFirst()
        .orElse(pods.getFirst());
    String uid = pod.getMetadata().getUid();
    Optional<Duration> pause = slots.ask(uid);
    if (pause.isEmpty() || pause.get().isPositive()) {
      pause.ifPresent(later -> retries.after(later, new WorkItem.PodCheck(ObjectKey.of(pod))));
      return Optional.empty();
    }
    long start = System.nanoTime();
    try {
      return budget.withOwnTime(SEARCH, planned);
    } catch (OverBudgetException e) {
      LOG.info("pod {}: no pod is evicted for it, for the search for room was given up: {}", ObjectKey.of(pod),
          e.getMessage());
      return Optional.empty();
    } finally {
      slots.done(uid, Duration.ofNanos(System.nanoTime() - start));
    }
  }

  /** Keeps these places for the pods, and has the victims evicted. */
  private void begin(PreemptionPlan plan) {
    plan.nominations().forEach(
        (pod, nomination) -> {
          state.nominate(nomination);
          retries.after(Duration.between(clock.instant(), nomination.awaited().until()),
              new WorkItem.PodCheck(ObjectKey.of(pod)));
        });
    evictor.evict(plan.nominations());
  }

  /** Ends the nominations of these pods. */
  void drop(List<Pod> pods) {
    pods.forEach(pod -> state.endNomination(pod.getMetadata().getUid()));
  }

  /** Ends the nomination of a pod that does not take its place in time. */
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
  public void refused(ObjectKey pod, String podUid, String victimUid) {
    search.spare(victimUid, PROTECTED);
    lookAgain(pod, podUid, victimUid, PROTECTED);
  }

  /** No eviction of a victim was sent: room is looked for a while later, and nobody is spared. */
  public void notSent(ObjectKey pod, String podUid, String victimUid) {
    lookAgain(pod, podUid, victimUid, Evictor.PAUSE);
  }

  private void lookAgain(ObjectKey pod, String podUid, String victimUid, Duration later) {
    state.endNomination(podUid);
    state.endNominationsAwaiting(victimUid);
    retries.after(later, new WorkItem.PodCheck(pod));
  }

  private boolean isUnderWay(Nomination nomination) {
    return clock.instant().isBefore(nomination.awaited().until())
        && (nomination.awaited().pods().stream().anyMatch(victim -> view.podByUid(victim) != null)
            || nomination.awaited().claims().stream().anyMatch(state.claims()::isTaken));
  }
}
