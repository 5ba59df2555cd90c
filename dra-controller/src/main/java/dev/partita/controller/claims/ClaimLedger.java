package dev.partita.controller.claims;

import dev.partita.controller.allocate.Accounts;
import dev.partita.controller.allocate.Booking;
import dev.partita.controller.allocate.Books;
import dev.partita.controller.allocate.FreeCards;
import dev.partita.controller.inventory.Inventory;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.math.BigInteger;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What every claim takes: what the API server says, and on top of it what this instance has decided and the informers do not
 * show yet. For one thread.
 */
final class ClaimLedger {
  /** What became of a claim since it was last seen. */
  sealed interface Change {
    record None() implements Change {}

    /** It takes something now that it did not take before. */
    record Taken() implements Change {}

    /**
     * It gave back what it had.
     *
     * @param vetoed the node, if nobody had begun to use it: then kube-scheduler took the allocation back
     */
    record Freed(Optional<String> vetoed) implements Change {}
  }

  /**
   * A decision of ours.
   *
   * @param writtenVersion resourceVersion that its write gave; empty while that is under way
   * @param openVersion resourceVersion of the last state without an allocation that was seen while the write was under way
   */
  private record Assumed(Optional<String> writtenVersion, Optional<String> openVersion) {}

  private record Seen(boolean reserved) {}

  private final Books books = new Books();
  private final FreeCards freeCards = new FreeCards(books);
  private final Map<String, Assumed> assumed = new HashMap<>();
  private final Map<String, Seen> seen = new HashMap<>();
  private final Set<String> releasing = new HashSet<>();

  Accounts accounts() {
    return books;
  }

  /** What is free of the inventory's cards. */
  FreeCards freeCards(Inventory inventory) {
    freeCards.refresh(inventory);
    return freeCards;
  }

  /** Whether this instance has allocated the claim, and the API server does not show it yet. */
  boolean isAssumed(String claimUid) {
    return assumed.containsKey(claimUid);
  }

  void assume(String claimUid, List<Booking> bookings) {
    books.put(claimUid, bookings);
    assumed.put(claimUid, new Assumed(Optional.empty(), Optional.empty()));
  }

  /**
   * The assumed allocation was written; it counts until the informers show that version or a newer one. They may have shown a
   * newer one already, in which the allocation is gone again: nothing more would be heard of the claim.
   */
  Change written(String claimUid, String resourceVersion) {
    @Nullable Assumed ours = assumed.get(claimUid);
    if (ours == null) {
      return new Change.None();
    }
    if (ours.openVersion().filter(open -> isNewer(open, Optional.of(resourceVersion))).isPresent()) {
      return freed(claimUid);
    }
    assumed.put(claimUid, new Assumed(Optional.of(resourceVersion), Optional.empty()));
    return new Change.None();
  }

  /**
   * This instance takes the claim's allocation back: that it is gone is then no veto.
   *
   * @return false if that is under way already
   */
  boolean releasing(String claimUid) {
    return releasing.add(claimUid);
  }

  /** The allocation was not taken back after all. */
  void notReleased(String claimUid) {
    releasing.remove(claimUid);
  }

  /** The assumed allocation was not written. */
  void dropped(String claimUid) {
    if (assumed.remove(claimUid) != null) {
      books.remove(claimUid);
    }
  }

  /**
   * Takes note of what the API server says of a claim.
   *
   * @param claim null if it is gone, or another one has its name
   */
  Change observe(String claimUid, @Nullable ResourceClaim claim) {
    if (claim == null) {
      assumed.remove(claimUid);
      seen.remove(claimUid);
      releasing.remove(claimUid);
      return books.remove(claimUid) ? new Change.Freed(Optional.empty()) : new Change.None();
    }
    if (AllocatedClaim.isAllocated(claim)) {
      List<Booking> bookings = AllocatedClaim.bookings(claim);
      boolean known = books.bookings(claimUid).equals(bookings);
      assumed.remove(claimUid);
      seen.put(claimUid, new Seen(AllocatedClaim.isReserved(claim)));
      books.put(claimUid, bookings);
      return known ? new Change.None() : new Change.Taken();
    }
    @Nullable Assumed ours = assumed.get(claimUid);
    String version = claim.getMetadata().getResourceVersion();
    if (ours != null && !isNewer(version, ours.writtenVersion())) {
      assumed.put(claimUid, new Assumed(ours.writtenVersion(), Optional.of(version)));
      return new Change.None();
    }
    return freed(claimUid);
  }

  private Change freed(String claimUid) {
    List<Booking> before = books.bookings(claimUid);
    assumed.remove(claimUid);
    @Nullable Seen last = seen.remove(claimUid);
    boolean released = releasing.remove(claimUid);
    if (!books.remove(claimUid)) {
      return new Change.None();
    }
    boolean used = last != null && last.reserved();
    return new Change.Freed(used || released || before.isEmpty() ? Optional.empty() : Optional.of(before.getFirst().card().node()));
  }

  /** Whether an observed version is later than the one that was written; versions of one kind can be ordered. */
  private static boolean isNewer(String observed, Optional<String> written) {
    return written.isPresent() && new BigInteger(observed).compareTo(new BigInteger(written.get())) > 0;
  }
}
