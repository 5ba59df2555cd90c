package dev.partita.controller.decide;

import dev.partita.api.node.GpuNodeSpec.Allocator;
import dev.partita.controller.allocate.FreeCards;
import dev.partita.controller.allocate.Outcome;
import dev.partita.controller.booking.Books;
import dev.partita.controller.budget.DecisionBudget;
import dev.partita.controller.claim.AdminAccessRule;
import dev.partita.controller.claim.AllocatedClaim;
import dev.partita.controller.claim.AllocationGate;
import dev.partita.controller.claim.AllocationStatus;
import dev.partita.controller.claim.ClaimReader;
import dev.partita.controller.claim.ClaimReading;
import dev.partita.controller.claim.ControllerOnlyFields;
import dev.partita.controller.claim.PodClaims;
import dev.partita.controller.gang.Gang;
import dev.partita.controller.inventory.Card;
import dev.partita.controller.inventory.GpuHost;
import dev.partita.controller.inventory.Inventory;
import dev.partita.controller.match.Candidates;
import dev.partita.controller.nodes.NodeFit;
import dev.partita.controller.quota.QuotaLedger;
import dev.partita.controller.reasons.Explanation;
import dev.partita.controller.request.ClaimRef;
import dev.partita.controller.request.ClaimRequest;
import dev.partita.controller.request.MemoryRequest;
import dev.partita.controller.request.PodNeeds;
import dev.partita.controller.selector.DeviceSelectors;
import dev.partita.controller.state.DemandRecorder;
import dev.partita.controller.state.HostReadiness;
import dev.partita.controller.state.PodPlan;
import dev.partita.controller.state.SchedulerState;
import dev.partita.controller.state.Vetoes;
import dev.partita.controller.turns.AlikePods;
import dev.partita.controller.turns.PodShape;
import dev.partita.controller.watch.ClusterObjects;
import dev.partita.controller.watch.Heartbeat;
import dev.partita.controller.watch.ObjectKey;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeSelector;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Decides about one pod: reads its claims, gathers what speaks for and against each node, and asks the allocator. */
public final class PodDecider implements Decider {
  private final Heartbeat heartbeat;
  private final ClusterObjects view;
  private final SchedulerState state;
  private final Vetoes vetoes;
  private final ClaimReader reader;
  private final DemandRecorder demandRecorder;
  private final DecisionBudget budget;
  private dev.partita.controller.allocate.Allocator allocator;
  private @Nullable FreeCards untouched; // all hosts' cards, as if nothing of them were taken

  public PodDecider(
      ClusterObjects view,
      SchedulerState state,
      Vetoes vetoes,
      DecisionBudget budget,
      Heartbeat heartbeat) {
    this.budget = budget;
    this.heartbeat = heartbeat;
    this.view = view;
    this.state = state;
    this.vetoes = vetoes;
    this.reader = new ClaimReader(view::deviceClass, new DeviceSelectors(budget));
    this.demandRecorder = new DemandRecorder(view, reader, state.claims().history());
    this.allocator = allocator(budget);
  }

  private static dev.partita.controller.allocate.Allocator allocator(DecisionBudget budget) {
    return new dev.partita.controller.allocate.Allocator(new DeviceSelectors(budget), budget);
  }

  /** What is learnt from pods as they arrive. */
  public DemandRecorder demandRecorder() {
    return demandRecorder;
  }

