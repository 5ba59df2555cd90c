package dev.partita.controller.claims;

import dev.partita.controller.allocate.Outcome;
import dev.partita.controller.edge.ApiEdge;
import dev.partita.controller.watch.ObjectKey;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClass;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimConsumerReference;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Writes what was decided for a pod, claim after claim, several pods at a time, and reports how it went. */
final class PodWriter implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(PodWriter.class);
  private static final int AT_ONCE = 8;

  private final AllocationWriter writer;
  private final Function<String, @Nullable DeviceClass> classes;
  private final Clock clock;
  private final Consumer<WorkItem> reports;
  private final ExecutorService threads =
      Executors.newFixedThreadPool(AT_ONCE, Thread.ofPlatform().name("allocation-writer-", 0).daemon().factory());

  PodWriter(
      AllocationWriter writer, Function<String, @Nullable DeviceClass> classes, Clock clock, Consumer<WorkItem> reports) {
    this.writer = writer;
    this.classes = classes;
    this.clock = clock;
    this.reports = reports;
  }

  /**
   * Begins to write. After the first failure the pod's remaining claims are left: the pod is decided upon anew.
   *
   * @param claims by UID, as they were decided upon
   * @param contested UIDs of those that are reserved for the pod at once
   */
  void write(Pod pod, Outcome.Allocated outcome, Map<String, ResourceClaim> claims, Set<String> contested, ClaimNotes notes) {
    ResourceClaimConsumerReference user =
        new ResourceClaimConsumerReference(null, pod.getMetadata().getName(), "pods", pod.getMetadata().getUid());
    threads.execute(
        () -> {
          boolean failed = false;
          for (Outcome.ClaimPlacement placement : outcome.claims()) {
            Optional<String> version = Optional.empty();
            if (!failed) {
              ResourceClaim claim = Objects.requireNonNull(claims.get(placement.claim().uid()), placement.claim().name());
              List<ResourceClaimConsumerReference> users = contested.contains(placement.claim().uid()) ? List.of(user) : List.of();
              version = write(placement, claim, outcome.node(), users, notes);
              failed = version.isEmpty();
            }
            reports.accept(new WorkItem.Written(placement.claim(), version));
          }
          reports.accept(new WorkItem.Finished(ObjectKey.of(pod), failed));
        });
  }

  private Optional<String> write(
      Outcome.ClaimPlacement placement,
      ResourceClaim claim,
      String node,
      List<ResourceClaimConsumerReference> users,
      ClaimNotes notes) {
    try {
      var allocation = AllocationStatus.of(claim, placement, node, classes, UUID::randomUUID, clock.instant());
      ResourceClaim written = writer.write(claim, allocation, users);
      notes.allocated(placement, node);
      return Optional.of(written.getMetadata().getResourceVersion());
    } catch (RuntimeException e) {
      if (ApiEdge.isConflict(e) || ApiEdge.isNotFound(e)) {
        LOG.info("claim {}: changed while it was allocated on {}, is decided upon anew", placement.claim(), node);
      } else {
        LOG.warn("claim {}: allocation on {} not written: {}", placement.claim(), node, e.getMessage());
      }
      return writtenAfterAll(placement, claim, node, notes);
    }
  }

  /** An answer can be lost on its way although the write was done; then trying again gives a conflict with oneself. */
  private Optional<String> writtenAfterAll(
      Outcome.ClaimPlacement placement, ResourceClaim claim, String node, ClaimNotes notes) {
    try {
      @Nullable ResourceClaim now = writer.read(claim);
      if (now != null
          && now.getMetadata().getUid().equals(placement.claim().uid())
          && AllocatedClaim.isAllocated(now)
          && AllocatedClaim.bookings(now).equals(placement.bookings())) {
        notes.allocated(placement, node);
        return Optional.of(now.getMetadata().getResourceVersion());
      }
    } catch (RuntimeException e) {
      LOG.warn("claim {}: not read either: {}", placement.claim(), e.getMessage());
    }
    return Optional.empty();
  }

  /** Takes allocations back that nobody has reserved. */
  void release(List<ResourceClaim> claims, String why) {
    threads.execute(
        () -> {
          for (ResourceClaim claim : claims) {
            try {
              writer.release(claim);
              LOG.info("claim {}: allocation taken back: {}", ClaimReader.ref(claim), why);
            } catch (RuntimeException e) {
              LOG.info("claim {}: allocation not taken back: {}", ClaimReader.ref(claim), e.getMessage());
              reports.accept(new WorkItem.NotReleased(claim.getMetadata().getUid()));
            }
          }
        });
  }

  @Override
  public void close() {
    threads.shutdown();
    try {
      if (!threads.awaitTermination(10, TimeUnit.SECONDS)) {
        threads.shutdownNow();
      }
    } catch (InterruptedException e) {
      threads.shutdownNow();
      Thread.currentThread().interrupt();
    }
  }
}
