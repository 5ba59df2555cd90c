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
            .filter(h -> !(h.grant().use() instanceof Grant.Whole whole && whole.adminAccess()))
            .toList();
    for (Grant grant : wanted) {
      Optional<String> clash =
          switch (grant.use()) {
            case Grant.Whole whole when whole.adminAccess() -> Optional.empty();
            case Grant.Whole ignored -> wholeClash(grant, claim, held);
            case Grant.Share ignored -> shareClash(grant, claim, held);
            case Grant.Mig mig -> migClash(grant, mig, claim, held);
          };
      if (clash.isPresent()) {
        return Optional.of(new Clash(clash.get(), othersOn(grant, claim, prepared)));
      }
    }
    return Optional.empty();
  }

  private static List<PreparedClaim> othersOn(Grant wanted, ClaimRef claim, Collection<PreparedClaim> prepared) {
    return prepared.stream()
        .filter(other -> !other.claim().uid().equals(claim.uid()))
        .filter(other -> other.grants().stream().anyMatch(grant -> sameCard(grant, wanted)))
        .toList();
  }

  private record Held(ClaimRef claim, Grant grant) {}

  private static Optional<String> wholeClash(Grant whole, ClaimRef claim, List<Held> held) {
    return held.stream()
        .filter(h -> sameCard(h.grant(), whole) && !h.equals(new Held(claim, whole)))
        .findFirst()
        .map(h -> at(whole) + " is wanted as a whole, but " + has(h, claim));
  }

  private static Optional<String> migClash(Grant grant, Grant.Mig wanted, ClaimRef claim, List<Held> held) {
    return held.stream()
        .filter(h -> sameCard(h.grant(), grant) && !h.equals(new Held(claim, grant)))
        .filter(h -> h.grant().mig().map(wanted::overlaps).orElse(true))
        .findFirst()
        .map(h -> at(grant) + " is to be cut for " + grant.device() + ", but " + has(h, claim));
  }

  private static Optional<String> shareClash(Grant share, ClaimRef claim, List<Held> held) {
    Optional<Held> instance =
        held.stream().filter(h -> sameCard(h.grant(), share) && h.grant().mig().isPresent()).findFirst();
    if (instance.isPresent()) {
      return Optional.of(at(share) + " is cut into MIG instances: " + has(instance.get(), claim));
    }
    Optional<Held> whole =
        held.stream().filter(h -> sameCard(h.grant(), share) && h.grant().use() instanceof Grant.Whole).findFirst();
    if (whole.isPresent()) {
      return Optional.of(at(share) + " is prepared as a whole for " + owner(whole.get(), claim));
    }
    Optional<Held> neighbour =
        held.stream()
            .filter(h -> sameCard(h.grant(), share) && !h.equals(new Held(claim, share)))
            .filter(h -> isExclusive(share) || isExclusive(h.grant()))
            .findFirst();
    if (neighbour.isPresent()) {
      return Optional.of(
          isExclusive(share)
              ? at(share) + " is wanted exclusively, but " + has(neighbour.get(), claim)
              : at(share) + " is prepared exclusively for " + owner(neighbour.get(), claim));
    }
    long total = 0;
    for (Held h : held) {
      if (sameCard(h.grant(), share)) {
        total += h.grant().share().map(Grant.Share::physicalBytes).orElse(0L);
      }
    }
    return total > share.card().memoryBytes()
        ? Optional.of(
            at(share) + " has " + share.card().memoryBytes() + " bytes, but with this claim its shares would hold "
                + total)
        : Optional.empty();
  }

  /**
   * Says who has something prepared. Kubelet puts errors into events of the pod, whose owner sees no other namespace: a
   * claim there is named by its UID alone.
   */
  private static String has(Held held, ClaimRef claim) {
    return owner(held, claim) + " has " + held.grant().device() + " prepared";
  }

  private static String owner(Held held, ClaimRef claim) {
    ClaimRef other = held.claim();
    return "claim " + (other.namespace().equals(claim.namespace()) ? other.toString() : other.uid());
  }

  private static boolean isExclusive(Grant grant) {
    return grant.share().filter(Grant.Share::exclusive).isPresent();
  }

  private static boolean sameCard(Grant a, Grant b) {
    return a.card().uuid().equals(b.card().uuid());
  }

  private static String at(Grant grant) {
    return "card " + grant.card().uuid() + " (gpu-" + grant.card().index() + ")";
  }
}