  @Override
  public Reading read(Pod pod, Map<String, String> placed) {
    heartbeat.beat();
    Optional<List<ObjectKey>> names = PodClaims.of(pod);
    if (names.isEmpty()) {
      // kube-controller-manager is to make it from its template
      return new Reading.Decided(new Decision.ClaimMissing(List.of()));
    }
    boolean isOneMissing = false;
    List<NodeSelector> allocatedElsewhere = new ArrayList<>();
    List<ResourceClaim> unused = new ArrayList<>();
    Map<String, ResourceClaim> open = new LinkedHashMap<>();
    List<ClaimRequest> requests = new ArrayList<>();
    Map<ResourceClaim, List<String>> problems = new LinkedHashMap<>();
    for (ObjectKey name : names.get()) {
      @Nullable ResourceClaim claim = view.claim(name);
      if (claim == null || claim.getMetadata().getDeletionTimestamp() != null) {
        isOneMissing = true;
        continue;
      }
      @Nullable String node = placed.get(claim.getMetadata().getUid());
      if (node != null) {
        allocatedElsewhere.add(AllocationStatus.onlyOn(node));
        continue;
      }
      if (isBeingAllocated(claim)) {
        return new Reading.Decided(new Decision.Nothing()); // its next change comes back here
      }
      if (AllocatedClaim.isAllocated(claim)) {
        Optional.ofNullable(AllocatedClaim.nodeSelector(claim)).ifPresent(allocatedElsewhere::add);
        if (AllocatedClaim.isUnusedAndOurs(claim) && isOfWaitingPodsAlone(name, pod)) {
          unused.add(claim);
        }
        continue;
      }
      switch (reader.read(claim)) {
        case ClaimReading.Foreign foreign -> {}
        case ClaimReading.Understood(ClaimRequest request) when AdminAccessRule.isAsked(request)
            && !AdminAccessRule.isAllowed(view.namespace(name.namespace())) ->
            problems.put(claim, List.of(AdminAccessRule.REFUSAL));
        case ClaimReading.Understood(ClaimRequest request) -> {
          open.put(claim.getMetadata().getUid(), claim);
          requests.add(request);
        }
        case ClaimReading.Unusable(List<String> words) -> problems.put(claim, words);
      }
    }
    if (isOneMissing || !problems.isEmpty()) {
      open.values().stream().filter(AllocatedClaim::isProposed).forEach(unused::add);
    }
    if (isOneMissing) {
      return new Reading.Decided(new Decision.ClaimMissing(unused));
    }
    demandRecorder.arrived(pod, names.get());
    if (!problems.isEmpty()) {
      return new Reading.Decided(new Decision.Refuse(problems, unused));
    }
    List<String> othersGates = AllocationGate.others(pod);
    if (!othersGates.isEmpty() && !(requests.isEmpty() && unused.isEmpty())) {
      return new Reading.Decided(new Decision.HeldBack(othersGates, unused));
    }
    return requests.isEmpty()
        ? new Reading.Decided(
            new Decision.Settled(allocatedElsewhere.stream().flatMap(s -> NodeFit.onlyNode(s).stream()).findFirst()))
        : new Reading.Open(allocatedElsewhere, unused, open, requests, names.get().size());
  }

  private boolean isBeingAllocated(ResourceClaim claim) {
    return state.claims().isAssumed(claim.getMetadata().getUid())
        || (AllocatedClaim.isProposed(claim) && !state.claims().isSpent(claim));
  }

  /** Whether no other pod than such as cannot run yet could use the claim. */
  private boolean isOfWaitingPodsAlone(ObjectKey claim, Pod pod) {
    String uid = pod.getMetadata().getUid();
    return view.podsOf(claim).stream().filter(PodClaims::isLive)
        .allMatch(other -> other.getMetadata().getUid().equals(uid) || waits(other));
  }

  private boolean waits(Pod pod) {
    return !AllocationGate.others(pod).isEmpty()
        || PodClaims.of(pod).orElse(List.of()).stream().anyMatch(name -> waitsFor(view.claim(name)));
  }

  private boolean waitsFor(@Nullable ResourceClaim claim) {
    return claim == null
        || claim.getMetadata().getDeletionTimestamp() != null
        || (!AllocatedClaim.isAllocated(claim) && !isBeingAllocated(claim)
            && !(reader.read(claim) instanceof ClaimReading.Foreign));
  }

  @Override
  public Decision decide(
      Pod pod,
      Inventory inventory,
      Instant now,
      Beside beside,
      Optional<AlikePods> alike) {
    return switch (read(pod, beside.placed())) {
      case Reading.Decided(Decision decision) -> decision;
      case Reading.Open open -> decide(pod, open, inventory, now, beside, alike);
    };
  }

