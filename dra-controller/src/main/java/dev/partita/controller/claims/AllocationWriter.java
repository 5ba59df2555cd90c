package dev.partita.controller.claims;

import dev.partita.controller.edge.ApiEdge;
import io.fabric8.kubernetes.api.model.resource.v1.AllocationResult;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;

/** Writes an allocation into a claim, under the version of the claim that was decided upon. */
final class AllocationWriter {
  /** Without it kube-controller-manager would not clear the allocation when the claim is no longer used. */
  static final String FINALIZER = "resource.kubernetes.io/delete-protection";

  private final KubernetesClient client;
  private final ApiEdge edge;

  AllocationWriter(KubernetesClient client, ApiEdge edge) {
    this.client = client;
    this.edge = edge;
  }

  /**
   * The finalizer goes first, by itself: an update of the status cannot set it.
   *
   * @param claim as it was read; any later change of it makes the write fail with a conflict
   * @return the claim as written
   */
  ResourceClaim write(ResourceClaim claim, AllocationResult allocation) {
    ResourceClaim guarded = claim;
    if (!claim.getMetadata().getFinalizers().contains(FINALIZER)) {
      ResourceClaim withFinalizer = new ResourceClaimBuilder(claim).editMetadata().addToFinalizers(FINALIZER).endMetadata().build();
      guarded = edge.call(() -> client.resource(withFinalizer).update());
    }
    ResourceClaim allocated =
        new ResourceClaimBuilder(guarded).editOrNewStatus().withAllocation(allocation).endStatus().build();
    return edge.call(() -> client.resource(allocated).updateStatus());
  }
}
