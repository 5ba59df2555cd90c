package dev.partita.controller.turns;

import dev.partita.controller.decode.LeftOut;
import dev.partita.controller.nodes.PodRequests;
import dev.partita.controller.request.ClaimRef;
import dev.partita.controller.request.ClaimRequest;
import io.fabric8.kubernetes.api.model.NodeSelector;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.Toleration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * All that a decision reads of a pod without a place, except its name. Where one pod finds no place, another of the
 * same shape finds none either.
 *
 * @param namespace whose quotas hold
 * @param priority what is kept for pods of lower priority is free for it
 * @param nodes what its spec says about the nodes that it may run on
 * @param requests CPU, memory and other resources
 * @param leftOut fields that were too large to be kept: such a pod has no place because of them
 * @param allocatedElsewhere where its allocated claims let it run
 * @param claims its open claims, without their names
 */
public record PodShape(
    String namespace,
    int priority,
    NodeRules nodes,
    PodRequests requests,
    List<String> leftOut,
    List<NodeSelector> allocatedElsewhere,
    List<ClaimRequest> claims) {
  private static final ClaimRef ANY = new ClaimRef("", "", "");

  /**
   * What a pod's spec says about the nodes that it may run on.
   *
   * @param name the node that it is bound to
   * @param affinity required node affinity
   */
  public record NodeRules(
      Optional<String> name,
      Map<String, String> selector,
      Optional<NodeSelector> affinity,
      List<Toleration> tolerations) {
    private static NodeRules of(PodSpec spec) {
      return new NodeRules(
          Optional.ofNullable(spec.getNodeName()),
          Objects.requireNonNullElse(spec.getNodeSelector(), Map.of()),
          Optional.ofNullable(spec.getAffinity())
              .flatMap(affinity -> Optional.ofNullable(affinity.getNodeAffinity()))
              .flatMap(affinity -> Optional.ofNullable(affinity.getRequiredDuringSchedulingIgnoredDuringExecution())),
          Objects.requireNonNullElse(spec.getTolerations(), List.of()));
    }
  }

  /** @param claims the pod's claims that are to be allocated */
  public static PodShape of(Pod pod, List<NodeSelector> allocatedElsewhere, List<ClaimRequest> claims) {
    PodSpec spec = pod.getSpec();
    return new PodShape(
        pod.getMetadata().getNamespace(),
        Objects.requireNonNullElse(spec.getPriority(), 0),
        NodeRules.of(spec),
        PodRequests.of(pod),
        LeftOut.of(pod),
        allocatedElsewhere,
        claims.stream().map(claim -> new ClaimRequest(ANY, claim.requests(), claim.constraints(), claim.preferences()))
            .toList());
  }
}