  private Decision decide(
      Pod pod,
      Reading.Open open,
      Inventory inventory,
      Instant now,
      Beside beside,
      Optional<AlikePods> alike) {
    List<ClaimRequest> requests = open.requests();
    String namespace = pod.getMetadata().getNamespace();
    Function<GpuHost, Optional<String>> unfit =
        host -> refusal(pod, host, open, now, beside)
            .or(() -> state.claims().quotas().refusal(namespace, requests, host));
    SortedSet<String> unknown = ControllerOnlyFields.fields(requests);
    String scheduled =
        "kube-scheduler allocates there" + (unknown.isEmpty() ? "" : ", and it knows no " + String.join(", ", unknown));
    Candidates candidates =
        host -> unfit.apply(host).or(() -> isScheduled(host) ? Optional.of(scheduled) : Optional.empty());
    Collection<GpuHost> hosts = inventory.hosts().values();
    if (unknown.isEmpty() && !hosts.isEmpty() && hosts.stream().allMatch(PodDecider::isScheduled)) {
      return new Decision.LeaveToScheduler(List.copyOf(open.claims().values()));
    }
    Function<WhyWaiting, Decision> waits =
        why -> new Decision.Wait(
            List.copyOf(open.claims().values()),
            open.unused(),
            why,
            host -> candidates.refusal(host).isPresent()
                ? Optional.empty()
                : placeOn(host, namespace, requests, inventory),
            () -> newNode(pod, open, inventory));
    Optional<PodShape> shape =
        alike.filter(_ -> open.claims().keySet().stream().noneMatch(vetoes::isAny))
            .map(_ -> PodShape.of(pod, open.allocatedElsewhere(), requests));
    Optional<WhyWaiting> known = alike.flatMap(pods -> shape.flatMap(pods::of)).map(said -> known(said, requests));
    if (known.isPresent()) {
      return waits.apply(known.get());
    }
    return switch (allocate(pod, requests, candidates, inventory)) {
      case Outcome.Allocated allocated ->
          new Decision.Allocate(new PodPlan(pod, allocated, open.claims(), reserved(pod, open.named(), open.claims())));
      case Outcome.Unallocatable(Explanation explanation) -> {
        if (unknown.isEmpty() && isForScheduler(pod, requests, unfit, candidates, inventory)) {
          yield new Decision.LeaveToScheduler(List.copyOf(open.claims().values()));
        }
        WhyWaiting why = new WhyWaiting.Explained(explanation);
        shape.flatMap(of -> said(why, requests).map(said -> Map.entry(of, said)))
            .ifPresent(pair -> alike.orElseThrow().put(pair.getKey(), pair.getValue()));
        yield waits.apply(why);
      }
    };
  }

  private static WhyWaiting known(AlikePods.Said said, List<ClaimRequest> requests) {
    Optional<ClaimRef> fault = said.claimAtFault().isPresent()
        ? Optional.of(requests.get(said.claimAtFault().getAsInt()).claim())
        : Optional.empty();
    return new WhyWaiting.KnownOfAlike(said.summary(), fault);
  }

  /** What can be said of pods of the same shape: nothing, if the words name a claim. */
  private static Optional<AlikePods.Said> said(WhyWaiting why, List<ClaimRequest> requests) {
    String summary = why.summary(WhyWaiting.MAX_EXPLANATION);
    if (requests.stream().anyMatch(request -> summary.contains("claim " + request.claim().name()))) {
      return Optional.empty();
    }
    List<ClaimRef> claims = requests.stream().map(ClaimRequest::claim).toList();
    OptionalInt fault = why.claimAtFault().map(claims::indexOf).filter(index -> index >= 0).map(OptionalInt::of)
        .orElse(OptionalInt.empty());
    return Optional.of(new AlikePods.Said(summary, fault));
  }

  @Override
  public void forgetSearches() {
    allocator = allocator(budget);
    untouched = null;
    state.claims().forgetOrder();
  }

