package dev.partita.controller.whatif;

import dev.partita.controller.gang.GangKey;
import dev.partita.controller.gang.Gang;
import dev.partita.api.quota.GpuQuota;
import dev.partita.api.quota.GpuQuotaSpec;
import dev.partita.controller.booking.Account;
import dev.partita.controller.budget.DecisionBudget;
import dev.partita.controller.budget.OverBudgetException;
import dev.partita.controller.claim.ClaimReader;
import dev.partita.controller.claim.ClaimReading;
import dev.partita.controller.claim.PodClaims;
import dev.partita.controller.claim.PodOrder;
import dev.partita.controller.decide.Decision;
import dev.partita.controller.decide.GangDecision;
import dev.partita.controller.decide.PodDecider;
import dev.partita.controller.decide.PodDecisions;
import dev.partita.controller.inventory.CardKey;
import dev.partita.controller.inventory.Inventory;
import dev.partita.controller.nodes.PodRequests;
import dev.partita.controller.proposal.OthersProposals;
import dev.partita.controller.quota.QuotaWorld;
import dev.partita.controller.request.ClaimRequest;
import dev.partita.controller.selector.DeviceSelectors;
import dev.partita.controller.state.ClaimLedger;
import dev.partita.controller.state.DemandRecorder;
import dev.partita.controller.state.PodPlan;
import dev.partita.controller.state.SchedulerState;
import dev.partita.controller.state.Vetoes;
import dev.partita.controller.turns.AlikePods;
import dev.partita.controller.watch.Heartbeat;
import dev.partita.controller.watch.ObjectKey;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Taint;
import io.fabric8.kubernetes.api.model.Toleration;
import io.fabric8.kubernetes.api.model.TolerationBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.lang.management.ManagementFactory;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A snapshot with what the controller decides by: its allocator, quotas, books and forecast. What is decided here
 * counts for what is decided later, and for nobody else. Preemption is left out. For one thread.
 */
public final class WhatIf {
  private static final Duration MOST = Duration.ofSeconds(5);
  private static final int LONGEST = 400;

  private final Instant time;
  private final SnapshotObjects objects;
  private final SchedulerState state;
  private final PodDecisions decisions;
  private final DecisionBudget budget =
      new DecisionBudget(ManagementFactory.getThreadMXBean()::getCurrentThreadCpuTime);
  private final List<Toleration> tolerations;
  private final AlikePods alike = new AlikePods();

  /** How many pods of a kind would run, and why no more would. */
  public record Fits(SortedMap<String, Integer> byNode, String whyNoMore) {
    /** On all nodes together. */
    public int all() {
      return byNode.values().stream().mapToInt(Integer::intValue).sum();
    }
  }

  /** Reads a snapshot as the controller does when it starts. */
  public WhatIf(ClusterSnapshot snapshot) {
    time = snapshot.time();
    objects = new SnapshotObjects(snapshot);
    Clock clock = Clock.fixed(time, ZoneOffset.UTC);
    ClaimReader reader = new ClaimReader(objects::deviceClass, new DeviceSelectors());
    ClaimLedger ledger =
        new ClaimLedger(uid -> PodClaims.mayUse(objects.podByUid(uid)), this::isOnNode,
            new OthersProposals(claim -> request(reader, claim), clock));
    state = new SchedulerState(objects, ledger);
    PodDecider decider =
        new PodDecider(objects, state, new Vetoes(), budget, new Heartbeat("the thread that answers a question"));
    decisions = new PodDecisions(decider, state, clock);
    tolerations = tolerations(snapshot.cluster().nodes());
    state.inventoryChanged(snapshot.cluster().inventory());
    objects.claims().forEach(claim -> ledger.observe(claim.getMetadata().getUid(), claim));
    objects.pods().forEach(pod -> count(pod, decider.demandRecorder()));
    ledger.quotas().refresh(quotas(snapshot, state.inventory()));
  }

  private boolean isOnNode(String uid) {
    @Nullable Pod pod = objects.podByUid(uid);
    return pod != null && PodClaims.takesRoom(pod);
  }

  private static Optional<ClaimRequest> request(ClaimReader reader, ResourceClaim claim) {
    return reader.read(claim) instanceof ClaimReading.Understood(ClaimRequest request)
        ? Optional.of(request)
        : Optional.empty();
  }

