package dev.partita.controller.commit;

import dev.partita.api.DeviceName;
import dev.partita.api.node.GpuNode;
import dev.partita.controller.claim.AllocatedClaim;
import dev.partita.controller.claim.AllocationStatus;
import dev.partita.controller.edge.ApiEdge;
import dev.partita.controller.held.HeldBookings;
import dev.partita.controller.inventory.Card;
import dev.partita.controller.inventory.Device;
import dev.partita.controller.inventory.GpuHost;
import dev.partita.controller.inventory.Inventory;
import dev.partita.controller.place.ClaimPlacement;
import dev.partita.controller.proposal.Proposal;
import dev.partita.controller.request.ClaimRef;
import dev.partita.controller.state.PodPlan;
import dev.partita.controller.watch.ClusterView;
import dev.partita.controller.watch.ObjectKey;
import dev.partita.controller.watch.ResourceVersion;
import io.fabric8.kubernetes.api.model.resource.v1.AllocationResult;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClass;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimConsumerReference;
import java.time.Clock;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes what was decided for some pods together, so that no two instances can over-commit a card. First it proposes
 * every claim's allocation on the claim. Once this instance sees its proposals, and with them everything that was
 * written before them, it looks whether the cards hold them all, and are offered still. Only then it writes the
 * allocations, each under the version of its proposal.
 */
final class AllocationTransaction {
  private static final Logger LOG = LoggerFactory.getLogger(AllocationTransaction.class);

  /** How long a proposal may take to come back from the API server's watch. */
  private static final Duration ECHO = Duration.ofSeconds(10);

  private final AllocationWriter writer;
  private final ClusterView view;
  private final Function<String, @Nullable DeviceClass> classes;
  private final Clock clock;
  private final WriteListener listener;
  private final Predicate<ResourceClaim> spent;
  private final List<PodPlan> plans;
  private final Map<ClaimRef, ResourceClaim> proposed = new LinkedHashMap<>();
  private final Map<ClaimRef, String> written = new LinkedHashMap<>();

  /** @param spent whether what is proposed for a claim is known to be past */
  AllocationTransaction(
      AllocationWriter writer,
      ClusterView view,
      Clock clock,
      WriteListener listener,
      Predicate<ResourceClaim> spent,
      List<PodPlan> plans) {
    this.writer = writer;
    this.view = view;
    this.classes = view::deviceClass;
    this.clock = clock;
    this.listener = listener;
    this.spent = spent;
    this.plans = List.copyOf(plans);
  }

  /**
   * Writes. What could not be written in the end is not proposed any more either, as far as the server can be reached.
   *
   * @return whether everything was written
   */
  boolean run() throws InterruptedException {
    boolean done = propose() && awaitEcho() && fits() && write();
    if (!done) {
      withdraw();
    }
    return done;
  }

  /** The version that the allocation of the claim was written in; empty if it was not. */
  Optional<String> version(ClaimRef claim) {
    return Optional.ofNullable(written.get(claim));
  }

  private boolean propose() {
    for (PodPlan plan : plans) {
      for (ClaimPlacement placement : plan.outcome().claims()) {
        Proposal proposal = Proposal.of(plan.outcome().node(), placement.bookings());
        ResourceClaim claim =
            Objects.requireNonNull(plan.claims().get(placement.claim().uid()), placement.claim().name());
        Optional<ResourceClaim> now =
            attempt(placement.claim(), claim, "not proposed", () -> writer.propose(claim, proposal),
                read -> !AllocatedClaim.isAllocated(read) && Proposal.of(read).equals(Optional.of(proposal)));
        if (now.isEmpty()) {
          return false;
        }
        proposed.put(placement.claim(), now.get());
      }
    }
    return true;
  }

