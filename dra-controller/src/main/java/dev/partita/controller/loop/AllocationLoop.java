package dev.partita.controller.loop;

import dev.partita.api.MonotonicClock;
import dev.partita.controller.budget.DecisionBudget;
import dev.partita.controller.claim.ClaimReader;
import dev.partita.controller.claim.ClaimReading;
import dev.partita.controller.claim.Ownership;
import dev.partita.controller.claim.PodClaims;
import dev.partita.controller.commit.AllocationWriter;
import dev.partita.controller.commit.Evictor;
import dev.partita.controller.commit.GateRemover;
import dev.partita.controller.commit.PodWriter;
import dev.partita.controller.commit.WriteListener;
import dev.partita.controller.decide.Decider;
import dev.partita.controller.decide.PodDecider;
import dev.partita.controller.decide.PodDecisions;
import dev.partita.controller.edge.ApiEdge;
import dev.partita.controller.events.ClaimEvents;
import dev.partita.controller.events.PodConditions;
import dev.partita.controller.events.PodEvents;
import dev.partita.controller.explain.Answer;
import dev.partita.controller.explain.Question;
import dev.partita.controller.headroom.Headroom;
import dev.partita.controller.preempt.PreemptionSearch;
import dev.partita.controller.preempt.Priorities;
import dev.partita.controller.proposal.OthersProposals;
import dev.partita.controller.quota.QuotaRefresh;
import dev.partita.controller.quota.QuotaStatusWriter;
import dev.partita.controller.request.ClaimRef;
import dev.partita.controller.request.ClaimRequest;
import dev.partita.controller.resize.ResizeDecider;
import dev.partita.controller.resize.ResizeWriter;
import dev.partita.controller.schedule.AbandonedClaims;
import dev.partita.controller.schedule.ClaimNotes;
import dev.partita.controller.schedule.GangScheduler;
import dev.partita.controller.schedule.PodQueue;
import dev.partita.controller.schedule.PodScheduler;
import dev.partita.controller.schedule.PodWrites;
import dev.partita.controller.schedule.Preemption;
import dev.partita.controller.schedule.Resizes;
import dev.partita.controller.schedule.Retries;
import dev.partita.controller.schedule.SchedulingGates;
import dev.partita.controller.schedule.WorkItem;
import dev.partita.controller.selector.DeviceSelectors;
import dev.partita.controller.state.ClaimLedger;
import dev.partita.controller.state.SchedulerState;
import dev.partita.controller.state.Vetoes;
import dev.partita.controller.turns.SetAside;
import dev.partita.controller.turns.Turn;
import dev.partita.controller.watch.ClusterEvent;
import dev.partita.controller.watch.ClusterView;
import dev.partita.controller.watch.EventLoop;
import dev.partita.controller.watch.Heartbeat;
import dev.partita.controller.watch.ObjectKey;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.lang.management.ManagementFactory;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Allocates the claims of pods, during one term of leadership. One thread decides pod by pod, by priority and then by
 * age, as long as no namespace uses much more of its time than others that wait
 * ({@link dev.partita.controller.turns.FairQueue}). A decision counts at once, and other threads write it. After each
 * {@link #SLICE} the thread takes note of what has happened meanwhile, and answers for as long what people ask. A pod
 * that finds no place waits until something changes that could help: it is not polled, and it delays nobody.
 */
public final class AllocationLoop implements AutoCloseable {
  private static final Duration GATHER = Duration.ofMillis(10);

  /** For how long decisions are made before what has happened meanwhile is looked at. */
  private static final Duration SLICE = Duration.ofMillis(100);

  private final ClusterView view;
  private final Clock monotonicClock = MonotonicClock.start(); // how long something lasts, whoever sets the time of day
  private final EventLoop<WorkItem> loop;
  private final Consumer<ClusterEvent> listener;
  private final PodWriter writer;
  private final Evictor evictor;
  private final ResizeWriter resizeWriter;
  private final ClaimEvents events;
  private final PodConditions conditions;
  private final QuotaStatusWriter quotaStatus;

  private final Heartbeat heartbeat = new Heartbeat("the thread that decides about pods");

  // Only the loop's thread touches what follows.
  private final ClaimLedger ledger;
  private final SchedulerState state;
  private final Retries retries;
  private final AbandonedClaims abandoned;
  private final Preemption preemption;
  private final PodScheduler scheduler;
  private final PodQueue queue;
  private final Resizes resizes;
  private final Wakeups wakeups;
  private final ClaimFollower claimFollower;
  private final EventHandlers handlers;
  private final QuotaRefresh quotas;
  private final Questions questions;

  /**
   * @param clock the time of day; how long something lasts goes by one that nobody sets
   * @param instance which instance speaks in events, such as its pod's name
   * @param autoscaledNodes whether an autoscaler of nodes is to see pods that wait
   * @param decides what is asked in the place of what decides about pods
   */
  public AllocationLoop(
      KubernetesClient client,
      ApiEdge edge,
      ClusterView view,
      Clock clock,
      String instance,
      boolean autoscaledNodes,
      UnaryOperator<Decider> decides) {
    this(client, edge, view, clock, instance, autoscaledNodes, decides, SetAside.FIRST);
  }

  /** @param afterFailure how long nothing is decided about a pod after a first decision that fails */
  AllocationLoop(
      KubernetesClient client,
      ApiEdge edge,
      ClusterView view,
      Clock clock,
      String instance,
      boolean autoscaledNodes,
      UnaryOperator<Decider> decides,
      Duration afterFailure) {
    this.view = view;
    ClaimReader claims = new ClaimReader(view::deviceClass, new DeviceSelectors());
    OthersProposals others = new OthersProposals(claim -> asked(claims.read(claim)), monotonicClock);
    this.ledger =
        new ClaimLedger(uid -> PodClaims.mayUse(view.podByUid(uid)), uid -> isOnNode(view.podByUid(uid)), others);
    this.state = new SchedulerState(view, ledger);
    this.quotas = new QuotaRefresh(view, ledger.quotas());
    this.quotaStatus = new QuotaStatusWriter(client, edge.background(), view);
    this.loop = new EventLoop<>("allocation", GATHER, items -> heartbeat.during(() -> handle(items)));
    this.retries = new Retries(loop);
    this.events = new ClaimEvents(client, edge.background(), clock, instance);
    this.conditions = new PodConditions(client, edge.background(), view, clock);
    ClaimNotes notes = new ClaimNotes(events, conditions);
    WriteListener listening = new WriteReports(notes, loop::post);
    this.writer =
        new PodWriter(new AllocationWriter(client, edge), new GateRemover(client, edge.isolated("gates"), view), view,
            clock, ledger::isSpent, listening);
    this.abandoned = new AbandonedClaims(view, state, others,
        claim -> Ownership.isOurs(claim.getSpec(), view::deviceClass), writer, retries);
    LongSupplier processorTime = ManagementFactory.getThreadMXBean()::getCurrentThreadCpuTime;
    DecisionBudget budget = new DecisionBudget(processorTime);
    Vetoes vetoes = new Vetoes();
    PodDecider decider = new PodDecider(view, state, vetoes, budget, heartbeat);
    PodDecisions decisions = new PodDecisions(decides.apply(decider), state, monotonicClock);
    this.evictor =
        new Evictor(client, edge.isolated("evictions"),
            new PodEvents(client, edge.isolated("pod-events"), clock, instance), listening, state::standing);
    Priorities priorities = new Priorities();
    PreemptionSearch search = new PreemptionSearch(view, state, decisions, priorities, monotonicClock, clock);
    this.preemption = new Preemption(view, monotonicClock, state, search, evictor, retries, budget);
    PodWrites writes = new PodWrites(writer, retries);
    SchedulingGates gates =
        new SchedulingGates(view, clock, state, preemption, writes, retries, autoscaledNodes);
    this.scheduler = new PodScheduler(view, state, decisions, preemption, writes, gates, abandoned, notes);
    GangScheduler gangs =
        new GangScheduler(view, monotonicClock, decisions, scheduler, preemption, gates, abandoned, retries);
    this.queue = new PodQueue(view, state.loads(), scheduler, gangs, retries, budget, processorTime, monotonicClock,
        afterFailure);
    this.questions = new Questions(view, state, new Explanations(view, scheduler, decisions, budget)::answer);
    this.resizeWriter =
        new ResizeWriter(client, edge.isolated("resizes"),
            (write, version) -> loop.post(new WorkItem.ResizeWritten(write, version)));
    this.resizes =
        new Resizes(view, ledger, new ResizeDecider(state), resizeWriter::write, events, retries, monotonicClock);
    StaleReasons stale = new StaleReasons(pause -> retries.after(pause, new WorkItem.ReasonsRefresh()));
    this.wakeups = new Wakeups(queue, resizes, scheduler, stale);
    PodFollower podFollower =
        new PodFollower(view, state, priorities, decider.demandRecorder(), abandoned, scheduler, queue, wakeups);
    this.claimFollower =
        new ClaimFollower(view, state, vetoes, abandoned, scheduler, wakeups, retries, monotonicClock);
    NodeFollower nodeFollower = new NodeFollower(view, state, quotas, abandoned, wakeups);
    this.handlers =
        new EventHandlers(view, podFollower, claimFollower, nodeFollower, resizes, scheduler, quotas, wakeups);
    this.listener = event -> loop.post(new WorkItem.ClusterChange(event));
  }

  /** Begins to allocate. */
  public void start() {
    loop.post(new WorkItem.TermStart());
    view.listen(listener);
    loop.start();
  }

  /** What is wrong if it has been at one event or one decision for longer than that. For any thread. */
  public Optional<String> stuck(Duration most) {
    return heartbeat.stuck(most);
  }

  /**
   * How a pod stands, or the pods that use a claim: as it would be decided now, within a budget. Whoever does not wait
   * for the answer any more is to cancel it, so that no time is spent on it.
   */
  public CompletionStage<Answer> explain(Question question) {
    CompletableFuture<Answer> answer = new CompletableFuture<>();
    loop.post(new WorkItem.ExplanationRequest(question, answer));
    return answer;
  }

  /** What would fit now, by model; also to be cancelled by whoever does not wait for it any more. */
  public CompletionStage<SortedMap<String, Headroom>> headroom() {
    CompletableFuture<SortedMap<String, Headroom>> headroom = new CompletableFuture<>();
    loop.post(new WorkItem.HeadroomRequest(headroom));
    return headroom;
  }

  /** How much waits, by the name of the queue. For any thread. */
  public Map<String, Integer> queueLengths() {
    return Map.of("events", loop.waiting(), "pods", queue.waiting(), "writes", writer.waiting(), "gates",
        writer.gatesWaiting());
  }

  /** Stops deciding; writes that are under way end or are refused by the edge. */
  @Override
  public void close() {
    view.unlisten(listener);
    loop.close();
    writer.close();
    evictor.close();
    resizeWriter.close();
    quotaStatus.close();
    conditions.close();
    events.close();
  }

  private void handle(Set<WorkItem> items) {
    Set<ObjectKey> pods = new LinkedHashSet<>();
    List<WorkItem> asked = new ArrayList<>();
    for (WorkItem item : items) {
      heartbeat.beat();
      switch (item) {
        case WorkItem.ExplanationRequest _,WorkItem.HeadroomRequest _ -> asked.add(item);
        default -> Guarded.run(item, () -> handle(item, pods));
      }
    }
    Guarded.run("quotas", this::lookAtQuotas);
    queue.want(pods);
    Guarded.run("pods", this::go);
    answer(asked);
    Guarded.run("the status of quotas", () -> quotaStatus.tell(ledger.quotas().statuses()));
  }

  /** Answers for a while, too; who is left has an answer after the next decisions. */
  private void answer(List<WorkItem> asked) {
    long start = System.nanoTime();
    for (WorkItem item : asked) {
      switch (item) {
        case WorkItem _ when System.nanoTime() - start > SLICE.toNanos() -> loop.post(item);
        case WorkItem.ExplanationRequest question -> questions.explain(question);
        case WorkItem.HeadroomRequest(CompletableFuture<SortedMap<String, Headroom>> headroom) ->
            questions.measure(headroom);
        default -> throw new IllegalArgumentException("is no question: " + item);
      }
    }
  }

  private void lookAtQuotas() {
    if (quotas.changed(state.inventory())) {
      wakeups.helps();
    }
  }

  /** Decides for a while; the rest follows after what has been posted meanwhile. */
  private void go() {
    boolean more = true;
    long start = System.nanoTime();
    try {
      more = queue.go(SLICE);
    } finally {
      if (state.gaveUp()) {
        wakeups.helps();
        more = true;
      }
      wakeups.decided(Duration.ofNanos(System.nanoTime() - start));
      if (more) {
        loop.post(new WorkItem.NextDecisions());
      } else {
        wakeups.allDecided();
      }
    }
  }

  private void handle(WorkItem item, Set<ObjectKey> pods) {
    switch (item) {
      case WorkItem.TermStart _ -> handlers.begin(pods);
      case WorkItem.ClusterChange(ClusterEvent event) -> handlers.handle(event, pods);
      case WorkItem.PodCheck(ObjectKey pod) -> pods.add(pod);
      case WorkItem.BackoffEnd(Turn turn, String id) -> queue.asideOver(turn, id);
      case WorkItem.NextDecisions _ -> {} // decisions go on after every batch
      case WorkItem.ReasonsRefresh _ -> wakeups.sayAgain();
      case WorkItem.VetoEnd(ObjectKey claim) -> claimFollower.addPodsOf(claim, pods);
      case WorkItem.ReleaseFailed(ObjectKey claim, String claimUid) -> abandoned.notReleased(claim, claimUid);
      case WorkItem.DecisionRetry(ObjectKey pod) -> {
        retries.tried(pod);
        pods.add(pod);
      }
      case WorkItem.ProposalCheck(ObjectKey claim, String claimUid) -> {
        abandoned.withdraw(claim, claimUid);
        handlers.claimChanged(claim, claimUid, pods); // what was proposed for it may not count any more
      }
      case WorkItem.ReleaseRetry(ObjectKey claim, String claimUid) -> {
        abandoned.tried(claimUid);
        abandoned.withdraw(claim, claimUid);
        abandoned.look(claim);
        claimFollower.addPodsOf(claim, pods); // one that waits may have to give back what it has there
      }
      case WorkItem.EvictionRefused(ObjectKey pod, String podUid, String victimUid) -> {
        preemption.refused(pod, podUid, victimUid);
        pods.add(pod);
      }
      case WorkItem.EvictionNotSent(ObjectKey pod, String podUid, String victimUid) ->
          preemption.notSent(pod, podUid, victimUid);
      case WorkItem.ClaimWritten(ClaimRef claim, Optional<String> version) ->
          claimFollower.written(claim, version, pods);
      case WorkItem.PodWritten(ObjectKey pod, boolean failed) -> finished(pod, failed, pods);
      case WorkItem.ResizeWritten(ResizeWriter.Write write, Optional<String> version) -> {
        if (resizes.written(write, version)) {
          wakeups.helps();
        }
      }
      case WorkItem.ResizeRetry(ObjectKey claim) -> resizes.again(claim);
      case WorkItem.ResizeCheck _ -> resizes.turn();
      case WorkItem.ExplanationRequest _,WorkItem.HeadroomRequest _ ->
          throw new IllegalArgumentException("is for the whole batch: " + item);
    }
  }

  private static boolean isOnNode(@Nullable Pod pod) {
    return pod != null && PodClaims.takesRoom(pod);
  }

  private static Optional<ClaimRequest> asked(ClaimReading reading) {
    return reading instanceof ClaimReading.Understood(ClaimRequest request) ? Optional.of(request) : Optional.empty();
  }

  private void finished(ObjectKey pod, boolean failed, Set<ObjectKey> pods) {
    scheduler.finished(pod, failed);
    if (failed) {
      wakeups.helps(); // what was assumed for it is free again
    } else {
      pods.add(pod); // it may have changed in the meantime
    }
  }
}
