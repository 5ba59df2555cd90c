package dev.partita.controller.watch;

import dev.partita.api.Annotations;
import dev.partita.api.Driver;
import dev.partita.api.node.GpuNode;
import dev.partita.controller.gang.Gang;
import dev.partita.controller.gang.GangKey;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSlice;
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

  /** The gangs that the pod could belong to. */
  static List<String> gangsOf(Pod pod) {
    return Gang.candidates(pod).stream().map(GangKey::toString).toList();
  }

  static List<String> nodesOfClaim(ResourceClaim claim) {
    Set<String> nodes = new LinkedHashSet<>();
    Annotations.value(claim, Driver.PROPOSAL_ANNOTATION).ifPresent(proposal -> nodes.add(proposal.split(" ", 2)[0]));
    AllocatedDevices.of(claim).stream()
        .filter(result -> Driver.NAME.equals(result.getDriver()))
        .forEach(result -> Driver.nodeOfPool(result.getPool()).ifPresent(nodes::add));
    return List.copyOf(nodes);
  }

  /** Pools of other drivers of which the claim has devices. */
  static List<String> otherPoolsOf(ResourceClaim claim) {
    return OtherDevice.of(claim).stream().map(device -> device.pool().toString()).distinct().toList();
  }

  /** Pools of other drivers by which claims have cards of the node, as its GpuNode says. */
  static List<String> otherPoolsOf(GpuNode node) {
    return node.getStatus() == null
        ? List.of()
        : node.getStatus().otherDrivers().stream()
            .map(device -> new OtherDevice.Pool(device.driver(), device.pool()).toString()).distinct().toList();
  }

  /** The pool of a slice of another driver's that is of one node; none of others. */
  static List<String> otherPoolOf(ResourceSlice slice) {
    return isOthers(slice)
        ? List.of(new OtherDevice.Pool(slice.getSpec().getDriver(), slice.getSpec().getPool().getName()).toString())
        : List.of();
  }

  /** Whether it is another driver's, and of one node: what several nodes can have is no card of one. */
  static boolean isOthers(ResourceSlice slice) {
    return slice.getSpec().getNodeName() != null && !Driver.NAME.equals(slice.getSpec().getDriver());
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