  /** Waits until this instance sees its proposals, and says whether it does. */
  private boolean awaitEcho() throws InterruptedException {
    for (PodPlan plan : plans) {
      String node = plan.outcome().node();
      for (ClaimPlacement placement : plan.outcome().claims()) {
        ResourceClaim proposal = Objects.requireNonNull(proposed.get(placement.claim()), placement.claim().name());
        ObjectKey key = ObjectKey.of(proposal);
        if (!view.await(key, () -> isShown(proposal, view.claim(key), () -> view.claimsOn(node)), ECHO)) {
          LOG.warn("claim {}: the watch did not show its proposal within {} s", placement.claim(), ECHO.toSeconds());
          return false;
        }
      }
    }
    return true;
  }

  /**
   * Whether a proposal is shown, or what came after it. A view has a claim by its name a moment before it is among
   * those of its node.
   *
   * @param byName the claim as the view has it by its name; null if it has none
   * @param onNode the claims of the node of the proposal
   */
  static boolean isShown(
      ResourceClaim proposal,
      @Nullable ResourceClaim byName,
      Supplier<List<ResourceClaim>> onNode) {
    String version = proposal.getMetadata().getResourceVersion();
    return byName != null
        && ResourceVersion.hasReached(byName, version)
        && (ResourceVersion.isNewer(byName.getMetadata().getResourceVersion(), version)
            || isAmong(onNode.get(), proposal));
  }

  private boolean fits() {
    for (PodPlan plan : plans) {
      if (GpuNode.isLeftToScheduler(view.gpuNode(plan.outcome().node()))) {
        LOG.info("pod {}: kube-scheduler allocates on {} now", ObjectKey.of(plan.pod()), plan.outcome().node());
        return false; // it knows nothing of proposals
      }
      @Nullable GpuHost host = host(plan.outcome().node());
      Optional<String> refusal = refusal(plan, host);
      if (refusal.isPresent()) {
        LOG.info("pod {}: {}: {}; deciding anew", ObjectKey.of(plan.pod()), plan.outcome().node(), refusal.get());
        return false;
      }
      List<ResourceClaim> claims = view.claimsOn(plan.outcome().node());
      if (!plan.outcome().claims().stream().allMatch(
          placement -> isAmong(
              claims, Objects.requireNonNull(proposed.get(placement.claim()), placement.claim().name())))) {
        return false; // changed already: it could not be written any more
      }
      List<HeldBookings> held = host == null ? List.of() : HeldBookings.of(host);
      Optional<Card> over = Overcommitment.find(plan.outcome().claims(), claims, held, spent);
      if (over.isPresent()) {
        LOG.info("pod {}: another claim got {} at the same time", ObjectKey.of(plan.pod()), over.get().key());
        return false;
      }
    }
    return true;
  }

  /** The node as it is reported now, which is read by itself: nobody waits for all of a large cluster here. */
  private @Nullable GpuHost host(String node) {
    @Nullable GpuNode gpuNode = view.gpuNode(node);
    return gpuNode == null ? null : Inventory.EMPTY.refreshed(List.of(gpuNode), view.taintRules()).host(node);
  }

  /** Why the node's devices cannot be given to the pod any more; empty if they can. */
  private static Optional<String> refusal(PodPlan plan, @Nullable GpuHost host) {
    if (host == null) {
      return Optional.of("the node is not reported any more");
    }
    Map<DeviceName, Device> offered =
        host.devices().stream().collect(Collectors.toMap(Device::name, Function.identity()));
    return host.unready().or(() -> plan.outcome().claims().stream().flatMap(claim -> claim.devices().stream())
        .flatMap(placed -> refusal(placed, offered.get(placed.device().name())).stream()).findFirst());
  }

  private static Optional<String> refusal(ClaimPlacement.DevicePlacement placed, @Nullable Device now) {
    if (now == null) {
      return Optional.of("device " + placed.device().name() + " is not offered any more");
    }
    return now.taints().stream()
        .filter(taint -> placed.request().tolerations().stream().noneMatch(toleration -> toleration.covers(taint)))
        .findFirst()
        .map(taint -> "device " + placed.device().name() + " has the taint " + taint.key());
  }

