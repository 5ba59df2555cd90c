package dev.partita.controller.claim;

import dev.partita.controller.watch.ObjectKey;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodResourceClaim;
import io.fabric8.kubernetes.api.model.PodResourceClaimStatus;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Finds the claims that a pod refers to. */
public final class PodClaims {
  private PodClaims() {}

  /** The pod's claims; empty as long as one of them has not been made from its template yet. */
  public static Optional<List<ObjectKey>> of(Pod pod) {
    Map<String, PodResourceClaimStatus> generated = new HashMap<>();
    if (pod.getStatus() != null) {
      pod.getStatus().getResourceClaimStatuses().forEach(status -> generated.put(status.getName(), status));
    }
    List<ObjectKey> claims = new ArrayList<>();
    for (PodResourceClaim reference : pod.getSpec().getResourceClaims()) {
      String name = reference.getResourceClaimName();
      if (name == null) {
        PodResourceClaimStatus status = generated.get(reference.getName());
        if (status == null) {
          return Optional.empty();
        }
        name = status.getResourceClaimName();
      }
      if (name != null) { // a status without a name says that the pod needs no claim there
        claims.add(new ObjectKey(pod.getMetadata().getNamespace(), name));
      }
    }
    return Optional.of(claims.stream().distinct().toList());
  }

  /** Whether the pod may still need its claims: it is neither over nor on its way out. */
  public static boolean isLive(Pod pod) {
    return pod.getMetadata().getDeletionTimestamp() == null && !hasEnded(pod);
  }

  /** Whether what the pod requests of its node is not free: until its containers have ended, as for kube-scheduler. */
  public static boolean takesRoom(Pod pod) {
    return isBound(pod) && !hasEnded(pod);
  }

  /** Whether its containers have ended for good: one that its node ended, as when it shut down, stays in the API. */
  public static boolean hasEnded(Pod pod) {
    String phase = pod.getStatus() == null ? null : pod.getStatus().getPhase();
    return "Succeeded".equals(phase) || "Failed".equals(phase);
  }

  /**
   * Whether kube-controller-manager would take an allocation away that is not reserved: in 1.36 it reserves an
   * allocated claim for any bound pod that names it, even one that is over, and then finds the claim's only user over
   * and clears the allocation. kube-scheduler reserves together with the allocation, and is safe from it.
   *
   * @param others the pods that name the claim
   */
  public static boolean isContested(List<Pod> others) {
    return others.stream().anyMatch(pod -> isBound(pod) && !isLive(pod));
  }

  /** Whether the pod may have begun to use claims that are reserved for it, or is over. */
  public static boolean mayUse(@Nullable Pod pod) {
    return pod == null || isBound(pod) || !isLive(pod);
  }

  /** Whether its condition {@code Ready} is true. */
  public static boolean isReady(Pod pod) {
    return pod.getStatus() != null && pod.getStatus().getConditions().stream()
        .anyMatch(condition -> "Ready".equals(condition.getType()) && "True".equals(condition.getStatus()));
  }

  public static boolean isBound(Pod pod) {
    return pod.getSpec().getNodeName() != null && !pod.getSpec().getNodeName().isEmpty();
  }
}
