package dev.partita.plugin.prepare;

import dev.partita.plugin.claim.Clash;
import dev.partita.plugin.claim.PreparedClaim;
import java.util.List;

/**
 * What stands in the way of a claim that is to be prepared, and may be gone soon: for example a claim for the same card
 * whose pod was deleted by force, and which kubelet has not released yet.
 */
sealed interface Obstacle {
  /** Why the claim cannot stand beside the others now. */
  Clash clash();

  /** Why the claim is refused if this does not go in time. */
  default String refusal() {
    return clash().reason();
  }

  /**
   * Others have what the claim is to have.
   *
   * @param recorded those of them that have a record
   */
  record Taken(Clash clash, List<PreparedClaim> recorded) implements Obstacle {}

  /**
   * Others have been lent what the claim is to have.
   *
   * @param wanted the claim as it is to be
   * @param others what it has to stand beside that has no record
   */
  record Lent(Clash clash, PreparedClaim wanted, List<PreparedClaim> others) implements Obstacle {
    @Override
    public String refusal() {
      return clash.reason() + ", of which they were lent what no claim had; they were told to give it back";
    }
  }
}
