package dev.partita.plugin.claimread;

import dev.partita.api.node.GpuNodeSpec;
import dev.partita.plugin.container.ContainerView;
import dev.partita.plugin.grant.ClaimRef;
import dev.partita.plugin.grant.Grant;
import dev.partita.plugin.inventory.Inventory;
import dev.partita.plugin.kube.ApiCalls;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimConsumerReference;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds out what each container that uses a claim has of this node's cards.
 *
 * @param reads what the call has read of the API server
 * @param cards this node's
 * @param node the node's settings
 */
record Containers(CallReads reads, Inventory.Cards cards, GpuNodeSpec node) {
  private static final Logger LOG = LoggerFactory.getLogger(Containers.class);

  /**
   * The claim as its containers see it. A claim that is reserved for nobody is seen as by one container. Throws
   * KubernetesClientException if its pods cannot be read and it {@linkplain ContainerView#needsContainers must be
   * known} what else their containers have.
   */
  ContainerView view(ClaimRef ref, ResourceClaim claim, List<Grant> grants) {
    List<ResourceClaimConsumerReference> consumers =
        claim.getStatus() == null || claim.getStatus().getReservedFor() == null
            ? List.of()
            : claim.getStatus().getReservedFor();
    if (consumers.isEmpty()) {
      return ContainerView.ofClaimAlone(grants);
    }
    try {
      List<Set<Grant>> containers = new ArrayList<>();
      boolean known = false;
      for (ResourceClaimConsumerReference consumer : consumers) {
        Optional<Pod> pod = reads.pod(ref.namespace(), consumer);
        if (pod.isPresent()) {
          known = true;
          containers.addAll(reads.containers(pod.get(), cards, node));
        }
      }
      return known ? ContainerView.ofContainers(grants, containers) : ContainerView.ofUnknown(grants);
    } catch (KubernetesClientException e) {
      if (ContainerView.needsContainers(grants)) {
        throw e;
      }
      LOG.warn("claim {}: cannot read its pods, so its containers get no numbered variables: {}", ref,
          ApiCalls.explain(e));
      return ContainerView.ofUnknown(grants);
    }
  }
}
