package dev.partita.controller.claims;

import dev.partita.api.node.GpuNodeSpec;
import dev.partita.controller.inventory.GpuHost;
import dev.partita.controller.inventory.Inventory;
import dev.partita.controller.watch.Backoff;
import dev.partita.controller.watch.ClusterView;
import dev.partita.controller.watch.ObjectKey;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Takes back what is kept for nobody: allocations that no pod came to use, and proposals that nobody pursues. For one thread. */
final class Leftovers {
  /**
   * How long a proposal of somebody else's is let be: longer than it takes to make an allocation of it, so that two instances that
   * both believe that they lead do not keep taking back each other's.
   */
  static final Duration PROPOSAL_AGE = Duration.ofSeconds(2);

  private final ClusterView view;
  private final ClaimLedger ledger;
  private final PodWriter writer;
  private final Retries retries;
  private final Backoff<String> failures = new Backoff<>(Retries.FIRST_PAUSE, Retries.MOST_DOUBLINGS); // by the claim's UID

  Leftovers(ClusterView view, ClaimLedger ledger, PodWriter writer, Retries retries) {
    this.view = view;
    this.ledger = ledger;
    this.writer = writer;
    this.retries = retries;
  }

  /** Looks at a claim after anything that concerns it has changed. */
  void look(ObjectKey key, Inventory inventory) {
    @Nullable ResourceClaim claim = view.claim(key);
    if (claim == null || ledger.isAssumed(claim.getMetadata().getUid())) {
      return;
    }
    if (!AllocatedClaim.isAllocated(claim) && !Proposal.isOn(claim)) {
      failures.succeeded(claim.getMetadata().getUid());
    }
    if (AllocatedClaim.isProposed(claim) && ledger.isSpent(claim)) {
      if (view.podsOf(key).stream().noneMatch(PodClaims::isLive)) {
        release(List.of(claim), "no pod uses it"); // else the decision about the pod proposes anew, or takes it back
      }
    } else if (AllocatedClaim.isProposed(claim)) {
      retries.after(PROPOSAL_AGE, new WorkItem.ClaimAgain(key, claim.getMetadata().getResourceVersion()));
    } else if (isAbandoned(key, claim, inventory)) {
      release(List.of(claim), "no pod uses it");
    }
  }

  /** Withdraws what was proposed for a claim in that version, if it still is. */
  void withdraw(ObjectKey key, String version) {
    @Nullable ResourceClaim claim = view.claim(key);
    if (claim != null
        && claim.getMetadata().getResourceVersion().equals(version)
        && AllocatedClaim.isProposed(claim)
        && !ledger.isAssumed(claim.getMetadata().getUid())) {
      release(List.of(claim), "what was proposed for it was not written");
    }
  }

  /** These claims wait: nothing is proposed for them any more. */
  void withdraw(List<ResourceClaim> claims) {
    release(claims.stream().filter(AllocatedClaim::isProposed).toList(), "it waits");
  }

  void release(List<ResourceClaim> claims, String why) {
    List<ResourceClaim> fresh = claims.stream().filter(claim -> ledger.releasing(claim.getMetadata().getUid())).toList();
    if (!fresh.isEmpty()) {
      writer.release(fresh, why);
    }
  }

  /** It could not be taken back: whether it still is to be is decided after a pause, which grows. */
  void notReleased(ObjectKey key, String claimUid) {
    ledger.notReleased(claimUid);
    @Nullable ResourceClaim claim = view.claim(key);
    if (claim != null && claim.getMetadata().getUid().equals(claimUid)) {
      String version = claim.getMetadata().getResourceVersion();
      failures.failed(claimUid).ifPresent(pause -> retries.after(pause, new WorkItem.ReleaseAgain(key, claimUid, version)));
    }
  }

  /** That pause is over. */
  void tried(String claimUid) {
    failures.tried(claimUid);
  }

  /** The claim is gone. */
  void forget(String claimUid) {
    failures.succeeded(claimUid);
  }

  /** An allocation that its pod did not live to use would stay for ever: kube-controller-manager clears only reserved ones. */
  private boolean isAbandoned(ObjectKey key, ResourceClaim claim, Inventory inventory) {
    return claim.getMetadata().getDeletionTimestamp() == null
        && AllocatedClaim.isUnusedAndOurs(claim)
        && AllocatedClaim.bookings(claim).stream().allMatch(booking -> isOurs(inventory.host(booking.card().node())))
        && view.podsOf(key).stream().noneMatch(PodClaims::isLive);
  }

  private static boolean isOurs(@Nullable GpuHost host) {
    return host != null && host.allocator() == GpuNodeSpec.Allocator.Controller;
  }
}
