package dev.partita.plugin.prepare;

import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.claimstatus.ClaimReports;
import dev.partita.plugin.grant.ClaimRef;
import dev.partita.plugin.grant.Grant;
import dev.partita.plugin.held.HeldClaims;
import dev.partita.plugin.inventory.Inventory;
import dev.partita.plugin.inventory.NodeInventory;
import dev.partita.plugin.step.Step;
import dev.partita.plugin.store.ClaimStore;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Releases claims: it removes what the node has of one. It needs no more than the claim's UID, and may be repeated.
 */
public final class ClaimReleaser {
  private static final Logger LOG = LoggerFactory.getLogger(ClaimReleaser.class);

  private final NodeInventory inventory;
  private final ClaimStore store;
  private final LockedSteps steps;
  private final ClaimReports reports;
  private final HeldClaims held;
  private final Loans loans;

  ClaimReleaser(
      NodeInventory inventory,
      ClaimStore store,
      LockedSteps steps,
      ClaimReports reports,
      HeldClaims held,
      Loans loans) {
    this.inventory = inventory;
    this.store = store;
    this.steps = steps;
    this.reports = reports;
    this.held = held;
    this.loans = loans;
  }

  /** Releases a claim as kubelet asks for it; what went wrong, empty if nothing. */
  public Optional<String> unprepare(ClaimRef claim) {
    try {
      boolean known = release(claim.uid());
      LOG.info("claim {}: {}", claim, known ? "released" : "was not prepared, nothing to release");
      if (known) {
        reports.released(claim);
      }
      if (held.isGone(claim.uid())) {
        inventory.readSoon(); // and reports that it is not held any more
      }
      return Optional.empty();
    } catch (IOException | RuntimeException e) {
      LOG.error("claim {}: cannot release it: {}", claim, e.toString());
      LOG.debug("the release of claim {} has failed", claim, e);
      return Optional.of("cannot release claim " + claim + ": " + e);
    }
  }

  /** Removes a claim's state from the node; whether there was a record of it. */
  private boolean release(String uid) throws IOException {
    return store.lock().onClaim(
        uid,
        () -> {
          Optional<PreparedClaim> record = store.checkpoint().read(uid);
          releaseNow(uid, record);
          return record.isPresent();
        });
  }

  /**
   * Removes a claim's state from the node if its record is still the given one; whether it was.
   *
   * @param record as it was read before; empty if there was none
   */
  public boolean releaseIfStill(String uid, Optional<PreparedClaim> record) throws IOException {
    return store.lock().onClaim(
        uid,
        () -> {
          boolean still = store.checkpoint().read(uid).equals(record);
          if (still) {
            releaseNow(uid, record);
          }
          return still;
        });
  }

  /**
   * Removes a claim's state from the node. The caller holds the claim's lock.
   *
   * @param record the claim's; empty if there is none
   */
  void releaseNow(String uid, Optional<PreparedClaim> record) throws IOException {
    List<Grant> grants = record.isPresent() ? record.get().grants() : grantsBySpec(uid);
    if (grants.stream().anyMatch(grant -> grant.use().timeSlicing().isPresent() || grant.use().mps().isPresent())) {
      store.lock().onCards(LockedSteps.cardsOf(grants), () -> {
        steps.execute(Step.releaseFiles(uid));
        forget(uid); // whoever sets the card's time slice or MPS daemon next must not count the claim any more
        return true;
      });
    } else {
      steps.onCards(grants, Step.releaseFiles(uid));
      forget(uid);
    }
    loans.released(uid);
  }

  private void forget(String uid) throws IOException {
    store.pods().forget(uid); // before the record: as long as that is there, this is done again
    steps.execute(Step.forget(uid));
  }

  /** What a claim without a record has by its files; nothing without a spec and a note. */
  private List<Grant> grantsBySpec(String uid) throws IOException {
    return inventory.current() instanceof Inventory.Cards cards
        && (store.cdi().ids().contains(uid) || store.checkpoint().notes().of(uid).isPresent())
            ? held.grantsWithoutRecord(uid, cards)
            : List.of();
  }
}