  /**
   * Whether kube-scheduler is to see the pod, for which the controller has no place: the pod can run only where
   * kube-scheduler allocates; or there are cards for it there, going by what is known of them. A gang's pods stay
   * together with the controller, for kube-scheduler knows no gangs.
   *
   * @param unfit what speaks against a host, whoever allocates there
   * @param candidates the same, and that kube-scheduler allocates there
   */
  private boolean isForScheduler(
      Pod pod,
      List<ClaimRequest> requests,
      Function<GpuHost, Optional<String>> unfit,
      Candidates candidates,
      Inventory inventory) {
    Collection<GpuHost> hosts = inventory.hosts().values();
    if (hosts.stream().noneMatch(host -> isScheduled(host) && unfit.apply(host).isEmpty())) {
      return false;
    }
    if (hosts.stream().allMatch(host -> candidates.refusal(host).isPresent())) {
      return true;
    }
    Candidates scheduled =
        host -> isScheduled(host) ? unfit.apply(host) : Optional.of("the controller allocates there");
    return view.gangOf(pod).isEmpty()
        && allocator.place(PodNeeds.NONE, requests, scheduled, state.claims().freeCards(inventory)).isPresent();
  }

  /**
   * Places the claims where quotas allow what they take there. Where only cards of some models would be too much, they
   * are left out before the claims have to wait.
   */
  private Outcome allocate(Pod pod, List<ClaimRequest> requests, Candidates candidates, Inventory inventory) {
    // Where the pod counts already, room for it is not to be looked for once more; candidates see to that.
    PodNeeds needs = state.loads().counts(pod.getMetadata().getUid()) ? PodNeeds.NONE : NodeFit.needs(pod);
    return allocate(pod.getMetadata().getNamespace(), needs, requests, candidates,
        state.claims().freeCards(inventory));
  }

  private Outcome allocate(
      String namespace,
      PodNeeds needs,
      List<ClaimRequest> requests,
      Candidates candidates,
      FreeCards cards) {
    List<QuotaLedger.Excess> excesses = new ArrayList<>();
    Candidates allowed =
        host -> candidates.refusal(host)
            .or(() -> excesses.stream().filter(e -> e.hosts().test(host)).map(QuotaLedger.Excess::why).findFirst());
    while (true) {
      Outcome outcome = allocator.allocate(needs, requests, allowed, cards);
      if (!(outcome instanceof Outcome.Allocated allocated)) {
        Set<String> models = excesses.stream().flatMap(excess -> excess.models().stream()).collect(Collectors.toSet());
        return models.isEmpty()
            ? outcome
            : otherwise(outcome, allocate(namespace, needs, avoiding(requests, models), candidates, cards));
      }
      Optional<QuotaLedger.Excess> excess = excess(namespace, allocated);
      if (excess.isEmpty()) {
        return outcome;
      }
      Predicate<GpuHost> same = host -> host.name().equals(allocated.node());
      Predicate<GpuHost> hosts = isByPart(requests) ? same : same.or(excess.get().hosts());
      excesses.add(new QuotaLedger.Excess(excess.get().why(), hosts, excess.get().models()));
    }
  }

  /** Whether any memory is asked for as a part of a card: on a host with smaller cards it is less. */
  private static boolean isByPart(List<ClaimRequest> requests) {
    return requests.stream().flatMap(request -> request.requests().stream())
        .flatMap(named -> named.alternatives().stream())
        .anyMatch(alternative -> alternative.memory() instanceof MemoryRequest.Percent);
  }

  /**
   * Places the claims on the cluster's hosts as if they were new and empty, within the namespace's quotas and without.
   */
  private NewNode newNode(Pod pod, Reading.Open open, Inventory inventory) {
    String namespace = pod.getMetadata().getNamespace();
    List<ClaimRequest> requests = open.requests();
    Candidates overQuota = host -> state.claims().quotas().refusal(namespace, requests, host);
    Collection<GpuHost> hosts = inventory.hosts().values();
    if (!hosts.isEmpty() && hosts.stream().allMatch(host -> overQuota.refusal(host).isPresent())) {
      return new NewNode.OverQuota();
    }
    Candidates unfit = host -> refusalByNew(pod, open, host);
    Candidates allowed = host -> unfit.refusal(host).or(() -> overQuota.refusal(host));
    FreeCards cards = untouched == null ? new FreeCards(new Books()) : untouched;
    untouched = cards;
    cards.refresh(inventory);
    if (allocate(namespace, PodNeeds.NONE, requests, allowed, cards) instanceof Outcome.Allocated allocated) {
      return new NewNode.Like(allocated.node(), words(inventory.host(allocated.node())));
    }
    return allocator.place(PodNeeds.NONE, requests, unfit, cards).isPresent()
        ? new NewNode.OverQuota()
        : new NewNode.OfOtherKind();
  }

