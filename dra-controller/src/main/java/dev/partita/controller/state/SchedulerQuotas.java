package dev.partita.controller.state;

import dev.partita.api.MonotonicClock;
import dev.partita.api.node.GpuNode;
import dev.partita.api.node.GpuNodeSpec.Allocator;
import dev.partita.controller.booking.Booking;
import dev.partita.controller.claim.AllocatedClaim;
import dev.partita.controller.claim.ClaimReader;
import dev.partita.controller.claim.ClaimReading;
import dev.partita.controller.health.TimedLock;
import dev.partita.controller.held.HeldBookings;
import dev.partita.controller.inventory.Device;
import dev.partita.controller.inventory.GpuHost;
import dev.partita.controller.inventory.Inventory;
import dev.partita.controller.proposal.Proposal;
import dev.partita.controller.quota.QuotaLedger;
import dev.partita.controller.quota.QuotaWorld;
import dev.partita.controller.request.ClaimRequest;
import dev.partita.controller.request.DeviceRequest;
import dev.partita.controller.selector.DeviceSelectors;
import dev.partita.controller.selector.Verdict;
import dev.partita.controller.watch.ClusterEvent;
import dev.partita.controller.watch.ClusterView;
import dev.partita.controller.watch.ObjectKey;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimBuilder;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Says whether a claim that is about to be made exceeds a quota on nodes where kube-scheduler allocates, for there the
 * controller is not asked again. What claims have counts, and so does what waiting claims ask for wherever they could
 * go. It works in every instance, leading or not, and costs nothing as long as there is no quota or no such node.
 *
 * <p>A claim that is made at the same time as others does not see them until the watch shows them.
 *
 * <p>Informers never wait for it: their threads only note what has changed. Selectors are evaluated without the lock
 * that guards the books, so that a claim whose selectors take long delays no other claim. If they take longer than
 * {@link #PATIENCE}, the claim is refused. Otherwise a selector that is slow enough would pass any quota.
 */
public final class SchedulerQuotas implements AutoCloseable {
  /** For a claim that has no name or UID yet. */
  private static final String TO_BE_GIVEN = "new";

  private static final String BUSY = "quotas are being counted; try again in a moment";

  /** How long one claim may take: API servers wait for 10 s. */
  static final Duration PATIENCE = Duration.ofSeconds(3);

  /** What most claims take no more than, and how many may take longer at once: the others are not kept waiting. */
  private static final Duration QUICK = Duration.ofMillis(200);

  private static final int SLOW_AT_ONCE = 2;

  private record Waiting(String namespace, ClaimRequest request) {}

  /** What the selectors of a claim mean. */
  interface Devices {
    boolean isAnyMeant(GpuHost host, ClaimRequest request, Runnable inTime);
  }

  private static final class TooSlow extends RuntimeException {
    private static final long serialVersionUID = 1L;

    TooSlow(String message) {
      super(message);
    }
  }

  private final ClusterView view;
  private final Devices devices;
  private final Clock monotonicClock;
  private final DeviceSelectors selectors = new DeviceSelectors();
  private final Semaphore slow = new Semaphore(SLOW_AT_ONCE);
  private final ClaimReader amounts;
  private final Consumer<ClusterEvent> listener = this::changed;

  // What informers' threads note. No lock is held for it.
  private final ChangedClaims changedClaims = new ChangedClaims();
  private volatile boolean worldChanged = true;

  /** Held by threads of admission alone, to count and to reckon; never while a selector is compiled or evaluated. */
  private final TimedLock books;

  private final Map<ObjectKey, String> uids = new HashMap<>();
  private final Map<String, List<Booking>> taken = new HashMap<>(); // by claim's UID
  private final Map<String, Waiting> waiting = new HashMap<>();
  private QuotaLedger ledger = new QuotaLedger();
  private List<HeldBookings> held = List.of();
  private Inventory inventory = Inventory.EMPTY;

  public SchedulerQuotas(ClusterView view) {
    this(view, new Selected(), MonotonicClock.start());
  }

  SchedulerQuotas(ClusterView view, Devices devices, Clock monotonicClock) {
    this.view = view;
    this.devices = devices;
    this.monotonicClock = monotonicClock;
    this.books = new TimedLock("the quotas' books", monotonicClock);
    this.amounts = ClaimReader.ofAmounts(view::deviceClass);
    view.listen(listener);
  }

  @Override
  public void close() {
    view.unlisten(listener);
  }

  /** What is wrong if one claim has had the books for longer than that: every other one is refused meanwhile. */
  public Optional<String> stuck(Duration most) {
    return books.heldTooLong(most);
  }

  /** For tests. */
  TimedLock books() {
    return books;
  }

  /** Why a namespace may not have that claim; empty if it may, or it is not for our devices. */
  public Optional<String> refusal(String namespace, ResourceClaim claim) {
    if (!matters()) {
      return Optional.empty();
    }
    try (Review review = new Review()) {
      ClaimReader reader = ClaimReader.inTime(view::deviceClass, selectors, review::inTime);
      return switch (reader.read(named(namespace, claim))) {
        case ClaimReading.Understood(ClaimRequest request) -> refusal(namespace, request, review);
        case ClaimReading.Unusable(List<String> problems) -> uncounted(namespace, problems.getFirst(), review);
        case ClaimReading.Foreign() -> Optional.empty();
      };
    } catch (TooSlow e) {
      return Optional.ofNullable(e.getMessage());
    }
  }

  /**
   * What the controller does not understand it never allocates, but kube-scheduler may. Nobody could say how much that
   * is, now or while the claim waits.
   */
  private Optional<String> uncounted(String namespace, String problem, Review review) {
    if (review.withoutOwnTime(() -> counted(namespace)).isEmpty()) {
      return Optional.of(BUSY);
    }
    return isLimited(namespace)
        ? Optional.of("what it asks for cannot be counted, and the namespace has a quota: " + problem)
        : Optional.empty();
  }

  private boolean isLimited(String namespace) {
    books.lock();
    try {
      return ledger.guarantees(namespace);
    } finally {
      books.unlock();
    }
  }

  private Optional<String> refusal(String namespace, ClaimRequest request, Review review) {
    Optional<Map<String, List<ClaimRequest>>> asked = review.withoutOwnTime(() -> counted(namespace));
    if (asked.isEmpty()) {
      return Optional.of(BUSY);
    }
    Optional<String> first = Optional.empty();
    for (GpuHost host : review.withoutOwnTime(this::hosts)) {
      if (host.allocator() == Allocator.Scheduler && devices.isAnyMeant(host, request, review::inTime)) {
        Optional<String> refusal = review.withoutOwnTime(
            () -> refusal(namespace, request, asked.get(), host)
                .flatMap(_ -> refusal(namespace, request, review.thoseFor(host, asked.get()), host)));
        if (refusal.isEmpty()) {
          return refusal;
        }
        first = first.or(() -> refusal);
      }
      review.inTime();
    }
    return first;
  }

  /** The time that one claim takes: to compile its selectors, and to evaluate them. */
  private final class Review implements AutoCloseable {
    private final Instant end = monotonicClock.instant().plus(PATIENCE);
    private Instant begin = monotonicClock.instant(); // without what is not its own time
    private boolean isSlow;
    private @Nullable Instant othersUntil; // from when it is asked for

    /** @throws TooSlow if it is to take no more time */
    void inTime() {
      Instant now = monotonicClock.instant();
      if (now.isAfter(end)) {
        throw new TooSlow("its selectors take more than " + PATIENCE.toSeconds()
            + " s to evaluate, so that quotas cannot be checked");
      }
      if (!isSlow && now.isAfter(begin.plus(QUICK))) {
        if (!slow.tryAcquire()) {
          throw new TooSlow(
              "its selectors take long to evaluate, and so do those of others now; try again in a moment");
        }
        isSlow = true;
      }
    }

    /**
     * What may be given on the host, of what others ask for. All of it if it takes long to find out: their selectors
     * are not this claim's.
     */
    Map<String, List<ClaimRequest>> thoseFor(GpuHost host, Map<String, List<ClaimRequest>> asked) {
      Instant until = Objects.requireNonNullElseGet(othersUntil, () -> monotonicClock.instant().plus(QUICK));
      othersUntil = until;
      try {
        Map<String, List<ClaimRequest>> there = new HashMap<>();
        asked.forEach(
            (namespace, requests) -> there.put(namespace,
                requests.stream().filter(each -> devices.isAnyMeant(host, each, () -> before(until))).toList()));
        return there;
      } catch (TooSlow e) {
        return asked;
      }
    }

    private void before(Instant until) {
      if (monotonicClock.instant().isAfter(until)) {
        throw new TooSlow("what others wait for takes long to evaluate");
      }
    }

    /** Does what may have to wait for others, and has nothing to do with selectors. */
    <T> T withoutOwnTime(Supplier<T> work) {
      Instant before = monotonicClock.instant();
      try {
        return work.get();
      } finally {
        begin = begin.plus(Duration.between(before, monotonicClock.instant()));
      }
    }

    @Override
    public void close() {
      if (isSlow) {
        slow.release();
      }
    }
  }

  private Optional<String> refusal(
      String namespace,
      ClaimRequest request,
      Map<String, List<ClaimRequest>> asked,
      GpuHost host) {
    books.lock();
    try {
      return ledger.refusal(namespace, request, asked, host);
    } finally {
      books.unlock();
    }
  }

  private List<GpuHost> hosts() {
    books.lock();
    try {
      return List.copyOf(inventory.hosts().values());
    } finally {
      books.unlock();
    }
  }

  private void changed(ClusterEvent event) {
    switch (event) {
      case ClusterEvent.ClaimChanged(ObjectKey claim, String _) -> changedClaims.note(claim);
      case ClusterEvent.ClassChanged _ -> changedClaims.noteAll();
      case ClusterEvent.GpuNodeChanged _ -> worldChanged = true;
      case ClusterEvent.NamespaceChanged _ -> worldChanged = true;
      case ClusterEvent.NodeChanged _ -> worldChanged = true;
      case ClusterEvent.QuotaChanged _ -> worldChanged = true;
      case ClusterEvent.PodChanged _ -> {}
      case ClusterEvent.OtherSliceChanged _ -> {}
      case ClusterEvent.SliceChanged _ -> {}
      case ClusterEvent.TaintRuleChanged _ -> {}
      case ClusterEvent.PodGroupChanged _ -> {}
      case ClusterEvent.TemplateChanged _ -> {}
    }
  }

  /**
   * Whether there is a quota and a node where it is for admission to hold it; if not, nothing is counted until there
   * is.
   */
  private boolean matters() {
    boolean matters =
        !view.quotas().isEmpty()
            && view.gpuNodes().stream().anyMatch(GpuNode::isLeftToScheduler);
    if (!matters) {
      changedClaims.noteAll();
    }
    return matters;
  }

  /**
   * Counts what has changed. What claims wait for, by namespace, in those that share a quota with that one; empty if
   * others count for too long.
   */
  private Optional<Map<String, List<ClaimRequest>>> counted(String namespace) {
    try {
      if (!books.tryLock(PATIENCE)) {
        return Optional.empty();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Optional.empty();
    }
    try {
      count();
      return Optional.of(
          waiting.values().stream().filter(each -> ledger.shareAQuota(namespace, each.namespace())).collect(
              Collectors.groupingBy(Waiting::namespace, Collectors.mapping(Waiting::request, Collectors.toList()))));
    } finally {
      books.unlock();
    }
  }

  /** What is noted from now on is looked at the next time: so a note goes before the view is read. */
  private void count() {
    if (changedClaims.takeAll()) {
      ledger = new QuotaLedger();
      taken.clear();
      waiting.clear();
      uids.clear();
      worldChanged = true;
      view.claims().forEach(claim -> countAnew(ObjectKey.of(claim)));
    }
    if (worldChanged) {
      worldChanged = false;
      inventory = view.inventory();
      ledger.refresh(QuotaWorld.of(view, inventory));
      held.forEach(of -> ledger.remove(of.key()));
      held = inventory.hosts().values().stream().flatMap(host -> HeldBookings.of(host).stream()).toList();
    }
    changedClaims.take().forEach(this::countAnew);
    held.forEach(this::countHeld);
  }

  private void countAnew(ObjectKey key) {
    @Nullable String before = uids.remove(key);
    if (before != null) {
      ledger.remove(before);
      taken.remove(before);
      waiting.remove(before);
    }
    @Nullable ResourceClaim claim = view.claim(key);
    if (claim == null) {
      return;
    }
    String uid = claim.getMetadata().getUid();
    uids.put(key, uid);
    if (AllocatedClaim.isAllocated(claim)) {
      put(uid, key.namespace(), AllocatedClaim.bookings(claim));
    } else if (amounts.read(claim) instanceof ClaimReading.Understood(ClaimRequest request)) {
      Optional<Proposal> proposal = Proposal.of(claim).filter(proposed -> proposed.isWithin(request));
      if (proposal.isPresent()) {
        put(uid, key.namespace(), proposal.get().bookings());
      } else if (claim.getMetadata().getDeletionTimestamp() == null) {
        waiting.put(uid, new Waiting(key.namespace(), request));
      }
    }
  }

  private void countHeld(HeldBookings of) {
    if (of.counts(taken.getOrDefault(of.claimUid(), List.of()))) {
      ledger.put(of.key(), of.namespace().orElse(""), of.bookings());
    } else {
      ledger.remove(of.key());
    }
  }

  private void put(String uid, String namespace, List<Booking> bookings) {
    ledger.put(uid, namespace, bookings);
    taken.put(uid, bookings);
  }

  /**
   * Asks the selectors and the placement of every request whether they leave it a device. Each thread that asks has
   * memories of its own.
   */
  private static final class Selected implements Devices {
    private final ConcurrentLinkedQueue<DeviceSelectors> idle = new ConcurrentLinkedQueue<>();

    @Override
    public boolean isAnyMeant(GpuHost host, ClaimRequest claim, Runnable inTime) {
      DeviceSelectors selectors = Optional.ofNullable(idle.poll()).orElseGet(DeviceSelectors::new);
      try {
        return claim.requests().stream()
            .allMatch(
                request -> request.alternatives().stream()
                    .anyMatch(each -> host.devices().stream()
                        .anyMatch(device -> isSelected(device, each, selectors, inTime))));
      } finally {
        idle.add(selectors);
      }
    }

    private static boolean isSelected(
        Device device,
        DeviceRequest request,
        DeviceSelectors selectors,
        Runnable inTime) {
      inTime.run();
      return request.placement().models().allows(device.card().model())
          && request.placement().uuids().allows(device.card().gpu().uuid())
          && request.selectors().stream()
              .allMatch(selector -> selectors.evaluate(selector.expression(), device) instanceof Verdict.Matches);
    }
  }

  /** A claim that is about to be made may have neither name nor UID, which references have. */
  private static ResourceClaim named(String namespace, ResourceClaim claim) {
    return new ResourceClaimBuilder(claim)
        .editOrNewMetadata()
        .withNamespace(namespace)
        .withName(Objects.requireNonNullElse(claim.getMetadata().getName(), TO_BE_GIVEN))
        .withUid(TO_BE_GIVEN)
        .endMetadata()
        .build();
  }
}
