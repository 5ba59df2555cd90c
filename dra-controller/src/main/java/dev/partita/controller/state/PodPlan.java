package dev.partita.controller.state;

import dev.partita.controller.allocate.Outcome;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.util.Map;
import java.util.Set;

/**
 * A place that was decided for a pod.
 *
 * @param claims by UID, as they were decided upon
 * @param reserved UIDs of those that are reserved for the pod together with the allocation
 */
public record PodPlan(Pod pod, Outcome.Allocated outcome, Map<String, ResourceClaim> claims, Set<String> reserved) {}