  private Optional<String> refusalByNew(Pod pod, Reading.Open open, GpuHost host) {
    @Nullable Node node = view.node(host.name());
    if (node == null) {
      return Optional.of("there is no such Node");
    }
    return open.allocatedElsewhere().stream()
        .anyMatch(selector -> NodeFit.onlyNode(selector).isPresent() || !NodeFit.selects(selector, node))
            ? Optional.of("another claim of the pod is allocated elsewhere")
            : NodeFit.refusalByNew(pod, node);
  }

  private static String words(@Nullable GpuHost host) {
    return host == null
        ? ""
        : host.cards().stream().collect(Collectors.groupingBy(Card::model, TreeMap::new, Collectors.counting()))
            .entrySet().stream().map(model -> model.getValue() + "x " + model.getKey())
            .collect(Collectors.joining(", "));
  }

  /** The second outcome if it is a placement; otherwise the first, with the reasons for all that was asked for. */
  private static Outcome otherwise(Outcome first, Outcome second) {
    return second instanceof Outcome.Allocated ? second : first;
  }

  private static List<ClaimRequest> avoiding(List<ClaimRequest> requests, Set<String> models) {
    return requests.stream().map(request -> request.avoiding(models)).toList();
  }

  private Optional<QuotaLedger.Excess> excess(String namespace, Outcome.Allocated allocated) {
    return state.claims().quotas().excess(namespace,
        allocated.bookings());
  }

  private Optional<Outcome.Allocated> placeOn(
      GpuHost host,
      String namespace,
      List<ClaimRequest> requests,
      Inventory inventory) {
    Optional<Outcome.Allocated> found = allocator.placeOn(host.name(), requests, state.claims().freeCards(inventory));
    Optional<QuotaLedger.Excess> excess = found.flatMap(allocated -> excess(namespace, allocated));
    if (excess.isEmpty()) {
      return found;
    }
    Set<String> models = excess.get().models();
    return models.isEmpty() ? Optional.empty() : placeOn(host, namespace, avoiding(requests, models), inventory);
  }

  /**
   * UIDs of the claims that are reserved for the pod together with the allocation: a pod's only claim, where
   * kube-scheduler has not seen the pod yet, which spares it the write. What a pod has in several claims, or a gang,
   * may have to be taken back while kube-scheduler looks at the pod: it must reserve by itself then, or it would bind
   * the pod without noticing. The claim of a pod of a PodGroup may be the PodGroup's: kube-scheduler reserves it for
   * that.
   */
  private Set<String> reserved(Pod pod, int named, Map<String, ResourceClaim> claims) {
    if (AllocationGate.isOn(pod) && named == 1 && view.gangOf(pod).isEmpty() && !Gang.namesPodGroup(pod)) {
      return Set.copyOf(claims.keySet());
    }
    return claims.entrySet().stream()
        .filter(claim -> PodClaims.isContested(view.podsOf(ObjectKey.of(claim.getValue()))))
        .map(Map.Entry::getKey)
        .collect(Collectors.toSet());
  }

  private static boolean isScheduled(GpuHost host) {
    return host.allocator() == Allocator.Scheduler;
  }

  private Optional<String> refusal(
      Pod pod,
      GpuHost host,
      Reading.Open open,
      Instant now,
      Beside beside) {
    @Nullable Node node = view.node(host.name());
    Optional<String> closed = HostReadiness.refusal(host, view);
    if (closed.isPresent() || node == null) {
      return closed;
    }
    if (open.allocatedElsewhere().stream().anyMatch(selector -> !NodeFit.selects(selector, node))) {
      return Optional.of("another claim of the pod is allocated elsewhere");
    }
    if (open.claims().keySet().stream().anyMatch(uid -> vetoes.holds(uid, host.name(), now))) {
      return Optional.of("kube-scheduler found no room for the pod there");
    }
    Optional<String> tooFull =
        open.claims().keySet().stream().flatMap(uid -> beside.refusal(uid, host.name()).stream()).findFirst();
    if (tooFull.isPresent()) {
      return tooFull;
    }
    return NodeFit.refusal(pod, node, state.loads().without(pod.getMetadata().getUid(), host.name()));
  }
}
