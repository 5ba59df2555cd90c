package dev.partita.cli.demo.controlplane;

import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.OwnerReferenceBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodResourceClaim;
import io.fabric8.kubernetes.api.model.PodResourceClaimStatus;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimTemplate;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.Resource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;

/** kube-controller-manager's handling of claims: makes them for pods, and ends them when the pod is done. */
public final class ClaimLifecycle {
  /** Whoever allocates puts it on the claim; without it kube-controller-manager takes no allocation back. */
  static final String FINALIZER = "resource.kubernetes.io/delete-protection";

  private static final String POD_CLAIM_ANNOTATION = "resource.kubernetes.io/pod-claim-name";
  private static final String NAME_CHARACTERS = "bcdfghjklmnpqrstvwxz2456789";

  private final KubernetesClient client;
  private final RandomGenerator random = RandomGenerator.getDefault();

  public ClaimLifecycle(KubernetesClient client) {
    this.client = client;
  }

  /** Makes a pod's claims from their templates and notes their names in the pod's status; gives the pod with it. */
  public Pod createClaims(Pod pod) {
    List<PodResourceClaimStatus> made = new ArrayList<>();
    for (PodResourceClaim wanted : pod.getSpec().getResourceClaims()) {
      ResourceClaim claim = client.resource(fromTemplate(pod, wanted)).create();
      made.add(new PodResourceClaimStatus(wanted.getName(), claim.getMetadata().getName()));
    }
    return Conflicts.editStatus(client, pod,
        current -> {
          PodStatus status = current.getStatus() == null ? new PodStatus() : current.getStatus();
          status.setResourceClaimStatuses(made);
          current.setStatus(status);
          return current;
        });
  }

  private ResourceClaim fromTemplate(Pod pod, PodResourceClaim wanted) {
    ResourceClaimTemplate template =
        client
            .resources(ResourceClaimTemplate.class)
            .inNamespace(pod.getMetadata().getNamespace())
            .withName(wanted.getResourceClaimTemplateName())
            .require();
    OwnerReference owner =
        new OwnerReferenceBuilder()
            .withApiVersion("v1")
            .withKind("Pod")
            .withName(pod.getMetadata().getName())
            .withUid(pod.getMetadata().getUid())
            .withController(true)
            .withBlockOwnerDeletion(true)
            .build();
    return new ResourceClaimBuilder()
        .withNewMetadata()
        .withNamespace(pod.getMetadata().getNamespace())
        .withName(pod.getMetadata().getName() + "-" + wanted.getName() + "-" + suffix())
        .addToAnnotations(POD_CLAIM_ANNOTATION, wanted.getName())
        .withOwnerReferences(owner)
        .endMetadata()
        .withSpec(template.getSpec().getSpec())
        .build();
  }

  /** The five characters that the API server puts behind a {@code generateName}. */
  private String suffix() {
    return random.ints(5, 0, NAME_CHARACTERS.length())
        .mapToObj(i -> NAME_CHARACTERS.substring(i, i + 1))
        .reduce("", String::concat);
  }

  /** A pod's claims, as they are now, by the name under which the pod knows them. */
  public Map<String, ResourceClaim> claimsOf(Pod pod) {
    Map<String, ResourceClaim> claims = new LinkedHashMap<>();
    for (PodResourceClaimStatus made : pod.getStatus().getResourceClaimStatuses()) {
      claims.put(made.getName(), claim(pod, made.getResourceClaimName()).require());
    }
    return claims;
  }

  /** Ends the claims of a pod that is done or deleted: the reservation goes, then the allocation, then the claim. */
  public void endClaims(Pod pod) {
    for (PodResourceClaimStatus made : pod.getStatus().getResourceClaimStatuses()) {
      Resource<ResourceClaim> claim = claim(pod, made.getResourceClaimName());
      Conflicts.retry(
          () -> {
            ResourceClaim current = claim.require();
            deallocate(current, pod);
            client.resource(current).updateStatus();
          });
      Conflicts.retry(
          () -> {
            ResourceClaim current = claim.require();
            if (current.getStatus() == null || current.getStatus().getAllocation() == null) {
              current.getMetadata().getFinalizers().remove(FINALIZER);
              client.resource(current).update();
            }
          });
      claim.delete();
    }
  }

  private static void deallocate(ResourceClaim claim, Pod pod) {
    if (claim.getStatus() == null) {
      return;
    }
    claim.getStatus().getReservedFor().removeIf(user -> user.getUid().equals(pod.getMetadata().getUid()));
    if (claim.getStatus().getReservedFor().isEmpty() && claim.getMetadata().getFinalizers().contains(FINALIZER)) {
      claim.getStatus().setAllocation(null);
      claim.getStatus().setDevices(List.of());
    }
  }

  private Resource<ResourceClaim> claim(Pod pod, String name) {
    return client.resources(ResourceClaim.class).inNamespace(pod.getMetadata().getNamespace()).withName(name);
  }
}
