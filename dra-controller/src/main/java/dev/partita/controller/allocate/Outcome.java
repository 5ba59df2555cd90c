package dev.partita.controller.allocate;

import dev.partita.controller.booking.Booking;
import dev.partita.controller.place.ClaimPlacement;
import dev.partita.controller.reasons.Explanation;
import java.util.List;

/** What the allocator has decided about all the claims of a pod. */
public sealed interface Outcome {
  /** Every claim has its devices, all of them on one node. */
  record Allocated(String node, List<ClaimPlacement> claims) implements Outcome {
    public Allocated {
      claims = List.copyOf(claims);
    }

    /** What each of the claims takes, in their order. */
    public List<List<Booking>> bookings() {
      return claims.stream().map(ClaimPlacement::bookings).toList();
    }
  }

  /** No node can meet all of them. */
  record Unallocatable(Explanation explanation) implements Outcome {}
}
