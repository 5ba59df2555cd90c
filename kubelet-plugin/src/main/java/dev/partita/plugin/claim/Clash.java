package dev.partita.plugin.claim;

import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The last line of defence: the API server lets one card be allocated twice, so the node must not hand it out twice.
 *
 * @param reason why the claim cannot be prepared now
 * @param others the claims that have something of the card in question prepared; empty if the claim is at odds with
 *        itself
 */
public record Clash(String reason, List<PreparedClaim> others) {
  public Clash {
    others = List.copyOf(others);
  }

  /** Why these grants cannot stand beside what other claims have prepared; empty if they can. */
  public static Optional<Clash> between(List<Grant> wanted, ClaimRef claim, Collection<PreparedClaim> prepared) {
    List<Held> held =
        Stream.concat(
            prepared.stream()
                .filter(other -> !other.claim().uid().equals(claim.uid()))
                .flatMap(other -> other.grants().stream().map(grant -> new Held(other.claim(), grant))),
            wanted.stream().map(grant -> new Held(claim, grant)))
            .filter(Clash::isKeptFromOthers)
            .toList();
    for (Grant grant : wanted) {
      Held own = new Held(claim, grant);
      List<Held> others = held.stream().filter(other -> other.isOnCardOf(own) && !other.equals(own)).toList();
      Optional<String> clash = grant.use().clash(own, others);
      if (clash.isPresent()) {
        return Optional.of(new Clash(clash.get(), othersOn(own, prepared)));
      }
    }
    return Optional.empty();
  }

  private static boolean isKeptFromOthers(Held held) {
    return held.grant().use().held(held.grant().card()).isPresent();
  }

  private static List<PreparedClaim> othersOn(Held wanted, Collection<PreparedClaim> prepared) {
    return prepared.stream()
        .filter(other -> !other.claim().uid().equals(wanted.claim().uid()))
        .filter(other -> other.grants().stream().anyMatch(grant -> new Held(other.claim(), grant).isOnCardOf(wanted)))
        .toList();
  }
}
