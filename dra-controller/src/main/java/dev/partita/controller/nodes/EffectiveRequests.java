package dev.partita.controller.nodes;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What counts of a container's requests, and of those of a pod as a whole, while they are resized in place: the most of
 * what the specification asks for, what kubelet has allocated and what is in force. What a node can never grant does
 * not count (KEP-1287, {@code determineEffectiveRequests} of Kubernetes' component-helpers).
 *
 * @param infeasible whether the node can never grant what the specification asks for
 * @param containers what kubelet says that containers have and are to have, by name
 * @param pod the same of the pod as a whole; empty if kubelet says nothing of that
 */
record EffectiveRequests(boolean infeasible, Map<String, PodRequests> containers, Optional<PodRequests> pod) {
  /** Of a pod of which kubelet says nothing: what its specification asks for. */
  static final EffectiveRequests NO_STATUS = new EffectiveRequests(false, Map.of(), Optional.empty());

  static EffectiveRequests of(PodStatus status) {
    boolean infeasible = status.getConditions().stream()
        .filter(condition -> "PodResizePending".equals(condition.getType()))
        .anyMatch(condition -> "Infeasible".equals(condition.getReason()));
    Map<String, PodRequests> containers = new HashMap<>();
    for (List<ContainerStatus> statuses : List.of(status.getContainerStatuses(), status.getInitContainerStatuses())) {
      for (ContainerStatus container : statuses) {
        if (container.getResources() != null) {
          containers.put(container.getName(),
              PodRequests.requests(container.getResources())
                  .max(PodRequests.amounts(container.getAllocatedResources())));
        }
      }
    }
    Optional<PodRequests> pod = Optional.ofNullable(status.getResources())
        .map(resources -> PodRequests.requests(resources).max(PodRequests.amounts(status.getAllocatedResources())));
    return new EffectiveRequests(infeasible, containers, pod);
  }

  PodRequests of(Container container) {
    Optional<PodRequests> actual =
        Optional.ofNullable(container.getName()).map(containers::get); // snapshots of earlier releases have no names
    return most(container.getResources(), actual);
  }

  PodRequests ofPod(ResourceRequirements resources) {
    return most(resources, pod);
  }

  private PodRequests most(@Nullable ResourceRequirements resources, Optional<PodRequests> actual) {
    PodRequests asked = PodRequests.requests(resources);
    return actual.map(has -> infeasible ? has : has.max(asked)).orElse(asked);
  }
}
