package dev.partita.plugin.prepare;

import dev.partita.plugin.claim.PreparedClaim;

/** How an attempt to prepare a claim ended. */
sealed interface Attempt {
  /**
   * The claim is prepared as far as was asked for.
   *
   * @param claim as it is prepared now
   */
  record Prepared(PreparedClaim claim) implements Attempt {}

  /**
   * The claim cannot be prepared as it is now, and waiting for other claims would not help.
   *
   * @param reason for people
   */
  record Refused(String reason) implements Attempt {}

  /** Kubelet has had the claim released while its lost record was being rebuilt. */
  record Released() implements Attempt {}

  /** Something stands in the claim's way: it may be tried again when that is gone. */
  record Obstructed(Obstacle by) implements Attempt {}
}
