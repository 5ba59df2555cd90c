package dev.partita.plugin.prepare;

import dev.partita.plugin.claim.PreparedClaim;

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
}
