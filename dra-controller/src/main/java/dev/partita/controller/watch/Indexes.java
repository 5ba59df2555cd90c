package dev.partita.controller.watch;

import dev.partita.api.Driver;
import dev.partita.api.node.GpuNode;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Keys under which {@link ClusterView} finds objects. */
final class Indexes {
  private Indexes() {}

  static List<String> pluginPodOf(GpuNode node) {
    @Nullable String uid = node.getStatus() == null ? null : node.getStatus().pluginPodUid();
    return uid == null ? List.of() : List.of(uid);
  }

  /** {@code namespace/gang} of a pod that belongs to one. */
  static List<String> gangOf(Pod pod) {
    @Nullable String gang = pod.getMetadata().getAnnotations() == null
        ? null
        : pod.getMetadata().getAnnotations().get(Driver.GANG_ANNOTATION);
    return gang == null || gang.isBlank()
        ? List.of()
        : List.of(new ObjectKey(pod.getMetadata().getNamespace(), gang.strip()).toString());
  }

  static List<String> nodesOfClaim(ResourceClaim claim) {
    Set<String> nodes = new LinkedHashSet<>();
    @Nullable String proposal =
        claim.getMetadata().getAnnotations() == null
            ? null
            : claim.getMetadata().getAnnotations().get(Driver.PROPOSAL_ANNOTATION);
    if (proposal != null) {
      nodes.add(proposal.split(" ", 2)[0]);
    }
    AllocatedDevices.of(claim).stream()
        .filter(result -> Driver.NAME.equals(result.getDriver()))
        .forEach(result -> Driver.nodeOfPool(result.getPool()).ifPresent(nodes::add));
    return List.copyOf(nodes);
  }

  /** {@code namespace/name} of the templates that the pod names. */
  static List<String> templatesOf(Pod pod) {
    String namespace = Objects.requireNonNullElse(pod.getMetadata().getNamespace(), "");
    return pod.getSpec().getResourceClaims().stream()
        .map(PodResourceClaim::getResourceClaimTemplateName)
        .filter(Objects::nonNull)
        .distinct()
        .map(name -> new ObjectKey(namespace, name).toString())
        .toList();
  }

  static List<String> claimsOf(Pod pod) {
    String namespace = Objects.requireNonNullElse(pod.getMetadata().getNamespace(), "");
    List<String> names = new ArrayList<>();
    pod.getSpec().getResourceClaims().forEach(claim -> names.add(claim.getResourceClaimName()));
    if (pod.getStatus() != null) {
      pod.getStatus().getResourceClaimStatuses().forEach(status -> names.add(status.getResourceClaimName()));
    }
    return names.stream().filter(Objects::nonNull).distinct().map(name -> new ObjectKey(namespace, name).toString())
        .toList();
  }
}
