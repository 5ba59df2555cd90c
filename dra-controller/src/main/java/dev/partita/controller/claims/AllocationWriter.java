package dev.partita.controller.claims;

import dev.partita.controller.edge.ApiEdge;
import io.fabric8.kubernetes.api.model.resource.v1.AllocationResult;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimConsumerReference;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

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
   * @param users for whom it is reserved at once; none where that can be left to kube-scheduler
   * @return the claim as written
   */
  ResourceClaim write(ResourceClaim claim, AllocationResult allocation, List<ResourceClaimConsumerReference> users) {
    List<String> finalizers = claim.getMetadata().getFinalizers();
    ResourceClaim guarded =
        finalizers.contains(FINALIZER)
            ? claim
            : withFinalizers(claim, Stream.concat(finalizers.stream(), Stream.of(FINALIZER)).toList());
    ResourceClaim allocated =
        new ResourceClaimBuilder(guarded).editOrNewStatus().withAllocation(allocation).addAllToReservedFor(users).endStatus().build();
    return edge.call(() -> client.resource(allocated).updateStatus());
  }

  /**
   * Takes an allocation back that nobody has reserved.
   *
   * @param claim as it was read; if somebody has reserved it since, this fails with a conflict
   */
  void release(ResourceClaim claim) {
    ResourceClaim freed = new ResourceClaimBuilder(claim).editStatus().withAllocation(null).endStatus().build();
    ResourceClaim written = edge.call(() -> client.resource(freed).updateStatus());
    withFinalizers(written, written.getMetadata().getFinalizers().stream().filter(f -> !f.equals(FINALIZER)).toList());
  }

  /** The claim as the API server has it now; null if it is gone. */
  @Nullable ResourceClaim read(ResourceClaim claim) {
    return edge.call(() -> client.resource(claim).get());
  }

  /**
   * A patch of nothing but the finalizers: an update would send the spec as well, and the server compares the bytes of opaque
   * parameters, whose order of fields the client does not keep.
   */
  private ResourceClaim withFinalizers(ResourceClaim claim, List<String> finalizers) {
    String patch =
        client
            .getKubernetesSerialization()
            .asJson(
                List.of(
                    Map.of("op", "replace", "path", "/metadata/resourceVersion", "value", claim.getMetadata().getResourceVersion()),
                    Map.of("op", "add", "path", "/metadata/finalizers", "value", finalizers)));
    return edge.call(() -> client.resource(claim).patch(PatchContext.of(PatchType.JSON), patch));
  }
}
