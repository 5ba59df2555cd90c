package dev.partita.controller.nodes;

import io.fabric8.kubernetes.api.model.NodeAllocatableResourceClaimStatus;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.Collection;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Adds up the CPU and memory of the node that the devices of a pod's claims take besides what the pod requests.
 * kube-scheduler writes them into the pod's status where the feature gate {@code DRANodeAllocatableResources} is on
 * (KEP-5517), as Kubernetes 1.37 has them: a device stands for CPUs or memory itself ({@code mapping}), or costs some
 * for each pod and each container that has it ({@code overhead}). The client has no types for them yet.
 */
final class ResourcesOfClaims {
  private ResourcesOfClaims() {}

  static PodRequests of(@Nullable PodStatus status) {
    if (status == null) {
      return PodRequests.NONE;
    }
    return status.getNodeAllocatableResourceClaimStatuses().stream().flatMap(ResourcesOfClaims::of)
        .reduce(PodRequests.NONE, PodRequests::plus);
  }

  private static Stream<PodRequests> of(NodeAllocatableResourceClaimStatus claim) {
    return Stream.concat(
        entries(claim, "mapping").map(mapped -> amount(mapped, "quantity", 1)),
        entries(claim, "overhead").map(
            overhead -> amount(overhead, "perPod", 1)
                .plus(amount(overhead, "perContainer", claim.getContainers().size()))));
  }

  private static Stream<Map<?, ?>> entries(NodeAllocatableResourceClaimStatus claim, String list) {
    return claim.getAdditionalProperties().get(list) instanceof Collection<?> entries
        ? entries.stream().filter(Map.class::isInstance).map(entry -> (Map<?, ?>) entry)
        : Stream.empty();
  }

  private static PodRequests amount(Map<?, ?> entry, String field, int times) {
    if (!(entry.get("name") instanceof String resource) || !(entry.get(field) instanceof String quantity)) {
      return PodRequests.NONE;
    }
    return PodRequests.amounts(Map.of(resource, new Quantity(quantity))).times(times);
  }
}
