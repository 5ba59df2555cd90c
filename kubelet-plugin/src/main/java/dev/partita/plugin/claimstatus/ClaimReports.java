package dev.partita.plugin.claimstatus;

import dev.partita.api.Driver;
import dev.partita.api.gpu.GpuHealth;
import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.grant.ClaimRef;
import dev.partita.plugin.grant.Enforcer;
import dev.partita.plugin.grant.Grant;
import dev.partita.plugin.kube.ApiCalls;
import dev.partita.plugin.loop.Loops;
import dev.partita.plugin.loop.PeriodicLoop;
import io.fabric8.kubernetes.api.model.resource.v1.AllocatedDeviceStatus;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells a claim's user what happened to the claim, by the claim's device status and by events. Reports are written one
 * after another, and only after the call that they are about has been answered: no container waits for them, and they
 * never make a preparation fail. The number of reports that wait is bounded ({@link ReportQueue}).
 */
public final class ClaimReports implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ClaimReports.class);
  private static final int PATCH_ATTEMPTS = 3;
  static final int MOST_REPEATS = 5;
  // some calls to an API server that answers none of them
  private static final Duration ALLOWED = Duration.ofMinutes(10);
  private static final Duration IDLE = Duration.ofHours(1); // a report that comes wakes the writer
  private static final Duration DRAIN = Duration.ofSeconds(5);
  private static final Duration GIVES_WAY = Duration.ofSeconds(1);
  private static final Duration BETWEEN_WARNINGS = Duration.ofMinutes(1);

  private final KubernetesClient client;
  private final ApiCalls calls;
  private final ClaimEvents events;
  private final String nodeName;
  private final String pool;
  private final Clock clock;
  private final CardsNow cards;
  private final Duration firstRepeat;
  private final ReportQueue queue = new ReportQueue();
  private final WaitingCalls kubelet = new WaitingCalls(GIVES_WAY);
  private final PeriodicLoop writer;
  private final Object written = new Object();
  private boolean idle; // under written
  private long warned = System.nanoTime() - BETWEEN_WARNINGS.toNanos();

  /**
   * What is known of a claim's device at the moment of writing.
   *
   * @param ofShares who holds its shares to their memory
   */
  public record CardNow(GpuHealth health, Enforcer ofShares) {}

  /** Tells what is known of cards. */
  public interface CardsNow {
    /** Where nothing is known of any card. */
    CardsNow NONE = grant -> Optional.empty();

    /** Of what the claim has of a card; empty if nothing is known of it. */
    Optional<CardNow> of(Grant grant);
  }

  public ClaimReports(KubernetesClient client, ApiCalls calls, String nodeName, Clock clock) {
    this(client, calls, nodeName, clock, CardsNow.NONE, new Loops());
  }

  /**
   * Reports what is known of cards as well, by a loop that somebody watches.
   *
   * @param cards goes into the status of claims
   * @param loops gets the writer's
   */
  public ClaimReports(
      KubernetesClient client,
      ApiCalls calls,
      String nodeName,
      Clock clock,
      CardsNow cards,
      Loops loops) {
    this(client, calls, nodeName, clock, cards, loops, Duration.ofMinutes(1));
  }

  /**
   * Repeats reports that were lost at other times than after a minute, two, four and so on.
   *
   * @param firstRepeat how long after a report that was lost it is repeated; each time after that twice as long
   */
  ClaimReports(
      KubernetesClient client,
      ApiCalls calls,
      String nodeName,
      Clock clock,
      CardsNow cards,
      Loops loops,
      Duration firstRepeat) {
    this.client = client;
    this.calls = calls;
    this.events = new ClaimEvents(client, calls, nodeName, clock);
    this.nodeName = nodeName;
    this.pool = Driver.poolOf(nodeName);
    this.clock = clock;
    this.cards = cards;
    this.firstRepeat = firstRepeat;
    this.writer = loops.make("claim-reports", ALLOWED, this::writeNext).start();
  }

  /** Kubelet waits for claims from now on. Reports give way to it until this is closed, for a second at most. */
  public WaitingCalls.Call kubeletWaits() {
    return kubelet.begin(writer::soon);
  }

  /** The claim is ready. */
  public void prepared(PreparedClaim claim) {
    add(new ReportQueue.State(claim, Map.of()));
    add(event(claim.claim(), EventReason.Prepared, ClaimWords.message(claim.grants(), nodeName)));
  }

  /** The claim's owner has asked for another size, which the claim itself says. */
  public void sizeAsked(PreparedClaim claim) {
    add(new ReportQueue.State(claim, Map.of()));
  }

  /** The claim's shares have another size from now on. */
  public void resized(PreparedClaim claim) {
    add(new ReportQueue.State(claim, Map.of()));
    add(event(claim.claim(), EventReason.Resized, "now " + ClaimWords.message(claim.grants(), nodeName)));
  }

  /** The claim's shares have another loan from now on. */
  public void lent(PreparedClaim claim) {
    add(new ReportQueue.State(claim, Map.of()));
  }

  /**
   * What the claim was lent is asked back.
   *
   * @param claim with what it is left
   * @param note what becomes of processes that keep it
   */
  public void recalled(PreparedClaim claim, String note) {
    add(new ReportQueue.State(claim, Map.of()));
    add(event(claim.claim(), EventReason.MemoryRecalled, note));
  }

  /** A size that the claim was granted is not in force yet, and why. */
  public void resizeWaits(PreparedClaim claim, String why) {
    add(new ReportQueue.State(claim, Map.of()));
    add(event(claim.claim(), EventReason.ResizeWaits, why));
  }

  /**
   * How the claim is used.
   *
   * @param notes by share key
   */
  public void used(PreparedClaim claim, Map<String, DeviceNotes> notes) {
    add(new ReportQueue.State(claim, notes));
  }

  /** The health of a card of the claim has changed. */
  public void cardChanged(PreparedClaim claim) {
    queue.addUnlessWaiting(new ReportQueue.State(claim, Map.of()));
    writer.soon();
  }

  /**
   * The claim has a card that became unhealthy. That is said once only, so it is tried again as {@link #misused} is.
   */
  public void cardFailed(ClaimRef claim, String note) {
    misused(claim, EventReason.GpuUnhealthy, note);
  }

  /** The card that was unhealthy is healthy again, which is said once only, too. */
  public void cardHealed(ClaimRef claim, String note) {
    misused(claim, EventReason.GpuHealthy, note);
  }

  /**
   * Something is wrong with how the claim is used. That is said only once. So if the API server cannot be reached it is
   * tried again for half an hour: whoever means harm could choose that moment.
   */
  public void misused(ClaimRef claim, EventReason reason, String note) {
    add(new ReportQueue.Event(claim, reason, note, true, 0));
  }

  /** The MPS daemon of the claim's card has ended. That is said once only, so it is tried again. */
  public void mpsEnded(ClaimRef claim, String note) {
    misused(claim, EventReason.MpsDaemonEnded, note);
  }

  /** The claim cannot be prepared; kubelet tries again. */
  public void failed(ClaimRef claim, String error) {
    add(event(claim, EventReason.PrepareFailed, error));
  }

  /** The claim has been released. */
  public void released(ClaimRef claim) {
    add(event(claim, EventReason.Released, "no longer prepared on " + nodeName));
  }

  /** Writes what is waiting, for at most 5 s. */
  @Override
  public void close() {
    long end = System.nanoTime() + DRAIN.toNanos();
    synchronized (written) {
      try {
        for (long left = DRAIN.toNanos(); left > 0 && !(idle && queue.isEmpty()); left = end - System.nanoTime()) {
          TimeUnit.NANOSECONDS.timedWait(written, left);
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
    writer.close();
  }

  private static ReportQueue.Event event(ClaimRef claim, EventReason reason, String note) {
    return new ReportQueue.Event(claim, reason, note, false, 0);
  }

  private void add(ReportQueue.Report report) {
    queue.add(report);
    writer.soon();
  }

  private Duration writeNext() {
    Duration givesWay = kubelet.patience();
    if (givesWay.isPositive()) {
      return givesWay;
    }
    setIdle(false);
    Optional<ReportQueue.Report> next = queue.take(System.nanoTime());
    try {
      next.ifPresent(this::write);
    } finally {
      sayWhatWasDropped();
      setIdle(true);
    }
    if (!queue.isEmpty()) {
      return Duration.ZERO;
    }
    OptionalLong due = queue.nextDue();
    return due.isPresent() ? Duration.ofNanos(Math.max(0, due.getAsLong() - System.nanoTime())) : IDLE;
  }

  private void setIdle(boolean now) {
    synchronized (written) {
      idle = now;
      written.notifyAll();
    }
  }

  private void sayWhatWasDropped() {
    if (System.nanoTime() - warned < BETWEEN_WARNINGS.toNanos()) {
      return;
    }
    queue
        .dropped()
        .ifPresent(
            dropped -> {
              warned = System.nanoTime();
              LOG.warn(
                  "dropped {} reports about claims, because the API server takes them too slowly; the last one was about claim {}",
                  dropped.count(),
                  dropped.last().about());
            });
  }

  private void write(ReportQueue.Report report) {
    try {
      switch (report) {
        case ReportQueue.State state -> writeState(state);
        case ReportQueue.Event event -> writeEvent(event);
      }
    } catch (KubernetesClientException e) {
      explain(report.about(), e);
    } catch (RuntimeException e) {
      LOG.warn("claim {}: cannot report on it: {}", report.about(), e.toString());
    }
  }

  /** One that is lost is tried again: of a claim that nobody uses there may be no other for days. */
  private void writeState(ReportQueue.State state) {
    try {
      writeOverOthers(() -> writeStatus(state.claim(), state.notes()));
    } catch (KubernetesClientException e) {
      if (ApiCalls.mayPass(e)) {
        queue.addLater(state, System.nanoTime() + firstRepeat.toNanos());
      }
      throw e;
    }
  }

  private void writeEvent(ReportQueue.Event event) {
    try {
      events.record(event.about(), event.reason(), event.note());
    } catch (KubernetesClientException e) {
      if (!event.untilWritten() || event.tries() == MOST_REPEATS || !ApiCalls.mayPass(e) || !addLater(event)) {
        throw e;
      }
      LOG.info(
          "claim {}: cannot report on it now; trying again: {}", event.about(),
          ApiCalls.explain(e));
    }
  }

  private boolean addLater(ReportQueue.Event event) {
    return queue.addLater(event.triedAgain(), System.nanoTime() + (firstRepeat.toNanos() << event.tries()));
  }

  /**
   * Tells kube-scheduler that the MIG instances for which it waits are there. Unlike other reports it is written before
   * this returns, for a pod waits for it. Throws KubernetesClientException if that cannot be done.
   */
  public void instancesMade(ClaimRef claim) {
    writeOverOthers(() -> writeInstances(claim, DeviceNotes.Note.holds(DeviceCondition.InstanceMade,
        DeviceCondition.Reason.Made, "the MIG instance is there")));
  }

  /**
   * Tells kube-scheduler in the same way that they cannot be made, so that it looks for another place.
   *
   * @param why for people
   */
  public void instancesFailed(ClaimRef claim, String why) {
    writeOverOthers(() -> writeInstances(claim, DeviceNotes.Note.holds(DeviceCondition.InstanceFailed,
        DeviceCondition.Reason.CannotBeMade, why)));
  }

  private void writeInstances(ClaimRef ref, DeviceNotes.Note note) {
    allocated(ref).ifPresent(
        claim -> patch(claim, InstanceStatuses.with(claim, pool, note, clock.instant())));
  }

  /** The server refuses a patch whose tests no longer hold; then the claim is read again. */
  private void writeOverOthers(Runnable writing) {
    for (int attempt = 1;; attempt++) {
      try {
        calls.run(writing);
        return;
      } catch (KubernetesClientException e) {
        if (attempt == PATCH_ATTEMPTS || !ApiCalls.isUnprocessable(e) || ApiCalls.isForbidden(e)) {
          throw e;
        }
      }
    }
  }

  private void writeStatus(PreparedClaim prepared, Map<String, DeviceNotes> notes) {
    allocated(prepared.claim()).ifPresent(
        claim -> patch(claim, new DeviceStatuses(claim, prepared, nodeName, cards, clock.instant()).wanted(notes)));
  }

  private Optional<ResourceClaim> allocated(ClaimRef ref) {
    ResourceClaim claim = client.resources(ResourceClaim.class).inNamespace(ref.namespace()).withName(ref.name()).get();
    if (claim == null
        || !ref.uid().equals(claim.getMetadata().getUid())
        || claim.getStatus() == null
        || claim.getStatus().getAllocation() == null) {
      LOG.info("claim {}: no longer allocated, so its device status is not written", ref);
      return Optional.empty();
    }
    return Optional.of(claim);
  }

  private void patch(ResourceClaim claim, List<AllocatedDeviceStatus> wanted) {
    List<Map<String, Object>> patch = StatusPatch.of(claim, wanted, pool);
    if (!patch.isEmpty()) {
      client
          .resource(claim)
          .subresource("status")
          .patch(PatchContext.of(PatchType.JSON), client.getKubernetesSerialization().asJson(patch));
    }
  }

  private void explain(ClaimRef claim, KubernetesClientException e) {
    if (ApiCalls.isNamespaceEnding(e)) {
      LOG.debug("claim {}: no report, its namespace is being deleted", claim);
    } else if (ApiCalls.isForbidden(e)) {
      LOG.error(
          "claim {}: the plugin may not report on it: {}. Its ServiceAccount needs patch on resourceclaims/status,"
              + " associated-node:patch on resourceclaims/driver for the resource name {}, and get, create and update on events"
              + " of events.k8s.io; the token must be bound to node {}",
          claim,
          e.getMessage(),
          Driver.NAME,
          nodeName);
    } else {
      LOG.warn("claim {}: cannot report on it: {}", claim, ApiCalls.explain(e));
    }
  }
}
