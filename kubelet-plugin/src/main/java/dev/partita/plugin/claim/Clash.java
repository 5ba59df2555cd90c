package dev.partita.plugin.claim;

import dev.partita.plugin.grant.ClaimRef;
import dev.partita.plugin.grant.Grant;
import dev.partita.plugin.grant.PreparedDevice;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Why a claim cannot be prepared beside what other claims have prepared. This is the last line of defence: the API
 * server lets one card be allocated twice, so the node must not hand it out twice.
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
    List<PreparedDevice> held =
        Stream.concat(
            prepared.stream()
                .filter(other -> !other.claim().uid().equals(claim.uid()))
                .flatMap(other -> other.grants().stream().map(grant -> new PreparedDevice(other.claim(), grant))),
            wanted.stream().map(grant -> new PreparedDevice(claim, grant)))
            .filter(Clash::isKeptFromOthers)
            .toList();
    for (Grant grant : wanted) {
      PreparedDevice own = new PreparedDevice(claim, grant);
      List<PreparedDevice> others = held.stream().filter(other -> other.isOnCardOf(own) && !other.equals(own)).toList();
      Optional<String> clash = grant.use().clash(own, others);
      if (clash.isPresent()) {
        return Optional.of(new Clash(clash.get(), othersOn(own, prepared)));
      }
    }
    return Optional.empty();
  }

  private static boolean isKeptFromOthers(PreparedDevice held) {
    return held.grant().use().held(held.grant().card()).isPresent();
  }

  private static List<PreparedClaim> othersOn(PreparedDevice wanted, Collection<PreparedClaim> prepared) {
    return prepared.stream()
        .filter(other -> !other.claim().uid().equals(wanted.claim().uid()))
        .filter(other -> other.grants().stream()
            .anyMatch(grant -> new PreparedDevice(other.claim(), grant).isOnCardOf(wanted)))
        .toList();
  }
}
