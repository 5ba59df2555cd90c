package dev.partita.controller.claims;

import dev.partita.controller.allocate.Outcome;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.util.Map;
import java.util.Set;

/**
 * What a pod is to get.
 *
 * @param claims by UID, as they were decided upon
 * @param contested UIDs of those that must be reserved for the pod with the allocation: see {@link PodClaims#isContested}
 */
record PodPlan(Pod pod, Outcome.Allocated outcome, Map<String, ResourceClaim> claims, Set<String> contested) {}
