package dev.partita.controller.state;

import dev.partita.controller.booking.Booking;
import dev.partita.controller.nodes.PodRequests;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * What is kept for a pod while others are evicted for it.
 *
 * @param pod for which it is
 * @param place what it is to get
 * @param victims pods that are evicted to make room for it
 * @param grounds why they may be made to
 * @param awaited what has to go before it gets its place
 */
public record Nomination(Preemptor pod, Place place, List<Victim> victims, Grounds grounds, Awaited awaited) {
  private static final int MOST_NAMED = 3;

  /** Whether a place is kept for the pod still. */
  public enum Standing {
    /** The place is kept. */
    KEPT,
    /** The pod is getting another place; if that fails, this one is kept again. */
    SUSPENDED,
    /** The pod has its place or is gone, or something else is kept for it. */
    ENDED
  }

  public Nomination {
    victims = List.copyOf(victims);
  }

  /** The same, for a place of which those who are in the way go anyhow. */
  public Nomination evictingNobody() {
    return new Nomination(pod, place, List.of(), grounds, awaited);
  }

  /** The same as one of a gang, for all of which others have to go. */
  public Nomination within(Awaited ofGang) {
    return new Nomination(pod, place, victims, grounds, ofGang);
  }

  /** A pod for which others are evicted. */
  public record Preemptor(String uid, String namespace, int priority) {}

  /**
   * A place on a node.
   *
   * @param bookings what each of the pod's claims is to get there
   * @param requests CPU and memory that the pod is to get there
   */
  public record Place(String node, List<List<Booking>> bookings, PodRequests requests) {
    public Place {
      bookings = List.copyOf(bookings);
    }
  }

  /**
   * What has to go before a pod gets its place: its victims, and those of the others of its gang.
   *
   * @param pods UIDs of these pods
   * @param claims UIDs of the claims that they give back
   * @param until when the nomination ends though they are still there
   */
  public record Awaited(Set<String> pods, Set<String> claims, Instant until) {
    public Awaited {
      pods = Set.copyOf(pods);
      claims = Set.copyOf(claims);
    }
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
    boolean neighbour = victim.namespace().equals(pod.namespace());
    String whose = neighbour ? " " + pod.namespace() : "";
    String why =
        switch (grounds) {
          case Grounds.Guarantee _ when victim.priority() >= pod.priority() ->
              "to whose namespace" + whose + " a quota guarantees what this pod borrows";
          case Grounds.Guarantee _,Grounds.Priority _ ->
              neighbour
                  ? "whose priority is " + pod.priority() + " (this pod's: " + victim.priority() + ")"
                  : "which has a higher priority";
        };
    return "evicted to make room on " + place.node() + " for pod " + (neighbour ? preemptor : pod.uid()) + ", " + why;
  }

  /** Who makes room, for the pod's owner, who sees no other namespace; empty if nobody has to. */
  public Optional<String> words() {
    String names = victims.stream().limit(MOST_NAMED).map(this::named).collect(Collectors.joining(", "));
    int more = victims.size() - MOST_NAMED;
    if (more > 0) {
      names += " and " + more + " more " + (more == 1 ? "pod" : "pods");
    }
    return victims.isEmpty() ? Optional.empty() : Optional.of("preempts " + names + " on " + place.node());
  }

  private String named(Victim victim) {
    return victim.namespace().equals(pod.namespace()) ? victim.toString() : "pod " + victim.uid();
  }

  /** Under which it is in the books: no claim's UID. */
  String key() {
    return "nominated:" + pod.uid();
  }
}
