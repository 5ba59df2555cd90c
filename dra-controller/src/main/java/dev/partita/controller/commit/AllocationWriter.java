package dev.partita.controller.commit;

import dev.partita.api.Driver;
import dev.partita.controller.claim.AllocatedClaim;
import dev.partita.controller.edge.ApiEdge;
import dev.partita.controller.edge.JsonPatch;
import dev.partita.controller.edge.MergePatch;
import dev.partita.controller.edge.WriteKind;
import dev.partita.controller.proposal.Proposal;
import io.fabric8.kubernetes.api.model.resource.v1.AllocationResult;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimConsumerReference;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Writes an allocation into a claim, under the version of the claim for which it was decided. */
public final class AllocationWriter {
  /** Without it kube-controller-manager would not clear the allocation when the claim is no longer used. */
  static final String FINALIZER = "resource.kubernetes.io/delete-protection";

  private final KubernetesClient client;
  private final ApiEdge edge;

  public AllocationWriter(KubernetesClient client, ApiEdge edge) {
    this.client = client;
    this.edge = edge;
  }

  /**
   * Says on the claim what it is about to get, and puts the finalizer on it: an update of the status could do neither.
   * A patch of nothing but these: an update would send the spec as well, and the server compares the bytes of opaque
   * parameters, whose order of fields the client does not keep.
   *
   * @param claim as it was read; any later change of it makes this fail with a conflict
   * @return the claim as written
   */
  ResourceClaim propose(ResourceClaim claim, Proposal proposal) {
    List<String> finalizers =
        Stream.concat(claim.getMetadata().getFinalizers().stream(), Stream.of(FINALIZER)).distinct().toList();
    return new MergePatch(claim.getMetadata().getResourceVersion())
        .set("finalizers", finalizers)
        .annotate(Driver.PROPOSAL_ANNOTATION, proposal.toString())
        .apply(client, edge, WriteKind.PROPOSAL, claim);
  }

  /**
   * Writes the allocation that was proposed.
   *
   * @param proposed the claim as {@link #propose} gave it; any change of it since makes this fail with a conflict
   * @param users for whom it is reserved at once; none where that can be left to kube-scheduler
   * @param look is asked before every try, and throws {@link ApiEdge.NotSentException} if it is not to be written any
   *        more
   * @return the claim as written
   */
  ResourceClaim write(
      ResourceClaim proposed,
      AllocationResult allocation,
      List<ResourceClaimConsumerReference> users,
      Runnable look) {
    ResourceClaim allocated =
        new ResourceClaimBuilder(proposed).editOrNewStatus().withAllocation(allocation).addAllToReservedFor(users)
            .endStatus().build();
    return edgeOf(proposed).write(WriteKind.ALLOCATION, () -> {
      look.run();
      return client.resource(allocated).updateStatus();
    });
  }

  /**
   * Takes back an allocation that nobody has reserved, or a proposal.
   *
   * @param claim as it was read; if somebody has reserved it since, this fails with a conflict
   */
  void release(ResourceClaim claim) {
    @Nullable ResourceClaim whole = read(claim); // an informer's has not all of the status, which is written as a whole
    if (whole == null) {
      return;
    }
    whole.getMetadata().setResourceVersion(claim.getMetadata().getResourceVersion());
    ResourceClaim written = whole;
    if (AllocatedClaim.isAllocated(whole)) {
      ResourceClaim freed = new ResourceClaimBuilder(whole).editStatus().withAllocation(null).endStatus().build();
      written = edgeOf(freed).write(WriteKind.RELEASE, () -> client.resource(freed).updateStatus());
    }
    JsonPatch patch =
        new JsonPatch()
            .replace("/metadata/resourceVersion", written.getMetadata().getResourceVersion())
            .add("/metadata/finalizers",
                written.getMetadata().getFinalizers().stream().filter(f -> !f.equals(FINALIZER)).toList());
    if (Proposal.isOn(written)) {
      patch.remove("/metadata/annotations/" + Driver.PROPOSAL_ANNOTATION.replace("/", "~1"));
    }
    patch.apply(client, edge, WriteKind.RELEASE, written);
  }

  /** The claim as the API server has it now; null if it is gone. */
  @Nullable
  ResourceClaim read(ResourceClaim claim) {
    return edgeOf(claim).read(() -> client.resource(claim).get());
  }

  private ApiEdge edgeOf(ResourceClaim claim) {
    return edge.in(claim.getMetadata().getNamespace());
  }
}
