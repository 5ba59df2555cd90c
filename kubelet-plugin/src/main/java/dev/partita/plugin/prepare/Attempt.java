package dev.partita.plugin.prepare;

import dev.partita.plugin.claim.PreparedClaim;

/** How an attempt to prepare a claim ended. */
sealed interface Attempt {
  /** @param claim as it is prepared now */
  record Prepared(PreparedClaim claim) implements Attempt {}

  /** @param reason for people */
  record Refused(String reason) implements Attempt {}

  /** Kubelet has had the claim released while its lost record was being rebuilt. */
  record Released() implements Attempt {}

  /** It may be tried again when what stands in the way is gone. */
  record Obstructed(Obstacle by) implements Attempt {}
}
