package dev.partita.controller.claims;

import dev.partita.api.Driver;
import dev.partita.controller.edge.ApiEdge;
import dev.partita.controller.edge.JsonPatch;
import dev.partita.controller.proposal.Proposal;
import io.fabric8.kubernetes.api.model.resource.v1.AllocationResult;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimConsumerReference;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
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
   * Says on the claim what it is about to get, and puts the finalizer on it: an update of the status could do neither.
   *
   * @param claim as it was read; any later change of it makes this fail with a conflict
   * @return the claim as written
   */
  ResourceClaim propose(ResourceClaim claim, Proposal proposal) {
    Map<String, String> annotations = new TreeMap<>(annotations(claim));
    annotations.put(Driver.PROPOSAL_ANNOTATION, proposal.toString());
    return withMetadata(claim, Stream.concat(claim.getMetadata().getFinalizers().stream(), Stream.of(FINALIZER)), annotations);
  }

  /**
   * Writes the allocation that was proposed.
   *
   * @param proposed the claim as {@link #propose} gave it; any change of it since makes this fail with a conflict
   * @param users for whom it is reserved at once; none where that can be left to kube-scheduler
   * @return the claim as written
   */
  ResourceClaim write(ResourceClaim proposed, AllocationResult allocation, List<ResourceClaimConsumerReference> users) {
    ResourceClaim allocated =
        new ResourceClaimBuilder(proposed).editOrNewStatus().withAllocation(allocation).addAllToReservedFor(users).endStatus().build();
    return edge.call(() -> client.resource(allocated).updateStatus());
  }

  /**
   * Takes back an allocation that nobody has reserved, or a proposal.
   *
   * @param claim as it was read; if somebody has reserved it since, this fails with a conflict
   */
  void release(ResourceClaim claim) {
    ResourceClaim written = claim;
    if (AllocatedClaim.isAllocated(claim)) {
      ResourceClaim freed = new ResourceClaimBuilder(claim).editStatus().withAllocation(null).endStatus().build();
      written = edge.call(() -> client.resource(freed).updateStatus());
    }
    Map<String, String> annotations = new TreeMap<>(annotations(written));
    annotations.remove(Driver.PROPOSAL_ANNOTATION);
    withMetadata(written, written.getMetadata().getFinalizers().stream().filter(f -> !f.equals(FINALIZER)), annotations);
  }

  /** The claim as the API server has it now; null if it is gone. */
  @Nullable ResourceClaim read(ResourceClaim claim) {
    return edge.call(() -> client.resource(claim).get());
  }

  /**
   * A patch of nothing but these: an update would send the spec as well, and the server compares the bytes of opaque parameters,
   * whose order of fields the client does not keep.
   */
  private ResourceClaim withMetadata(ResourceClaim claim, Stream<String> finalizers, Map<String, String> annotations) {
    return new JsonPatch()
        .replace("/metadata/resourceVersion", claim.getMetadata().getResourceVersion())
        .add("/metadata/finalizers", finalizers.distinct().toList())
        .add("/metadata/annotations", annotations)
        .apply(client, edge, claim);
  }

  private static Map<String, String> annotations(ResourceClaim claim) {
    return Objects.requireNonNullElse(claim.getMetadata().getAnnotations(), Map.of());
  }
}
