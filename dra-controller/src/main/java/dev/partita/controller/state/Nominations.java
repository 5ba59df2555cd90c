package dev.partita.controller.state;

import dev.partita.controller.nodes.NodeLoads;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/**
 * Keeps the nominations of pods. What they keep counts as taken for pods of lower and of equal priority. For one
 * thread, but for {@link #standing}.
 */
final class Nominations {
  private final ClaimLedger ledger;
  private final NodeLoads loads;
  private final Map<String, Nomination> byPod = new ConcurrentHashMap<>();
  private final Set<String> suspended = ConcurrentHashMap.newKeySet();
  private boolean gaveUp;

  Nominations(ClaimLedger ledger, NodeLoads loads) {
    this.ledger = ledger;
    this.loads = loads;
  }

  Optional<Nomination> of(String podUid) {
    return Optional.ofNullable(byPod.get(podUid));
  }

  /** How it stands with the nomination. */
  @SuppressWarnings("ReferenceEquality") // what is kept anew for the pod may be equal
  Nomination.Standing standing(Nomination nomination) {
    String pod = nomination.pod().uid();
    return byPod.get(pod) != nomination
        ? Nomination.Standing.ENDED
        : suspended.contains(pod) ? Nomination.Standing.SUSPENDED : Nomination.Standing.KEPT;
  }

  /** UIDs of the claims that victims give back, or have given back. */
  Set<String> claims() {
    return byPod.values().stream().flatMap(nomination -> nomination.awaited().claims().stream())
        .collect(Collectors.toSet());
  }

  void put(Nomination nomination) {
    byPod.put(nomination.pod().uid(), nomination);
    keep(nomination);
  }

  void remove(String podUid) {
    Optional.ofNullable(byPod.remove(podUid)).filter(nomination -> !suspended.remove(podUid)).ifPresent(this::giveUp);
  }

  /** Ends the nominations of pods, such as those of one gang, that cannot get their place unless that pod goes. */
  void removeAwaiting(String victimUid) {
    List<String> pods = byPod.values().stream().filter(nomination -> nomination.awaited().pods().contains(victimUid))
        .map(nomination -> nomination.pod().uid()).toList();
    pods.forEach(this::remove);
  }

  /** Whether something that was kept is free for others since this was last asked. */
  boolean gaveUp() {
    boolean before = gaveUp;
    gaveUp = false;
    return before;
  }

  /** The pod gets its place now; nothing more is kept for it, unless that fails. */
  void suspend(String podUid) {
    of(podUid).filter(nomination -> suspended.add(podUid)).ifPresent(this::release);
  }

  /** The pod did not get it. */
  void resume(String podUid) {
    of(podUid).filter(nomination -> suspended.remove(podUid)).ifPresent(this::keep);
  }

  /** Whether something is kept for the pod, and counts. */
  boolean isKept(String podUid) {
    return byPod.containsKey(podUid) && !suspended.contains(podUid);
  }

  /**
   * Lets nothing count that is kept for the pod itself, and for pods of lower priority.
   *
   * @return what is to be {@linkplain #keep kept} again
   */
  Collection<Nomination> lift(String podUid, int priority) {
    List<Nomination> lifted = byPod.values().stream()
        .filter(nomination -> isKept(nomination.pod().uid()))
        .filter(nomination -> nomination.pod().uid().equals(podUid) || nomination.pod().priority() < priority)
        .toList();
    lifted.forEach(this::release);
    return lifted;
  }

  private void giveUp(Nomination nomination) {
    release(nomination);
    gaveUp = true;
  }

  void keep(Nomination nomination) {
    Nomination.Place place = nomination.place();
    ledger.keep(nomination.key(), nomination.pod().namespace(), place.bookings());
    loads.put(nomination.key(), place.node(), place.requests());
  }

  private void release(Nomination nomination) {
    ledger.unkeep(nomination.key());
    loads.remove(nomination.key());
  }
}
