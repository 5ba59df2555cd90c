package dev.partita.controller.claims;

import dev.partita.controller.allocate.Explanation;
import dev.partita.controller.allocate.Outcome;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What to do about a pod. */
sealed interface Decision {
  /** Nothing is ours to do, or something must happen first that will be heard of. */
  record Nothing() implements Decision {}

  /** kube-scheduler allocates on every node that it could run on; a node of the controller's may come. */
  record LeaveToScheduler() implements Decision {}

  /** Its claims are allocated; it will run on that node. */
  record Placed(String node) implements Decision {}

  /**
   * Write these.
   *
   * @param claims by UID, as they were decided upon
   * @param contested UIDs of those that must be reserved for the pod with the allocation: see {@link PodClaims#isContested}
   */
  record Allocate(Outcome.Allocated outcome, Map<String, ResourceClaim> claims, Set<String> contested) implements Decision {}

  /**
   * No node will do now.
   *
   * @param claims those that wait
   * @param unused claims of the pod that are allocated already, which nobody uses: to be given back, for half a pod's claims
   *     help nobody
   */
  record Wait(List<ResourceClaim> claims, List<ResourceClaim> unused, Explanation explanation) implements Decision {}

  /** Some claims can never be allocated as they stand. */
  record Refuse(Map<ResourceClaim, List<String>> problems) implements Decision {}
}
