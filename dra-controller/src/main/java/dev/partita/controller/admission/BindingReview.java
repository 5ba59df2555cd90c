package dev.partita.controller.admission;

import dev.partita.controller.claim.AllocatedClaim;
import dev.partita.controller.claim.PodClaims;
import dev.partita.controller.watch.ClusterObjects;
import dev.partita.controller.watch.ObjectKey;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Says whether a scheduler may bind a pod to a node: to none but that of the devices of ours that its claims have. A
 * pod that is bound elsewhere never starts. kube-scheduler binds no such pod. KAI (v0.12.0) does: its binder goes by
 * the node that its scheduler chose, though meanwhile the controller has allocated the claim on another.
 */
final class BindingReview implements Function<AdmissionRequest, Verdict> {
  private final ClusterObjects cluster;

  BindingReview(ClusterObjects cluster) {
    this.cluster = cluster;
  }

  @Override
  public Verdict apply(AdmissionRequest request) {
    @Nullable Pod pod =
        cluster.pod(new ObjectKey(request.namespace(), request.object().path("metadata").path("name").asText()));
    String node = request.object().path("target").path("name").asText();
    boolean elsewhere = Stream.ofNullable(pod).flatMap(found -> PodClaims.of(found).orElse(List.of()).stream())
        .anyMatch(claim -> isElsewhere(claim, node));
    // No name but those of the question: anybody who reaches the port may ask about anybody's pods.
    return elsewhere
        ? new Verdict.Forbidden(
            "a claim of the pod has devices of another node, and the pod cannot run on node " + node,
            List.of())
        : Verdict.allowed();
  }

  private boolean isElsewhere(ObjectKey claim, String node) {
    @Nullable ResourceClaim known = cluster.claim(claim);
    return Optional.ofNullable(known).flatMap(AllocatedClaim::nodeOfOurs).filter(of -> !of.equals(node)).isPresent();
  }
}
