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
 * @param grounds why they may be made to
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
    Grounds grounds,
    Set<String> claims,
    Instant until) {
  Nomination {
    bookings = List.copyOf(bookings);
    victims = List.copyOf(victims);
    claims = Set.copyOf(claims);
  }

  /** Why pods may be evicted for another one. */
  sealed interface Grounds {
    /** It has a higher priority than any of them. */
    record Priority() implements Grounds {}

    /** Those that have its priority borrow what a quota guarantees to its namespace. */
    record Guarantee(String namespace) implements Grounds {}
  }

  /** Why that victim is evicted, as a clause about the pod for which it is. */
  String why(Victim victim) {
    return switch (grounds) {
      case Grounds.Guarantee(String namespace) when victim.priority() >= priority ->
          "to whose namespace " + namespace + " a quota guarantees what this pod borrows";
      case Grounds.Guarantee _, Grounds.Priority _ -> "whose priority is " + priority + " (this pod's: " + victim.priority() + ")";
    };
  }

  /** Under which it is in the books: no claim's UID. */
  String key() {
    return "nominated:" + podUid;
  }
}
