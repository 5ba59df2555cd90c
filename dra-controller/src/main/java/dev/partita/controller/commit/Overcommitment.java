package dev.partita.controller.commit;

import dev.partita.controller.booking.Books;
import dev.partita.controller.claim.AllocatedClaim;
import dev.partita.controller.held.HeldBookings;
import dev.partita.controller.inventory.Card;
import dev.partita.controller.match.Taking;
import dev.partita.controller.place.ClaimPlacement;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * Says whether a proposal may become an allocation. It looks after the proposal is in the API, at a state of all claims
 * that is not older than the proposal. If several claims together are too much for a card, the one that was proposed
 * last sees all the others.
 */
final class Overcommitment {
  private Overcommitment() {}

  /**
   * A card of the placements of which more would be taken than there is.
   *
   * @param claims all that have something of the node, or for which something there is proposed, these placements
   *        included
   * @param held what the node holds for claims that are gone
   * @param spent whether what is proposed for a claim is known to be past: it had become an allocation, which is gone
   */
  static Optional<Card> find(
      List<ClaimPlacement> placements,
      Collection<ResourceClaim> claims,
      Collection<HeldBookings> held,
      Predicate<ResourceClaim> spent) {
    Books books = new Books();
    for (ResourceClaim claim : claims) {
      if (AllocatedClaim.isAllocated(claim) || !spent.test(claim)) {
        books.put(claim.getMetadata().getUid(), AllocatedClaim.taken(claim));
      }
    }
    held.stream()
        .filter(of -> of.counts(books.bookings(of.claimUid())))
        .forEach(of -> books.put(of.key(), of.bookings()));
    return placements.stream()
        .flatMap(placement -> placement.devices().stream())
        .filter(device -> device.given().takes() != Taking.NOTHING)
        .map(device -> device.device().card())
        .filter(card -> books.of(card.key()).exceeds(card))
        .findFirst();
  }
}
