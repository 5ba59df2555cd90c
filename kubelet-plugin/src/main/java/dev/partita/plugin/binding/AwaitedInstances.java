package dev.partita.plugin.binding;

import dev.partita.api.node.BindingClaim;
import dev.partita.plugin.allocation.AllocationDecoder;
import dev.partita.plugin.checkpoint.Checkpoint;
import dev.partita.plugin.claim.PreparedClaim.Phase;
import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.claimread.ClaimReader;
import dev.partita.plugin.claimstatus.ClaimReports;
import dev.partita.plugin.claimstatus.InstanceStatuses;
import dev.partita.plugin.grant.ClaimRef;
import dev.partita.plugin.kube.ApiCalls;
import dev.partita.plugin.loop.Loops;
import dev.partita.plugin.loop.PeriodicLoop;
import dev.partita.plugin.prepare.ClaimOperations;
import dev.partita.plugin.prepare.Provision;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes the MIG instances for which kube-scheduler waits before it binds a pod (KEP-5007), and tells it by the claim's
 * status that they are there, or that they cannot be made. The GpuNode says which claims these are; what a claim has is
 * read from the claim itself, whose allocation only kube-scheduler and the controller may write. What was made for a
 * claim that is not allocated here any more goes at once.
 */
public final class AwaitedInstances {
  private static final Logger LOG = LoggerFactory.getLogger(AwaitedInstances.class);

  /** NVML gets half a minute a call, and a node has several cards. */
  private static final Duration ALLOWED = Duration.ofMinutes(10);

  private static final Duration IDLE = Duration.ofHours(1); // a GpuNode that changes wakes it
  private static final Duration BETWEEN_TRIES = Duration.ofSeconds(1);
  private static final Duration AFTER_FAILURE = Duration.ofSeconds(5);

  /** How long a place may be another claim's: a pod that is deleted has half a minute to end by default. */
  static final Duration PATIENCE = Duration.ofMinutes(1);

  private final String pool;
  private final Supplier<Optional<List<BindingClaim>>> told;
  private final Checkpoint checkpoint;
  private final ClaimReader api;
  private final ClaimOperations claims;
  private final ClaimReports reports;
  private final Runnable readCardsSoon;
  private final InstantSource clock;
  private final Set<BindingClaim> settled = new HashSet<>(); // kube-scheduler has its answer
  private final Map<BindingClaim, Instant> waitingSince = new HashMap<>();

  /**
   * @param pool of this node's devices
   * @param told which claims wait; empty as long as nobody has said
   * @param readCardsSoon has the cards read anew, when one does not let itself be cut as its last reading says
   * @param monotonicClock for how long something lasts
   */
  public AwaitedInstances(
      String pool,
      Supplier<Optional<List<BindingClaim>>> told,
      Checkpoint checkpoint,
      ClaimReader api,
      ClaimOperations claims,
      ClaimReports reports,
      Runnable readCardsSoon,
      InstantSource monotonicClock) {
    this.pool = pool;
    this.told = told;
    this.checkpoint = checkpoint;
    this.api = api;
    this.claims = claims;
    this.reports = reports;
    this.readCardsSoon = readCardsSoon;
    this.clock = monotonicClock;
  }

  /** Begins; what it gives back is to be {@linkplain PeriodicLoop#soon told} when the claims may have changed. */
  public PeriodicLoop start(Loops loops) {
    return loops.makeAskingDriver("binding", ALLOWED, this::look).start();
  }

  /** Looks once; how long to pause before the next look. */
  public Duration look() throws IOException {
    Optional<List<BindingClaim>> now = told.get();
    if (now.isEmpty()) {
      return IDLE;
    }
    settled.retainAll(now.get());
    waitingSince.keySet().retainAll(now.get());
    Duration pause = IDLE;
    Set<String> uids = now.get().stream().map(BindingClaim::claimUid).collect(Collectors.toSet());
    for (PreparedClaim record : checkpoint.readAll()) {
      if (isWithoutPod(record) && !uids.contains(record.claim().uid())) {
        pause = shorter(pause, tried(record.claim(), () -> giveBackIfUnneeded(record)));
      }
    }
    for (BindingClaim claim : now.get()) {
      if (!settled.contains(claim)) {
        ClaimRef ref = new ClaimRef(claim.namespace(), claim.name(), claim.claimUid());
        pause = shorter(pause, tried(ref, () -> settle(claim, ref)));
      }
    }
    return pause;
  }

  private interface Try {
    Duration run() throws IOException;
  }

  private static Duration tried(ClaimRef claim, Try attempt) {
    try {
      return attempt.run();
    } catch (KubernetesClientException e) {
      LOG.warn("claim {}: its MIG instances wait; trying again: {}", claim, ApiCalls.explain(e));
    } catch (IOException | RuntimeException e) { // the others are not to wait for this one
      LOG.warn("claim {}: its MIG instances wait; trying again: {}", claim, e.toString());
    }
    return AFTER_FAILURE;
  }

  private Duration settle(BindingClaim told, ClaimRef ref) {
    Optional<ResourceClaim> claim = api.claim(ref);
    switch (claim.map(its -> InstanceStatuses.of(its, pool)).orElse(InstanceStatuses.State.NONE)) {
      case NONE -> {} // the controller tells when it is otherwise
      case MADE, FAILED -> settled.add(told);
      case AWAITED -> {
        return provide(told, ref);
      }
    }
    return IDLE;
  }

  private Duration provide(BindingClaim told, ClaimRef ref) {
    switch (claims.preparer().makeInstances(ref)) {
      case Provision.Made _ -> {
        reports.instancesMade(ref);
        settled.add(told);
      }
      case Provision.Impossible(String reason) -> fail(told, ref, reason);
      case Provision.NotYet(String reason) -> {
        Instant since = waitingSince.computeIfAbsent(told, _ -> clock.instant());
        if (clock.instant().isBefore(since.plus(PATIENCE))) {
          return BETWEEN_TRIES;
        }
        fail(told, ref, reason);
      }
    }
    return IDLE;
  }

  private void fail(BindingClaim told, ClaimRef ref, String reason) {
    LOG.warn("claim {}: its MIG instances cannot be made, so that kube-scheduler looks for another place: {}", ref,
        reason);
    reports.instancesFailed(ref, reason);
    settled.add(told);
    readCardsSoon.run();
  }

  /** Whether it has an instance that was made for it, and no container. */
  private static boolean isWithoutPod(PreparedClaim record) {
    return record.phase() == Phase.STARTED
        && record.grants().stream().anyMatch(grant -> grant.use().made().isPresent());
  }

  /** Kubelet asks for no removal of what it has not asked for. */
  private Duration giveBackIfUnneeded(PreparedClaim record) throws IOException {
    boolean needed = api.claim(record.claim())
        .filter(claim -> AllocationDecoder.givesExactly(claim, pool, record.grants()))
        .isPresent();
    if (!needed && claims.releaser().releaseIfStill(record.claim().uid(), Optional.of(record))) {
      LOG.info("claim {}: it is not allocated here any more; its MIG instances are given back", record.claim());
      readCardsSoon.run();
    }
    return IDLE;
  }

  private static Duration shorter(Duration one, Duration other) {
    return one.compareTo(other) < 0 ? one : other;
  }
}
