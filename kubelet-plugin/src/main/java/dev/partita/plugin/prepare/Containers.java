package dev.partita.plugin.prepare;

import dev.partita.api.node.GpuNodeSpec;
import dev.partita.plugin.claim.AllocationReading;
import dev.partita.plugin.claim.ClaimRef;
import dev.partita.plugin.claim.Grant;
import dev.partita.plugin.container.ContainerView;
import dev.partita.plugin.inventory.Inventory;
import dev.partita.plugin.kube.ApiCalls;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimConsumerReference;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks at the containers that a claim is for.
 *
 * @param pool this node's pool
 */
record Containers(ClaimReader api, String pool) {
  private static final Logger LOG = LoggerFactory.getLogger(Containers.class);

  /** The claim from inside its containers; a claim that is reserved for nobody is seen as one container's. */
  ContainerView view(ClaimRef ref, ResourceClaim claim, List<Grant> grants, Inventory.Cards cards) {
    List<ResourceClaimConsumerReference> consumers =
        claim.getStatus() == null || claim.getStatus().getReservedFor() == null ? List.of() : claim.getStatus().getReservedFor();
    if (consumers.isEmpty()) {
      return ContainerView.ofClaimAlone(grants);
    }
    try {
      List<Pod> pods = new ArrayList<>();
      Map<String, List<Grant>> others = new HashMap<>();
      for (ResourceClaimConsumerReference consumer : consumers) {
        Optional<Pod> pod =
            "pods".equals(consumer.getResource()) ? api.pod(ref.namespace(), consumer.getName()) : Optional.empty();
        if (pod.isPresent() && Objects.equals(consumer.getUid(), pod.get().getMetadata().getUid())) {
          pods.add(pod.get());
          ContainerView.claimNames(pod.get()).stream()
              .filter(name -> !name.equals(ref.name()))
              .forEach(name -> others.computeIfAbsent(name, n -> grantsOf(ref.namespace(), n, cards)));
        }
      }
      return pods.isEmpty() ? ContainerView.ofUnknown(grants) : ContainerView.ofPods(ref.name(), grants, pods, others);
    } catch (KubernetesClientException e) {
      LOG.warn("claim {}: its pods cannot be read, so its containers get no numbered variables: {}", ref, ApiCalls.explain(e));
      return ContainerView.ofUnknown(grants);
    }
  }

  private List<Grant> grantsOf(String namespace, String name, Inventory.Cards cards) {
    return api.claim(namespace, name)
        .map(claim -> AllocationReading.read(claim, pool, cards, GpuNodeSpec.DEFAULT))
        .map(outcome -> outcome instanceof AllocationReading.Granted granted ? granted.grants() : List.<Grant>of())
        .orElse(List.of());
  }
}
