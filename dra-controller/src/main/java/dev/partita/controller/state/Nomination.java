package dev.partita.controller.state;

import dev.partita.controller.booking.Booking;
import dev.partita.controller.nodes.PodRequests;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * What is kept for a pod for which others are evicted.
 *
 * @param podUid the pod's
 * @param namespace the pod's
 * @param priority the pod's
 * @param node where it is to get its place
 * @param bookings what each of its claims is to get there
 * @param requests CPU and memory that it is to get there
 * @param victims pods that make room for it
 * @param awaited UIDs of all pods that have to go before it gets its place: its victims, and those of the others of its
 *        gang
 * @param grounds why they may be made to
 * @param claims UIDs of the claims that these give back
 * @param until when it ends though the victims are still there
 */
public record Nomination(
    String podUid,
    String namespace,
    int priority,
    String node,
    List<List<Booking>> bookings,
    PodRequests requests,
    List<Victim> victims,
    Set<String> awaited,
    Grounds grounds,
    Set<String> claims,
    Instant until) {
  public Nomination {
    bookings = List.copyOf(bookings);
    victims = List.copyOf(victims);
    awaited = Set.copyOf(awaited);
    claims = Set.copyOf(claims);
  }

  /** The same as one of a gang, for all of which others have to go. */
  public Nomination within(Set<String> allAwaited, Set<String> allClaims, Instant end) {
    return new Nomination(podUid, namespace, priority, node, bookings, requests, victims, allAwaited, grounds,
        allClaims, end);
  }

  /** Why pods may be evicted for another one. */
  public sealed interface Grounds {
    /** It has a higher priority than any of them. */
    record Priority() implements Grounds {}

    /** Those that have its priority borrow what a quota guarantees to its namespace. */
    record Guarantee(String namespace) implements Grounds {}
  }

  /** What a victim is told. Of a pod of another namespace it hears the UID alone, as kube-scheduler tells it. */
  public String toVictim(Victim victim, String preemptor) {
    boolean neighbour = victim.namespace().equals(namespace);
    String whose = neighbour ? " " + namespace : "";
    String why =
        switch (grounds) {
          case Grounds.Guarantee _ when victim.priority() >= priority ->
              "to whose namespace" + whose + " a quota guarantees what this pod borrows";
          case Grounds.Guarantee _,Grounds.Priority _ ->
              neighbour
                  ? "whose priority is " + priority + " (this pod's: " + victim.priority() + ")"
                  : "which has a higher priority";
        };
    return "evicted to make room on " + node + " for pod " + (neighbour ? preemptor : podUid) + ", " + why;
  }

  /** Who makes room, for the pod's owner, who sees no other namespace; empty if nobody has to. */
  public Optional<String> words() {
    String names = victims.stream().map(this::named).collect(Collectors.joining(", "));
    return victims.isEmpty() ? Optional.empty() : Optional.of("preempts " + names + " on " + node);
  }

  private String named(Victim victim) {
    return victim.namespace().equals(namespace) ? victim.toString() : "pod " + victim.uid();
  }

  /** Under which it is in the books: no claim's UID. */
  String key() {
    return "nominated:" + podUid;
  }
}
