package dev.partita.plugin.prepare;

import dev.partita.plugin.claim.Clash;
import dev.partita.plugin.claim.PreparedClaim;
import java.util.List;

/** Lends memory of cards that no claim has to shares that may grow, and asks for it back when a claim needs it. */
public interface Loans {
  /** What claims have of cards has changed, so that there may be more to lend. It must not block. */
  void changed();

  /**
   * Asks for what stands in a claim's way. It must not block; who was lent it has a grace to give it back.
   *
   * @param wanted the claim as it is to be
   */
  void recall(PreparedClaim wanted);

  /**
   * Asks no more for what stands in a claim's way, which is released; what it had may be lent. It must not block.
   *
   * @param uid of the claim
   */
  void released(String uid);

  /** Whether a claim could stand beside the others if those on its cards gave back what they were lent. */
  static boolean areAllThatClashes(PreparedClaim wanted, Clash clash, List<PreparedClaim> prepared) {
    return clash.others().stream().anyMatch(other -> !other.withoutLoans().equals(other))
        && Clash.between(wanted.withoutLoans().grants(), wanted.claim(),
            prepared.stream().map(PreparedClaim::withoutLoans).toList()).isEmpty();
  }
}
