package dev.partita.controller.claims;

import dev.partita.controller.allocate.Explanation;
import dev.partita.controller.allocate.Outcome;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.util.List;
import java.util.Map;

/** What to do about a pod. */
sealed interface Decision {
  /** Nothing is ours to do, or something must happen first that will be heard of. */
  record Nothing() implements Decision {}

  /** Its claims are allocated; it will run on that node. */
  record Placed(String node) implements Decision {}

  /**
   * Write these.
   *
   * @param claims by UID, as they were decided upon
   */
  record Allocate(Outcome.Allocated outcome, Map<String, ResourceClaim> claims) implements Decision {}

  /** No node will do now. */
  record Wait(List<ResourceClaim> claims, Explanation explanation) implements Decision {}

  /** Some claims can never be allocated as they stand. */
  record Refuse(Map<ResourceClaim, List<String>> problems) implements Decision {}
}
