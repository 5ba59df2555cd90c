package dev.partita.controller.schedule;

import dev.partita.controller.gang.GangKey;
import dev.partita.api.MonotonicClock;
import dev.partita.controller.budget.DecisionBudget;
import dev.partita.controller.claim.ClaimReader;
import dev.partita.controller.claim.ClaimReading;
import dev.partita.controller.claim.Ownership;
import dev.partita.controller.claim.PodClaims;
import dev.partita.controller.claim.RequestPart;
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
import dev.partita.controller.inventory.GpuHost;
import dev.partita.controller.inventory.Inventory;
import dev.partita.controller.preempt.PreemptionSearch;
import dev.partita.controller.preempt.Priorities;
import dev.partita.controller.proposal.OthersProposals;
import dev.partita.controller.quota.QuotaRefresh;
import dev.partita.controller.quota.QuotaStatusWriter;
import dev.partita.controller.request.ClaimRef;
import dev.partita.controller.request.ClaimRequest;
import dev.partita.controller.resize.ResizeDecider;
import dev.partita.controller.resize.ResizeWriter;
import dev.partita.controller.selector.DeviceSelectors;
import dev.partita.controller.state.ClaimLedger;
import dev.partita.controller.state.HostReadiness;
import dev.partita.controller.state.NodeFacts;
import dev.partita.controller.state.SchedulerState;
import dev.partita.controller.state.Vetoes;
import dev.partita.controller.turns.Fatal;
import dev.partita.controller.turns.Turn;
import dev.partita.controller.watch.ClusterEvent;
import dev.partita.controller.watch.ClusterView;
import dev.partita.controller.watch.EventLoop;
import dev.partita.controller.watch.Heartbeat;
import dev.partita.controller.watch.ObjectKey;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Allocates the claims of pods, during one term of leadership. One thread decides pod by pod, by priority and then by
 * age, as long as no namespace uses much more of its time than others that wait
 * ({@link dev.partita.controller.turns.FairQueue}). A decision counts at once, and other threads write it. After each
 * {@link #SLICE} the thread takes note of what has happened meanwhile. A pod that finds no place waits until something
 * changes that could help: it is not polled, and it delays nobody.
 */
public final class AllocationLoop implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(AllocationLoop.class);
  private static final Duration GATHER = Duration.ofMillis(10);

  /** For how long decisions are made before what has happened meanwhile is looked at. */
  private static final Duration SLICE = Duration.ofMillis(100);

  private final ClusterView view;
  private final QuotaStatusWriter quotaStatus;
  private final Clock monotonicClock = MonotonicClock.start(); // how long something lasts, whoever sets the time of day
  private final EventLoop<WorkItem> loop;
  private final Consumer<ClusterEvent> listener;
  private final PodWriter writer;
  private final Evictor evictor;
  private final ResizeWriter resizeWriter;

  private final Heartbeat heartbeat = new Heartbeat("the decision about a pod");

  // Only the loop's thread touches what follows.
  private final ClaimLedger ledger;
  private final SchedulerState state;
  private final Priorities priorities = new Priorities();
  private final Vetoes vetoes = new Vetoes();
  private final Retries retries;
  private final StaleReasons stale;
  private final AbandonedClaims abandoned;
  private final NodeFacts nodeFacts;
  private final Preemption preemption;
  private final PodFollower follower;
  private final PodScheduler scheduler;
  private final PodQueue queue;
  private final Resizes resizes;
  private final Explanations explanations;
  private final QuotaRefresh quotas;
  private Duration saying = Duration.ZERO;
  private boolean isSaying;

  /**
   * @param clock the time of day; how long something lasts goes by one that nobody sets
   * @param autoscaledNodes whether an autoscaler of nodes is to see pods that wait
   * @param decides what is asked in the place of what decides about pods
   */
  public AllocationLoop(
      KubernetesClient client,
      ApiEdge edge,
      ClusterView view,
      ClaimEvents events,
      PodEvents podEvents,
      PodConditions conditions,
      QuotaStatusWriter quotaStatus,
      Clock clock,
      boolean autoscaledNodes,
      UnaryOperator<Decider> decides) {
    this.view = view;
    ClaimReader claims = new ClaimReader(view::deviceClass, new DeviceSelectors());
    OthersProposals others = new OthersProposals(claim -> asked(claims.read(claim)), monotonicClock);
    this.ledger =
        new ClaimLedger(uid -> PodClaims.mayUse(view.podByUid(uid)), uid -> isOnNode(view.podByUid(uid)), others);
    this.state = new SchedulerState(view, ledger);
    this.quotas = new QuotaRefresh(view, ledger.quotas());
    this.quotaStatus = quotaStatus;
    this.nodeFacts = new NodeFacts(view);
    this.loop = new EventLoop<>("allocation", GATHER, items -> heartbeat.during(() -> handle(items)));
    this.retries = new Retries(loop);
    this.stale = new StaleReasons(pause -> retries.after(pause, new WorkItem.SayAgain()));
    ClaimNotes notes = new ClaimNotes(events, conditions);
    WriteListener listening = new WriteReports(notes, loop::post);
    this.writer =
        new PodWriter(new AllocationWriter(client, edge), new GateRemover(client, edge, view), view, clock,
            ledger::isSpent, listening);
    this.abandoned = new AbandonedClaims(view, state, others, this::isOurs, writer, retries);
    LongSupplier processorTime = ManagementFactory.getThreadMXBean()::getCurrentThreadCpuTime;
    DecisionBudget budget = new DecisionBudget(processorTime);
    PodDecider decider = new PodDecider(view, state, vetoes, budget, heartbeat);
    PodDecisions decisions = new PodDecisions(decides.apply(decider), state, monotonicClock);
    // a pod with several budgets is answered by 500
    this.evictor = new Evictor(client, edge.isolated("evictions"), podEvents, listening);
    PreemptionSearch search = new PreemptionSearch(view, state, decisions, priorities, monotonicClock, clock);
    this.preemption = new Preemption(view, monotonicClock, state, search, evictor, retries, budget);
    PodWrites writes = new PodWrites(writer, retries);
    SchedulingGates gates =
        new SchedulingGates(view, clock, state, preemption, writes, retries, autoscaledNodes);
    this.scheduler = new PodScheduler(view, state, decisions, preemption, writes, gates, abandoned, notes);
    GangScheduler gangs =
        new GangScheduler(view, monotonicClock, decisions, scheduler, preemption, gates, abandoned, retries);
    this.queue = new PodQueue(view, state.loads(), scheduler, gangs, retries, budget, processorTime, monotonicClock);
    this.explanations = new Explanations(view, scheduler, decisions);
    this.follower =
        new PodFollower(view, state, priorities, decider.demandRecorder(), abandoned, scheduler, queue);
    this.resizeWriter =
        new ResizeWriter(client, edge.isolated("resizes"),
            (write, version) -> loop.post(new WorkItem.ResizeWritten(write, version)));
    this.resizes =
        new Resizes(view, ledger, new ResizeDecider(state), resizeWriter::post, events, retries, monotonicClock);
    this.listener = event -> loop.post(new WorkItem.Observed(event));
  }

  /** Begins to allocate. */
  public void start() {
    loop.post(new WorkItem.Begin());
    view.listen(listener);
    loop.start();
  }

  /** What is wrong if it has been at one event or one decision for longer than that. For any thread. */
  public Optional<String> stuck(Duration most) {
    return heartbeat.stuck(most);
  }

  /** How a pod stands, or the pods that use a claim: as it would be decided now. */
  public CompletionStage<Answer> explain(Question question) {
    CompletableFuture<Answer> answer = new CompletableFuture<>();
    loop.post(new WorkItem.Explain(question, answer));
    return answer;
  }

  /** What would fit now, by model. */
  public CompletionStage<SortedMap<String, Headroom>> headroom() {
    CompletableFuture<SortedMap<String, Headroom>> headroom = new CompletableFuture<>();
    loop.post(new WorkItem.Measure(headroom));
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
  }

  private void handle(Set<WorkItem> items) {
    Set<ObjectKey> pods = new LinkedHashSet<>();
    List<Runnable> questions = new ArrayList<>();
    for (WorkItem item : items) {
      heartbeat.beat();
      switch (item) {
        case WorkItem.Explain question -> questions.add(() -> explain(question));
        case WorkItem.Measure(CompletableFuture<SortedMap<String, Headroom>> headroom) ->
            questions.add(() -> measure(headroom));
        default -> guarded(item, () -> handle(item, pods));
      }
    }
    guarded("quotas", () -> helpsIf(quotas.changed(state.inventory())));
    queue.want(pods);
    guarded("pods", this::go);
    questions.forEach(Runnable::run);
    guarded("the status of quotas", () -> quotaStatus.tell(ledger.quotas().statuses()));
  }

  /** Decides for a while; the rest follows after what has been posted meanwhile. */
  private void go() {
    boolean more = true;
    long start = System.nanoTime();
    try {
      more = queue.go(SLICE);
    } finally {
      if (state.gaveUp()) {
        helps();
        more = true;
      }
      saying = saying.plusNanos(System.nanoTime() - start);
      if (more) {
        loop.post(new WorkItem.GoOn());
      } else if (isSaying) {
        isSaying = false;
        stale.said(saying);
      }
    }
  }

  private void helpsIf(boolean helps) {
    if (helps) {
      helps();
    }
  }

  /** Something has changed that pods and claims that wait may be helped by. */
  private void helps() {
    queue.helps();
    resizes.helps();
  }

  private void handle(WorkItem item, Set<ObjectKey> pods) {
    switch (item) {
      case WorkItem.Begin _ -> begin(pods);
      case WorkItem.Observed(ClusterEvent event) -> observe(event, pods);
      case WorkItem.Again(ObjectKey pod) -> pods.add(pod);
      case WorkItem.AsideOver(Turn turn, String id) -> queue.asideOver(turn, id);
      case WorkItem.GoOn _ -> {} // decisions go on after every batch
      case WorkItem.SayAgain _ -> {
        helps();
        isSaying = true;
        saying = Duration.ZERO;
      }
      case WorkItem.VetoOver(ObjectKey claim) -> addPodsOf(claim, pods);
      case WorkItem.NotReleased(ObjectKey claim, String claimUid) -> abandoned.notReleased(claim, claimUid);
      case WorkItem.TryAgain(ObjectKey pod) -> {
        retries.tried(pod);
        pods.add(pod);
      }
      case WorkItem.ClaimAgain(ObjectKey claim, String claimUid) -> {
        abandoned.withdraw(claim, claimUid);
        observeClaim(claim, claimUid, pods); // what was proposed for it may not count any more
      }
      case WorkItem.ReleaseAgain(ObjectKey claim, String claimUid) -> {
        abandoned.tried(claimUid);
        abandoned.withdraw(claim, claimUid);
        abandoned.look(claim);
        addPodsOf(claim, pods); // one that waits may have to give back what it has there
      }
      case WorkItem.EvictionRefused(ObjectKey pod, String podUid, String victimUid) -> {
        preemption.refused(pod, podUid, victimUid);
        pods.add(pod);
      }
      case WorkItem.Written(ClaimRef claim, Optional<String> version) -> written(claim, version, pods);
      case WorkItem.Finished(ObjectKey pod, boolean failed) -> finished(pod, failed, pods);
      case WorkItem.ResizeWritten(ResizeWriter.Write write, Optional<String> version) ->
          helpsIf(resizes.written(write, version));
      case WorkItem.ResizeAgain(ObjectKey claim) -> resizes.again(claim);
      case WorkItem.ResizeTurn _ -> resizes.turn();
      case WorkItem.Explain _,WorkItem.Measure _ ->
          throw new IllegalArgumentException("is for the whole batch: " + item);
    }
  }

  /** Whether a request of the claim is for our devices. */
  private boolean isOurs(ResourceClaim claim) {
    return RequestPart.of(claim.getSpec()).stream()
        .anyMatch(part -> Ownership.isOurs(part.className(), view.deviceClass(part.className()), part.selectors()));
  }

  private static boolean isOnNode(@Nullable Pod pod) {
    return pod != null && PodClaims.takesRoom(pod);
  }

  private static Optional<ClaimRequest> asked(ClaimReading reading) {
    return reading instanceof ClaimReading.Understood(ClaimRequest request) ? Optional.of(request) : Optional.empty();
  }

  /** One thing that cannot be handled must not take the others with it. */
  private static void guarded(Object what, Runnable handling) {
    try {
      handling.run();
    } catch (RuntimeException | Error e) {
      Fatal.rethrow(e);
      LOG.error("{}: handling it failed", what, e);
    }
  }

  private void addPodsOf(ObjectKey claim, Set<ObjectKey> pods) {
    view.podsOf(claim).forEach(pod -> pods.add(ObjectKey.of(pod)));
  }

  private void explain(WorkItem.Explain asked) {
    try {
      asked.answer().complete(explanations.answer(asked.question()));
    } catch (RuntimeException | Error e) {
      Fatal.rethrow(e);
      LOG.error("{}: explaining it failed", asked.question(), e);
      asked.answer().completeExceptionally(e);
    }
  }

  private void measure(CompletableFuture<SortedMap<String, Headroom>> headroom) {
    try {
      headroom.complete(Headroom.byModel(state.inventory().hosts().values(), state.claims()::account,
          this::isOpen));
    } catch (RuntimeException | Error e) {
      Fatal.rethrow(e);
      LOG.error("measuring what would fit failed", e);
      headroom.completeExceptionally(e);
    }
  }

  private boolean isOpen(GpuHost host) {
    @Nullable Node node = view.node(host.name());
    boolean cordoned = node != null && node.getSpec() != null && Boolean.TRUE.equals(node.getSpec().getUnschedulable());
    return !cordoned && HostReadiness.refusal(host, view).isEmpty();
  }

  private void begin(Set<ObjectKey> pods) {
    state.inventoryChanged(view.inventory());
    quotas.stale();
    quotas.changed(state.inventory());
    for (ResourceClaim claim : view.claims()) {
      guarded(ObjectKey.of(claim), () -> ledger.observe(claim.getMetadata().getUid(), claim));
    }
    view.claims().forEach(claim -> guarded(ObjectKey.of(claim), () -> abandoned.look(ObjectKey.of(claim))));
    view.claims().forEach(claim -> guarded(ObjectKey.of(claim), () -> resizes.look(ObjectKey.of(claim))));
    view.pods().forEach(pod -> guarded(ObjectKey.of(pod), () -> scheduler.countPlaced(pod)));
    for (Pod pod : view.pods()) {
      guarded(ObjectKey.of(pod), () -> follower.follow(ObjectKey.of(pod), pod.getMetadata().getUid(), pods));
    }
  }

  private void observeInventory() {
    Inventory fresh = view.inventory();
    Inventory before = state.inventory();
    if (!fresh.equals(before)) {
      state.inventoryChanged(fresh);
      quotas.stale();
      helps();
      abandoned.lookAtNodes(before);
    }
  }

  private void observe(ClusterEvent event, Set<ObjectKey> pods) {
    switch (event) {
      case ClusterEvent.GpuNodeChanged _ -> observeInventory();
      case ClusterEvent.TaintRuleChanged _ -> observeInventory();
      case ClusterEvent.PodGroupChanged(ObjectKey group) ->
          view.podsNaming(new GangKey.OfPodGroup(group.namespace(), group.name()))
              .forEach(pod -> follower.follow(ObjectKey.of(pod), pod.getMetadata().getUid(), pods));
      case ClusterEvent.NodeChanged(String node) -> {
        if (nodeFacts.changed(node)) {
          state.nodeChanged(node);
          quotas.stale();
          helps();
        }
      }
      case ClusterEvent.ClassChanged _ -> helps();
      case ClusterEvent.TemplateChanged _ -> {}
      case ClusterEvent.QuotaChanged _ -> quotas.stale();
      case ClusterEvent.NamespaceChanged _ -> {
        quotas.stale();
        helps(); // its labels may allow adminAccess now
      }
      case ClusterEvent.OtherSliceChanged _ -> {}
      case ClusterEvent.SliceChanged(String node) -> {
        helpsIf(nodeFacts.published(node));
      }
      case ClusterEvent.PodChanged(ObjectKey pod, String uid) -> {
        follower.follow(pod, uid, pods);
        if (ledger.held().podChanged(uid)) {
          pods.addAll(scheduler.waiting());
        }
      }
      case ClusterEvent.ClaimChanged(ObjectKey claim, String uid) -> observeClaim(claim, uid, pods);
    }
  }

  private void observeClaim(ObjectKey key, String uid, Set<ObjectKey> pods) {
    @Nullable ResourceClaim claim = view.claim(key);
    boolean same = claim != null && claim.getMetadata().getUid().equals(uid);
    changed(key, uid, ledger.observe(uid, same ? claim : null), same);
    if (!same) {
      vetoes.forget(uid);
      abandoned.forget(uid);
    }
    addPodsOf(key, pods);
    abandoned.look(key);
    resizes.look(key);
  }

  private void written(ClaimRef claim, Optional<String> version, Set<ObjectKey> pods) {
    ObjectKey key = new ObjectKey(claim.namespace(), claim.name());
    if (version.isEmpty()) {
      ledger.dropped(claim.uid());
      helps();
      addPodsOf(key, pods); // those who share it had nothing to wait for as long as it was taken for allocated
      abandoned.look(key);
      return;
    }
    changed(key, claim.uid(), ledger.written(claim.uid(), version.get()), true);
    stale.taken(scheduler.numberWaiting()); // it counts since it was decided
  }

  private void changed(ObjectKey claim, String uid, ClaimLedger.Change change, boolean exists) {
    switch (change) {
      case ClaimLedger.Change.Freed freed -> {
        freed.vetoed().filter(node -> exists).ifPresent(node -> veto(claim, uid, node));
        view.podsOf(claim).forEach(pod -> scheduler.giveBackRoom(ObjectKey.of(pod)));
        helps();
      }
      case ClaimLedger.Change.Shrunk _ -> helps();
      case ClaimLedger.Change.Taken _ -> stale.taken(scheduler.numberWaiting());
      case ClaimLedger.Change.None _ -> {}
    }
  }

  private void veto(ObjectKey claim, String uid, String node) {
    LOG.info("claim {}:{}: kube-scheduler took back its allocation on {} before it was used; trying other nodes first",
        claim, uid,
        node);
    Duration length = vetoes.add(uid, node, monotonicClock.instant());
    retries.after(length, new WorkItem.VetoOver(claim));
  }

  private void finished(ObjectKey pod, boolean failed, Set<ObjectKey> pods) {
    scheduler.finished(pod, failed);
    if (failed) {
      helps(); // what was assumed for it is free again
    } else {
      pods.add(pod); // it may have changed in the meantime
    }
  }
}
