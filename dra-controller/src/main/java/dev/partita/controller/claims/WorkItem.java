package dev.partita.controller.claims;

import dev.partita.controller.allocate.ClaimRef;
import dev.partita.controller.watch.ClusterEvent;
import dev.partita.controller.watch.ObjectKey;
import java.util.Optional;

/** What the allocation loop is told. */
sealed interface WorkItem {
  /** This instance has begun to lead: everything is new. */
  record Begin() implements WorkItem {}

  record Observed(ClusterEvent event) implements WorkItem {}

  /**
   * A write came to its end.
   *
   * @param version the claim's new resourceVersion; empty if the write failed
   */
  record Written(ClaimRef claim, Optional<String> version) implements WorkItem {}

  /** An allocation could not be taken back. */
  record NotReleased(String claimUid) implements WorkItem {}

  /** All writes for a pod have come to their end. */
  record Finished(ObjectKey pod, boolean failed) implements WorkItem {}

  /** Look at the pod again, for a while has passed. */
  record Again(ObjectKey pod) implements WorkItem {}
}
