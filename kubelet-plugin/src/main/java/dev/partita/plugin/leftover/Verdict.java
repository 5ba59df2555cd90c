package dev.partita.plugin.leftover;

import dev.partita.plugin.claim.PreparedClaim.Phase;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;

/** What is to become of a claim's state on the node that kubelet has not asked to be removed. */
enum Verdict {
  /** A claim needs it. */
  KEEP,
  /** No claim needs it, but a container might still run. */
  WAIT,
  /** Nothing needs it. */
  REMOVE,
  /** A claim needs it, and its record is missing. */
  REBUILD;

  /** A look at the node's processes. */
  interface Use {
    boolean isThere() throws IOException;
  }

  /**
   * Decides. If a claim is gone its containers need not be: a pod can be deleted by force. Then kubelet still asks for
   * the removal, unless it has forgotten the pod, and the grace is for that case.
   *
   * @param recorded how far the record says that the claim is; empty if there is no record
   * @param needed whether the claim is there, and allocated to this node
   * @param sameBoot whether the record is of the running kernel
   * @param goneFor how long the claim is known not to need it
   * @param grace how long to wait
   * @param use whether a process uses, or may use, what it has; asked only if all depends on it
   */
  static Verdict of(
      Optional<Phase> recorded,
      boolean needed,
      boolean sameBoot,
      Duration goneFor,
      Duration grace,
      Use use)
      throws IOException {
    if (needed) {
      return recorded.isPresent() ? KEEP : REBUILD;
    }
    if (recorded.equals(Optional.of(Phase.STARTED))) {
      return REMOVE; // kubelet never got an answer, so no container has it
    }
    if (recorded.isPresent() && !sameBoot) {
      return REMOVE; // no container survives its kernel
    }
    return goneFor.compareTo(grace) < 0 || use.isThere() ? WAIT : REMOVE;
  }
}
