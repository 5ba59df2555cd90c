package dev.partita.controller.claims;

import dev.partita.controller.edge.ApiEdge;
import io.fabric8.kubernetes.api.model.resource.v1.AllocationResult;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Writes an allocation into a claim, under the version of the claim that was decided upon. */
final class AllocationWriter {
  /** Without it kube-controller-manager would not clear the allocation when the claim is no longer used. */
  static final String FINALIZER = "resource.kubernetes.io/delete-protection";

  private static final PatchContext JSON_PATCH = PatchContext.of(PatchType.JSON);

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
      guarded = edge.call(() -> client.resource(claim).patch(JSON_PATCH, withFinalizer(claim)));
    }
    ResourceClaim allocated =
        new ResourceClaimBuilder(guarded).editOrNewStatus().withAllocation(allocation).endStatus().build();
    return edge.call(() -> client.resource(allocated).updateStatus());
  }

  /**
   * A patch of nothing but the finalizers: an update would send the spec as well, and the server compares the bytes of opaque
   * parameters, whose order of fields the client does not keep.
   */
  private String withFinalizer(ResourceClaim claim) {
    List<String> finalizers = new ArrayList<>(claim.getMetadata().getFinalizers());
    finalizers.add(FINALIZER);
    return client
        .getKubernetesSerialization()
        .asJson(
            List.of(
                Map.of("op", "replace", "path", "/metadata/resourceVersion", "value", claim.getMetadata().getResourceVersion()),
                Map.of("op", "add", "path", "/metadata/finalizers", "value", finalizers)));
  }
}