  /** Whether the claim is there exactly as it was proposed. */
  private static boolean isAmong(List<ResourceClaim> claims, ResourceClaim proposal) {
    String uid = proposal.getMetadata().getUid();
    String version = proposal.getMetadata().getResourceVersion();
    return claims.stream()
        .anyMatch(
            c -> c.getMetadata().getUid().equals(uid) && c.getMetadata().getResourceVersion().equals(version));
  }

  private boolean write() {
    for (PodPlan plan : plans) {
      ResourceClaimConsumerReference user =
          new ResourceClaimConsumerReference(null, plan.pod().getMetadata().getName(), "pods",
              plan.pod().getMetadata().getUid());
      for (ClaimPlacement placement : plan.outcome().claims()) {
        String node = plan.outcome().node();
        ResourceClaim claim = Objects.requireNonNull(proposed.get(placement.claim()), placement.claim().name());
        AllocationResult allocation =
            AllocationStatus.of(claim, placement, node, classes, UUID::randomUUID, clock.instant());
        if (!AllocatedClaim.bookings(claim, allocation).equals(placement.bookings())) {
          LOG.info("claim {}: its class has changed what it takes of a card; deciding anew",
              placement.claim());
          return false;
        }
        List<ResourceClaimConsumerReference> users =
            plan.reserved().contains(placement.claim().uid()) ? List.of(user) : List.of();
        Optional<ResourceClaim> now = attempt(placement.claim(), claim, "allocation on " + node + " not written",
            () -> writer.write(claim, allocation, users, () -> requireNotLeftToScheduler(node)),
            read -> AllocatedClaim.isAllocated(read) && AllocatedClaim.bookings(read).equals(placement.bookings()));
        if (now.isEmpty()) {
          return false;
        }
        proposed.remove(placement.claim());
        written.put(placement.claim(), now.get().getMetadata().getResourceVersion());
        listener.allocated(placement, node);
      }
    }
    return true;
  }

  /** A busy API server has the write tried again for seconds, in which the node may be left to kube-scheduler. */
  private void requireNotLeftToScheduler(String node) {
    if (GpuNode.isLeftToScheduler(view.gpuNode(node))) {
      throw new ApiEdge.NotSentException("kube-scheduler allocates there now");
    }
  }

  private void withdraw() {
    proposed.forEach(
        (ref, claim) -> {
          try {
            writer.release(claim);
          } catch (RuntimeException e) {
            LOG.debug("claim {}: cannot withdraw its proposal; the search for abandoned proposals will: {}", ref,
                e.getMessage());
          }
        });
  }

  @FunctionalInterface
  private interface Write {
    ResourceClaim run();
  }

  /**
   * An answer can be lost on its way although the write was done; then trying again gives a conflict with oneself.
   *
   * @param done whether the claim, read again, is as this write makes it
   */
  private Optional<ResourceClaim> attempt(
      ClaimRef ref,
      ResourceClaim claim,
      String failure,
      Write write,
      Predicate<ResourceClaim> done) {
    try {
      return Optional.of(write.run());
    } catch (RuntimeException e) {
      if (ApiEdge.isConflict(e) || ApiEdge.isNotFound(e)) {
        LOG.info("claim {}: it has changed in the meantime; deciding anew", ref);
      } else if (e instanceof ApiEdge.NotSentException) {
        LOG.info("claim {}: {}: {}", ref, failure, e.getMessage());
      } else {
        LOG.warn("claim {}: {}: {}", ref, failure, e.getMessage());
      }
    }
    try {
      @Nullable ResourceClaim now = writer.read(claim);
      return Optional.ofNullable(now).filter(read -> read.getMetadata().getUid().equals(ref.uid())).filter(done);
    } catch (RuntimeException e) {
      LOG.warn("claim {}: cannot read it either: {}", ref, e.getMessage());
      return Optional.empty();
    }
  }
}