  private void count(Pod pod, DemandRecorder recorder) {
    if (PodClaims.takesRoom(pod)) {
      String node = pod.getSpec().getNodeName();
      state.loads().put(pod.getMetadata().getUid(), node, PodRequests.of(pod));
      if (state.inventory().host(node) != null) {
        recorder.arrivedWithoutCards(pod);
      }
    }
    PodClaims.of(pod).filter(claims -> !claims.isEmpty()).ifPresent(claims -> recorder.arrived(pod, claims));
  }

  private static QuotaWorld quotas(ClusterSnapshot snapshot, Inventory inventory) {
    SortedMap<String, GpuQuotaSpec> quotas = new TreeMap<>();
    for (GpuQuota quota : snapshot.cluster().quotas()) {
      quotas.put(quota.getMetadata().getName(), Objects.requireNonNullElse(quota.getSpec(), GpuQuotaSpec.NOBODY));
    }
    return new QuotaWorld(quotas, labels(snapshot.cluster().namespaces()), labels(snapshot.cluster().nodes()),
        inventory);
  }

  private static Map<String, Map<String, String>> labels(Collection<? extends HasMetadata> objects) {
    Map<String, Map<String, String>> labels = new HashMap<>();
    objects.forEach(object -> labels.put(object.getMetadata().getName(),
        Objects.requireNonNullElse(object.getMetadata().getLabels(), Map.of())));
    return labels;
  }

  /** Pods on paper tolerate what nodes were given for reasons of their owners, and not what Kubernetes says of them. */
  private static List<Toleration> tolerations(List<Node> nodes) {
    return nodes.stream().filter(node -> node.getSpec() != null)
        .flatMap(node -> Objects.requireNonNullElse(node.getSpec().getTaints(), List.<Taint>of()).stream())
        .filter(WhatIf::isOfOwner).map(Taint::getKey).distinct().sorted()
        .map(key -> new TolerationBuilder().withKey(key).withOperator("Exists").build()).toList();
  }

  /** Whether the node's owner put the taint there, and not Kubernetes for what it sees of the node. */
  static boolean isOfOwner(Taint taint) {
    return !taint.getKey().startsWith("node.kubernetes.io/");
  }

  /** The cards that there are. */
  public Inventory inventory() {
    return state.inventory();
  }

  /** What is taken of a card. */
  public Account account(CardKey card) {
    return state.claims().account(card);
  }

  /** The pods that nothing but our devices may keep waiting, the most urgent first. */
  public List<Pod> waitingPods() {
    return objects.pods().stream()
        .filter(pod -> PodClaims.isLive(pod) && !PodClaims.isBound(pod) && !pod.getSpec().getResourceClaims().isEmpty())
        .sorted(PodOrder.MOST_URGENT_FIRST).toList();
  }

  /** The pod's gang; empty if it belongs to none. */
  public Optional<GangKey> gangOf(Pod pod) {
    return objects.gangOf(pod);
  }

  /**
   * Decides about all of them in their order, and counts what they would get as taken. Of a pod of which there is
   * nothing to decide, for its claims are allocated or not made yet, nothing is said. A gang comes where its most
   * urgent pod does.
   */
  public List<PodOutcome> placeWaiting() {
    List<PodOutcome> outcomes = new ArrayList<>();
    List<Pod> waiting = waitingPods();
    Map<GangKey, List<Pod>> gangs = new HashMap<>();
    waiting.forEach(
        pod -> gangOf(pod).ifPresent(gang -> gangs.computeIfAbsent(gang, _ -> new ArrayList<>()).add(pod)));
    for (Pod pod : waiting) {
      Optional<GangKey> gang = gangOf(pod);
      if (gang.isEmpty()) {
        place(pod).ifPresent(outcomes::add);
      } else {
        Optional.ofNullable(gangs.remove(gang.get()))
            .ifPresent(members -> outcomes.addAll(placeGang(gang.get(), members)));
      }
    }
    return outcomes;
  }

  /** Decides about one pod, and counts what it would get as taken. Empty if there is nothing to decide. */
  public Optional<PodOutcome> place(Pod pod) {
    Optional<PodOutcome> outcome = decide(pod);
    if (outcome.isPresent() && outcome.get() instanceof PodOutcome.Runs runs) {
      assume(runs);
    }
    return outcome;
  }

  /** Counts as taken what the pod would get. */
  public void assume(PodOutcome.Runs runs) {
    state.assume(runs.plan());
  }

  /** Decides about one pod; nothing changes. */
  public Optional<PodOutcome> decide(Pod pod) {
    return outcome(pod, within(() -> decisions.of(pod, Optional.of(alike))));
  }

