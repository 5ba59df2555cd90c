package dev.partita.plugin.prepare;

import dev.partita.plugin.allocation.AllocationDecoder;
import dev.partita.plugin.claim.PreparedClaim.Phase;
import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.claim.ThisNode;
import dev.partita.plugin.claimread.ClaimReading;
import dev.partita.plugin.container.ContainerView;
import dev.partita.plugin.grant.ClaimRef;
import dev.partita.plugin.grant.Grant;
import dev.partita.plugin.held.HeldClaims;
import dev.partita.plugin.inventory.Inventory;
import dev.partita.plugin.share.QuotaFile;
import dev.partita.plugin.step.Step;
import dev.partita.plugin.store.ClaimStore;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.grpc.Context;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Prepares one claim under its lock: it decides by what was read and by the claim's record, and has the steps carried
 * out. What stands in the way is not waited for here, since whoever has the claim released would wait for the lock.
 *
 * @param steps carries them out on the store
 * @param releaser releases what was prepared for an earlier allocation
 * @param held is told of claims that are there
 * @param loans is told when there may be more to lend, or less
 */
record Preparation(
    ThisNode here,
    ClaimStore store,
    LockedSteps steps,
    ClaimReleaser releaser,
    Obstacles obstacles,
    HeldClaims held,
    Loans loans) {
  private static final Logger LOG = LoggerFactory.getLogger(Preparation.class);

  /** How far a claim is prepared. */
  enum Goal {
    /** As far as is to be done before its pod is bound. */
    INSTANCES,
    /** As far as kubelet asks for, so that its containers can start. */
    ALL,
    /** The same of a claim that was prepared before, as its containers know, and has lost its record. */
    RECORD
  }

  /** Prepares the claim as far as that is to be done; what was begun is undone if a step fails, which is thrown. */
  Attempt attempt(ClaimReading claim, Goal goal) throws IOException {
    String uid = claim.ref().uid();
    Attempt attempt = store.lock().onClaim(uid, () -> decideAndExecute(claim, goal));
    if (attempt instanceof Attempt.Prepared) {
      held.markPresent(uid);
    }
    return attempt;
  }

  private Attempt decideAndExecute(ClaimReading read, Goal goal) throws IOException {
    ClaimRef ref = read.ref();
    ResourceClaim claim = read.claim();
    Inventory.Cards cards = read.cards();
    ContainerView view = read.view();
    if (Context.current().isCancelled()) {
      return new Attempt.Refused("kubelet did not wait for the answer; it asks again if it still wants the claim");
    }
    Optional<PreparedClaim> earlier = store.checkpoint().read(ref.uid());
    if (goal == Goal.RECORD && earlier.isEmpty() && !hasFiles(ref.uid())) {
      return new Attempt.Released();
    }
    if (earlier.isPresent() && isSameAllocation(earlier.get(), claim)) {
      if (earlier.get().phase() == Phase.COMPLETED) {
        if (goal == Goal.INSTANCES) {
          return new Attempt.Prepared(earlier.get());
        }
        PreparedClaim again = renewed(earlier.get(), read);
        Optional<String> lost = new PresentCards(cards).lost(again.grants());
        if (lost.isPresent()) {
          return new Attempt.Refused(lost.get());
        }
        if (!earlier.get().bootId().equals(here.bootId())) {
          // a region that outlived its kernel has pids and times that mean nothing now
          steps.execute(List.of(new Step.RemoveShares(ref.uid())));
        }
        store.pods().see(claim);
        steps.onCards(again.grants(), Step.files(again));
        return complete(again);
      }
    } else if (earlier.isPresent()) {
      LOG.info("claim {}: its allocation has changed since it was prepared; releasing the earlier one", ref);
      releaser.releaseNow(ref.uid(), earlier);
    }
    if (read.allocation() instanceof AllocationDecoder.Refused refused) {
      return new Attempt.Refused(refused.reason());
    }
    AllocationDecoder.Granted granted = (AllocationDecoder.Granted) read.allocation();
    List<Grant> grants = granted.grants();
    if (grants.isEmpty()) {
      return new Attempt.Refused("claim " + ref + " has no device of pool " + here.pool() + " allocated");
    }
    Optional<String> lost = new PresentCards(cards).lost(grants);
    if (lost.isPresent()) {
      return new Attempt.Refused(lost.get());
    }
    PreparedClaim wanted = new PreparedClaim(
        ref, Phase.COMPLETED, here.bootId(), grants, view.env(), view.mixed(), Optional.of(granted.names()));
    try {
      store.pods().see(claim); // before the first step: one of them limits the pods
      PreparedClaim lent = withWrittenLoans(wanted);
      Attempt attempt = prepareAs(lent, cards, goal);
      return attempt instanceof Attempt.Obstructed && !lent.equals(wanted) ? prepareAs(wanted, cards, goal) : attempt;
    } catch (IOException | RuntimeException e) {
      rollBack(wanted, goal == Goal.RECORD ? Step.forget(ref.uid()) : Step.undo(ref.uid()), e);
      throw e;
    }
  }

  private Attempt prepareAs(PreparedClaim wanted, Inventory.Cards cards, Goal goal) throws IOException {
    Optional<Obstacle> obstacle =
        store.lock().onCards(LockedSteps.cardsOf(wanted.grants()), () -> beginUnlessObstructed(wanted, cards, goal));
    if (obstacle.isPresent()) {
      return new Attempt.Obstructed(obstacle.get());
    }
    // without the cards: from its first record on the others count with it, so nobody waits for this one's disk
    return goal == Goal.INSTANCES ? new Attempt.Prepared(wanted.in(Phase.STARTED)) : complete(wanted);
  }

  /**
   * The claim with what its containers have been lent, by the quota files that are left of one whose record is lost: it
   * comes back as every loan does, and is not cut off.
   */
  private PreparedClaim withWrittenLoans(PreparedClaim wanted) throws IOException {
    Map<String, QuotaFile.Limits> written = store.folders().limits(wanted.claim().uid());
    return wanted.with(wanted.grants().stream().map(grant -> {
      QuotaFile.@Nullable Limits limits = written.get(grant.shareKey());
      return limits == null
          ? grant
          : grant.growing().map(share -> grant
              .lent(Math.clamp(limits.memoryBytes() - share.guaranteedBytes(), 0, share.lendableBytes())))
              .orElse(grant);
    }).toList());
  }

  private boolean hasFiles(String uid) throws IOException {
    return store.cdi().ids().contains(uid) || store.folders().uids().contains(uid)
        || store.checkpoint().notes().of(uid).isPresent();
  }

  /**
   * Completes a preparation. The claim is not read once more: one that was deleted meanwhile is no other case than one
   * that is deleted a moment later. Kubelet releases it with its pod, and the search for leftovers does where kubelet
   * has forgotten it.
   */
  private Attempt.Prepared complete(PreparedClaim wanted) throws IOException {
    steps.execute(Step.complete(wanted));
    loans.changed();
    return new Attempt.Prepared(wanted);
  }

  /** Begins; gives what stands in the way instead, if something does. */
  private Optional<Obstacle> beginUnlessObstructed(PreparedClaim wanted, Inventory.Cards cards, Goal goal)
      throws IOException {
    Optional<Obstacle> obstacle = obstacles.find(wanted, cards);
    if (obstacle.isEmpty()) {
      steps.execute(switch (goal) {
        case INSTANCES -> Step.beginInstances(wanted);
        case ALL -> Step.begin(wanted);
        case RECORD -> Step.beginAgain(wanted);
      });
    }
    return obstacle;
  }

  /** An earlier preparation as it would be now. */
  private PreparedClaim renewed(PreparedClaim earlier, ClaimReading now) {
    PreparedClaim present = new PresentCards(now.cards()).onPresentNodes(earlier);
    return now.allocation() instanceof AllocationDecoder.Granted granted
        ? new PreparedClaim(
            earlier.claim(), Phase.COMPLETED, here.bootId(), present.grants(), now.view().env(), now.view().mixed(),
            Optional.of(granted.names()))
        : present.in(Phase.COMPLETED).under(here.bootId());
  }

  private boolean isSameAllocation(PreparedClaim earlier, ResourceClaim claim) {
    return AllocationDecoder.givesExactly(claim, here.pool(), earlier.grants());
  }

  private void rollBack(PreparedClaim wanted, List<Step> takeBack, Exception cause) {
    try {
      steps.onCards(wanted.grants(), takeBack);
      store.pods().forget(wanted.claim().uid());
    } catch (IOException | RuntimeException e) {
      cause.addSuppressed(e);
      LOG.warn("claim {}: cannot undo a failed preparation yet: {}", wanted.claim(), e.toString());
    }
  }
}
