package dev.partita.controller.claims;

import dev.partita.controller.allocate.Booking;
import dev.partita.controller.nodes.PodRequests;
import dev.partita.controller.preempt.Victim;
import java.time.Instant;
import java.util.List;
import java.util.Set;

/**
 * What is kept for a pod for which others are evicted.
 *
 * @param podUid the pod's
 * @param priority the pod's
 * @param node where it is to get its place
 * @param bookings what it is to get there
 * @param requests CPU and memory that it is to get there
 * @param victims pods that make room
 * @param claims UIDs of the claims that they give back
 * @param until when it ends though the victims are still there
 */
record Nomination(
    String podUid,
    int priority,
    String node,
    List<Booking> bookings,
    PodRequests requests,
    List<Victim> victims,
    Set<String> claims,
    Instant until) {
  Nomination {
    bookings = List.copyOf(bookings);
    victims = List.copyOf(victims);
    claims = Set.copyOf(claims);
  }

  /** Under which it is in the books: no claim's UID. */
  String key() {
    return "nominated:" + podUid;
  }
}
