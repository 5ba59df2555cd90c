package dev.partita.controller.schedule;

import dev.partita.api.node.GpuNodeSpec;
import dev.partita.controller.claim.AllocatedClaim;
import dev.partita.controller.claim.PodClaims;
import dev.partita.controller.commit.PodWriter;
import dev.partita.controller.inventory.GpuHost;
import dev.partita.controller.inventory.Inventory;
import dev.partita.controller.proposal.OthersProposals;
import dev.partita.controller.proposal.Proposal;
import dev.partita.controller.state.SchedulerState;
import dev.partita.controller.watch.Backoff;
import dev.partita.controller.watch.ClusterObjects;
import dev.partita.controller.watch.ObjectKey;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Takes back what is kept for nobody: allocations that no pod came to use, and proposals that nobody carries out. For
 * one thread.
 */
public final class AbandonedClaims {
  private final ClusterObjects view;
  private final SchedulerState state;
  private final OthersProposals others;
  private final Predicate<ResourceClaim> ours;
  private final PodWriter writer;
  private final Retries retries;
  // by the claim's UID
  private final Backoff<String> failures = new Backoff<>(Retries.FIRST_PAUSE, Retries.MOST_DOUBLINGS);

  /** @param ours whether a claim is for our devices: others' are not ours to change, whatever is proposed for them */
  public AbandonedClaims(
      ClusterObjects view,
      SchedulerState state,
      OthersProposals others,
      Predicate<ResourceClaim> ours,
      PodWriter writer,
      Retries retries) {
    this.view = view;
    this.state = state;
    this.others = others;
    this.ours = ours;
    this.writer = writer;
    this.retries = retries;
  }

  /** Looks at a claim after anything that concerns it has changed. */
  public void look(ObjectKey key) {
    @Nullable ResourceClaim claim = view.claim(key);
    if (claim == null) {
      return;
    }
    String uid = claim.getMetadata().getUid();
    if (state.claims().isAssumed(uid)) {
      others.ended(uid);
      return;
    }
    if (!AllocatedClaim.isProposed(claim)) {
      others.ended(uid);
    } else if (!ours.test(claim)) {
      return;
    }
    if (!AllocatedClaim.isAllocated(claim) && !Proposal.isOn(claim)) {
      failures.succeeded(claim.getMetadata().getUid());
    }
    if (AllocatedClaim.isProposed(claim) && state.claims().isSpent(claim)) {
      if (view.podsOf(key).stream().noneMatch(PodClaims::isLive)) {
        release(List.of(claim), "no pod uses it"); // else the decision about the pod proposes anew, or takes it back
      }
    } else if (AllocatedClaim.isProposed(claim)) {
      boolean isNew = others.stands(uid); // a change of the claim, or of the id, makes it no younger
      if (others.areAbandoned(key.namespace())) {
        release(List.of(claim), "what was proposed in its namespace before was not written");
      } else if (isNew) {
        retries.after(OthersProposals.AGE, new WorkItem.ProposalCheck(key, uid));
      }
    } else if (isAbandoned(key, claim)) {
      release(List.of(claim), "no pod uses it");
    }
  }

  /** Looks at what is allocated on nodes that have become the controller's, or have come back. */
  public void lookAtNodes(Inventory before) {
    state.inventory().hosts().forEach((name, host) -> {
      if (isOurs(host) && !isOurs(before.host(name))) {
        view.claimsOn(name).forEach(claim -> look(ObjectKey.of(claim)));
      }
    });
  }

  /** Withdraws what others have proposed for a claim, if that has stood for long. */
  public void withdraw(ObjectKey key, String claimUid) {
    @Nullable ResourceClaim claim = view.claim(key);
    if (claim != null
        && claim.getMetadata().getUid().equals(claimUid)
        && AllocatedClaim.isProposed(claim)
        && !state.claims().isAssumed(claimUid)
        && others.isOld(claimUid)) {
      others.abandoned(key.namespace());
      release(List.of(claim), "what was proposed for it was not written");
    }
  }

  /** These claims wait: nothing is proposed for them any more. */
  public void withdraw(List<ResourceClaim> claims) {
    release(claims.stream().filter(AllocatedClaim::isProposed).toList(), "it waits");
  }

  void release(List<ResourceClaim> claims, String why) {
    List<ResourceClaim> fresh =
        claims.stream().filter(claim -> state.claims().releasing(claim.getMetadata().getUid())).toList();
    if (!fresh.isEmpty()) {
      writer.release(fresh, why);
    }
  }

  /** It could not be taken back: whether it still is to be is decided after a pause, which grows. */
  public void notReleased(ObjectKey key, String claimUid) {
    state.claims().notReleased(claimUid);
    @Nullable ResourceClaim claim = view.claim(key);
    if (claim != null && claim.getMetadata().getUid().equals(claimUid)) {
      failures.failed(claimUid).ifPresent(pause -> retries.after(pause, new WorkItem.ReleaseRetry(key, claimUid)));
    }
  }

  /** That pause is over. */
  public void tried(String claimUid) {
    failures.tried(claimUid);
  }

  /** The claim is gone. */
  public void forget(String claimUid) {
    failures.succeeded(claimUid);
  }

  /**
   * An allocation that its pod did not live to use would stay for ever: kube-controller-manager clears only reserved
   * ones.
   */
  private boolean isAbandoned(ObjectKey key, ResourceClaim claim) {
    return claim.getMetadata().getDeletionTimestamp() == null
        && AllocatedClaim.isUnusedAndOurs(claim)
        && AllocatedClaim.bookings(claim).stream()
            .allMatch(booking -> isOurs(state.inventory().host(booking.card().node())))
        && view.podsOf(key).stream().noneMatch(PodClaims::isLive);
  }

  private static boolean isOurs(@Nullable GpuHost host) {
    return host != null && host.allocator() == GpuNodeSpec.Allocator.Controller;
  }
}