  private static Optional<PodOutcome> outcome(Pod pod, Optional<Decision> decision) {
    if (decision.isEmpty()) {
      return Optional.of(new PodOutcome.Waits(pod, "takes too long to decide"));
    }
    return switch (decision.get()) {
      case Decision.Allocate(PodPlan plan) -> Optional.of(new PodOutcome.Runs(pod, plan));
      case Decision.Wait waits -> Optional.of(new PodOutcome.Waits(pod, waits.why().summary(LONGEST)));
      case Decision.Refuse(Map<ResourceClaim, List<String>> problems, List<ResourceClaim> _) -> Optional.of(
          new PodOutcome.Waits(pod,
              problems.values().stream().flatMap(List::stream).distinct().collect(Collectors.joining("; "))));
      case Decision.LeaveToScheduler _ ->
          Optional.of(new PodOutcome.Waits(pod, "kube-scheduler allocates where it can run"));
      case Decision.Nothing _,Decision.Settled _,Decision.ClaimMissing _,Decision.HeldBack _ -> Optional.empty();
    };
  }

  private List<PodOutcome> placeGang(GangKey gang, List<Pod> pods) {
    Gang.State there = Gang.state(gang, objects.podsOfGang(gang).stream().filter(Gang::isThere).toList(), objects);
    if (there instanceof Gang.State.Waits(String why)) {
      return all(pods, why);
    }
    Optional<GangDecision> decision = within(() -> decisions.placeAll(pods));
    if (decision.isEmpty()) {
      return all(pods, "takes too long to decide");
    }
    return switch (decision.get()) {
      case GangDecision.Placed(List<PodPlan> plans) ->
          plans.stream().<PodOutcome>map(plan -> new PodOutcome.Runs(plan.pod(), plan)).toList();
      case GangDecision.LeaveToScheduler _ -> all(pods, "kube-scheduler allocates where it can run");
      case GangDecision.NoPlace(Pod pod, Decision why) -> all(pods,
          outcome(pod, Optional.of(why)).filter(PodOutcome.Waits.class::isInstance)
              .map(waits -> "pod " + pod.getMetadata().getName() + " of its gang: "
                  + ((PodOutcome.Waits) waits).why())
              .orElse("a claim of pod " + pod.getMetadata().getName() + " of its gang is missing"));
    };
  }

  private static List<PodOutcome> all(List<Pod> pods, String why) {
    return pods.stream().<PodOutcome>map(pod -> new PodOutcome.Waits(pod, why)).toList();
  }

  private <T> Optional<T> within(Supplier<T> decision) {
    budget.begin(MOST);
    try {
      return Optional.of(decision.get());
    } catch (OverBudgetException e) {
      decisions.forgetSearches();
      return Optional.empty();
    } finally {
      budget.end();
    }
  }

  /**
   * Places pods that ask for this until none fits any more; nothing is taken afterwards.
   *
   * @param most pods that are tried
   */
  public Fits fits(RequestedCards asked, int most) {
    SortedMap<String, Integer> byNode = new TreeMap<>();
    try (SchedulerState.Scope scope = state.scope()) {
      for (int i = 0; i < most; i++) {
        Optional<PodOutcome> outcome = paper(asked, i, pod -> decisions.assume(pod, scope));
        if (outcome.isEmpty() || !(outcome.get() instanceof PodOutcome.Runs runs)) {
          return new Fits(byNode,
              outcome.map(waits -> waits instanceof PodOutcome.Waits(Pod _, String why) ? why : "").orElse(""));
        }
        byNode.merge(runs.node(), 1, Integer::sum);
      }
    }
    return new Fits(byNode, "more were not tried");
  }

  /** Whether a pod that asks for this would run, and where. */
  public Optional<PodOutcome.Runs> wouldRun(RequestedCards asked) {
    return paper(asked, 0, decisions::of).filter(PodOutcome.Runs.class::isInstance).map(PodOutcome.Runs.class::cast);
  }

  private interface Decide {
    Decision about(Pod pod);
  }

  private Optional<PodOutcome> paper(RequestedCards asked, int number, Decide decide) {
    ResourceClaim claim = asked.claim(number);
    Pod pod = asked.pod(number, tolerations, time);
    objects.put(claim);
    objects.put(pod);
    try {
      return outcome(pod, within(() -> decide.about(pod)));
    } finally {
      objects.remove(pod, claim);
    }
  }

  /** The claim of that name and UID is like this now. */
  public void replace(ResourceClaim claim) {
    alike.forget(); // it may be smaller
    objects.put(claim);
    state.claims().observe(claim.getMetadata().getUid(), claim);
  }
}
