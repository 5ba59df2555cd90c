package dev.partita.plugin.prepare;

import dev.partita.plugin.claim.Clash;
import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.claim.ThisNode;
import dev.partita.plugin.grant.Grant;
import dev.partita.plugin.grant.Share;
import dev.partita.plugin.inventory.Inventory;
import dev.partita.plugin.inventory.NodeInventory;
import dev.partita.plugin.share.QuotaFile;
import dev.partita.plugin.step.Step;
import dev.partita.plugin.store.ClaimStore;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Writes the files of prepared claims anew while their containers may run: for other sizes, another driver, another
 * time slice. Each call names the record that it was decided by, and does nothing if that is not the claim's any more.
 */
public final class ClaimRewriter {
  private final ThisNode here;
  private final NodeInventory inventory;
  private final ClaimStore store;
  private final LockedSteps steps;
  private final Loans loans;

  ClaimRewriter(
      ThisNode here,
      NodeInventory inventory,
      ClaimStore store,
      LockedSteps steps,
      Loans loans) {
    this.here = here;
    this.inventory = inventory;
    this.store = store;
    this.steps = steps;
    this.loans = loans;
  }

  /**
   * Writes the files of a prepared claim anew, on the cards and with the driver as they are now, if its record is still
   * the given one. A claim of an earlier boot that has lost its spec is prepared anew for this one: what is left of its
   * usage regions tells of processes that ended with that boot, and nobody can have begun to use them since, for a
   * container needs the spec. A claim whose card is gone, and whose device node is another card's by now, loses its
   * spec.
   *
   * @param record as it was read before, completed
   * @return why that cannot be done; empty if it was, or if the claim was released meanwhile
   */
  public Optional<String> renew(PreparedClaim record) throws IOException {
    if (!(inventory.current() instanceof Inventory.Cards cards)) {
      return Optional.of("no driver answers");
    }
    return store.lock().onClaim(
        record.claim().uid(),
        () -> {
          if (!store.checkpoint().read(record.claim().uid()).equals(Optional.of(record))) {
            return Optional.empty();
          }
          boolean sinceBoot =
              !record.bootId().equals(here.bootId()) && !store.cdi().ids().contains(record.claim().uid());
          PresentCards present = new PresentCards(cards);
          PreparedClaim there = present.onPresentNodes(record);
          PreparedClaim again = sinceBoot ? there.under(here.bootId()) : there;
          Optional<String> lost = present.lost(again.grants());
          if (lost.isEmpty()) {
            if (sinceBoot) {
              steps.execute(List.of(new Step.RemoveShares(record.claim().uid())));
            }
            steps.onCards(again.grants(), Step.files(again));
            steps.execute(Step.complete(again));
          } else if (present.areOnAnothersNode(record.grants())) {
            steps.execute(List.of(new Step.RemoveSpec(record.claim().uid()))); // no container begins before its card is back
          }
          return lost;
        });
  }

  /**
   * Has the driver give the card its time slice that a prepared claim has in turn, if its record is the given one.
   *
   * @return whether it is
   */
  public boolean setTimeSlice(PreparedClaim record, Grant grant) throws IOException {
    return store.lock().onClaim(record.claim().uid(), () -> {
      if (!store.checkpoint().read(record.claim().uid()).equals(Optional.of(record))) {
        return false;
      }
      steps.onCards(List.of(grant), List.of(new Step.SetTimeSlice(grant)));
      return true;
    });
  }

  /**
   * Has containers held to other sizes of a prepared claim's shares, if its record is still the given one. The record
   * stays as it is: what is prepared beside the claim counts with that.
   *
   * @param record as it was read before, completed
   * @param sizes the same claim with these sizes
   * @return why that cannot be done now; empty if it was, or if the claim was released meanwhile
   */
  public Optional<String> writeSizes(PreparedClaim record, PreparedClaim sizes) throws IOException {
    return rewrite(record, sizes, Step.sizes(sizes));
  }

  /**
   * The same, and the claim's record says so from then on: before the containers may have more, and after they are held
   * to less, so that what others are prepared beside is never less than that.
   */
  public Optional<String> resize(PreparedClaim record, PreparedClaim sizes) throws IOException {
    List<Step> files = Step.sizes(sizes);
    List<Step> complete = Step.complete(sizes);
    return rewrite(record, sizes, isNowhereSmaller(record, sizes)
        ? Stream.concat(complete.stream(), files.stream()).toList()
        : Stream.concat(files.stream(), complete.stream()).toList());
  }

  private static boolean isNowhereSmaller(PreparedClaim record, PreparedClaim sizes) {
    Map<String, Share> before = new HashMap<>();
    record.grants().forEach(grant -> grant.share().ifPresent(share -> before.put(grant.shareKey(), share)));
    return sizes.grants().stream().allMatch(grant -> {
      @Nullable Share was = before.get(grant.shareKey());
      return was == null || grant.share().filter(share -> share.memoryBytes() >= was.memoryBytes()
          && share.physicalBytes() >= was.physicalBytes() && share.cores() >= was.cores()).isPresent();
    });
  }

  /** Whether the containers of a prepared claim are held to less memory than its record says. */
  public boolean isHeldToLess(PreparedClaim record) throws IOException {
    Map<String, QuotaFile.Limits> limits = store.folders().limits(record.claim().uid());
    return record.grants().stream().anyMatch(grant -> {
      QuotaFile.@Nullable Limits written = limits.get(grant.shareKey());
      return written != null && grant.share().filter(share -> written.memoryBytes() < share.memoryBytes()).isPresent();
    });
  }

  /**
   * Whether the containers of a prepared claim are held to other sizes than its record says: to smaller ones that are
   * not in force yet, or to larger ones where the record could not be written after the files.
   */
  public boolean isHeldOtherwise(PreparedClaim record) throws IOException {
    Map<String, QuotaFile.Limits> limits = store.folders().limits(record.claim().uid());
    return record.grants().stream().anyMatch(grant -> {
      QuotaFile.@Nullable Limits written = limits.get(grant.shareKey());
      return written != null && grant.share()
          .filter(share -> written.memoryBytes() != share.memoryBytes()
              || written.physicalBytes() != share.physicalBytes() || written.cores() != share.cores())
          .isPresent();
    });
  }

  private Optional<String> rewrite(PreparedClaim record, PreparedClaim wanted, List<Step> rewriting)
      throws IOException {
    return store.lock().onClaim(
        record.claim().uid(),
        () -> {
          Optional<PreparedClaim> now = store.checkpoint().read(record.claim().uid());
          if (now.isPresent() && !now.get().equals(record)) {
            return Optional.of("it was prepared anew meanwhile");
          }
          return now.isPresent()
              ? store.lock().onCards(LockedSteps.cardsOf(wanted.grants()),
                  () -> rewriteUnlessItClashes(wanted, rewriting))
              : Optional.empty();
        });
  }

  private Optional<String> rewriteUnlessItClashes(PreparedClaim wanted, List<Step> rewriting) throws IOException {
    List<PreparedClaim> prepared = store.checkpoint().readAll();
    Optional<Clash> clash = Clash.between(wanted.grants(), wanted.claim(), prepared);
    if (clash.isEmpty()) {
      steps.execute(rewriting);
    } else if (Loans.areAllThatClashes(wanted, clash.get(), prepared)) {
      loans.recall(wanted);
    }
    return clash.map(Clash::reason);
  }
}
