package dev.partita.cli.demo.controlplane;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeSelectorTerm;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodConditionBuilder;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.api.model.resource.v1.AllocationResult;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimConsumerReference;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.PodResource;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * kube-scheduler's handling of pods whose claims someone else allocates: until then the pod is unschedulable; then it
 * is bound to the node of the allocation, and the claims are reserved for it.
 */
public final class DemoScheduler {
  private final KubernetesClient client;

  public DemoScheduler(KubernetesClient client) {
    this.client = client;
  }

  /** Tries to bind a pod; gives it as bound, or empty after noting in its status that it cannot be. */
  public Optional<Pod> tryToBind(Pod pod, Map<String, ResourceClaim> claims) {
    List<String> nodes = new ArrayList<>();
    for (ResourceClaim claim : claims.values()) {
      if (claim.getStatus() == null || claim.getStatus().getAllocation() == null) {
        setScheduled(pod, false, "0/" + nodeNames().size() + " nodes are available: cannot allocate all claims");
        return Optional.empty();
      }
      nodes.add(nodeOf(claim.getStatus().getAllocation()));
    }
    String node = nodes.getFirst();
    if (nodes.stream().distinct().count() > 1 || !nodeNames().contains(node)) {
      setScheduled(pod, false, "the allocations lead to no one node: " + nodes);
      return Optional.empty();
    }
    claims.values().forEach(claim -> reserve(claim, pod));
    current(pod)
        .edit(
            current -> {
              current.getSpec().setNodeName(node);
              return current;
            });
    return Optional.of(setScheduled(pod, true, ""));
  }

  private List<String> nodeNames() {
    return client.nodes().list().getItems().stream().map((Node node) -> node.getMetadata().getName()).toList();
  }

  /**
   * The node of an allocation, which must select it in exactly the form that kube-scheduler writes: one term with
   * {@code matchFields: metadata.name In [node]}.
   */
  static String nodeOf(AllocationResult allocation) {
    List<NodeSelectorTerm> terms =
        allocation.getNodeSelector() == null ? List.of() : allocation.getNodeSelector().getNodeSelectorTerms();
    if (terms.size() == 1 && terms.getFirst().getMatchExpressions().isEmpty()
        && terms.getFirst().getMatchFields().size() == 1) {
      var field = terms.getFirst().getMatchFields().getFirst();
      if (field.getKey().equals("metadata.name") && field.getOperator().equals("In") && field.getValues().size() == 1) {
        return field.getValues().getFirst();
      }
    }
    throw new IllegalStateException("the allocation's node selector does not select one node by name: " + terms);
  }

  private void reserve(ResourceClaim claim, Pod pod) {
    var reference =
        new ResourceClaimConsumerReference(null, pod.getMetadata().getName(), "pods", pod.getMetadata().getUid());
    var named = client.resources(ResourceClaim.class).inNamespace(claim.getMetadata().getNamespace())
        .withName(claim.getMetadata().getName());
    Conflicts.retry(
        () -> {
          ResourceClaim current = named.require();
          current.getStatus().getReservedFor().add(reference);
          client.resource(current).updateStatus();
        });
  }

  private PodResource current(Pod pod) {
    return client.pods().inNamespace(pod.getMetadata().getNamespace()).withName(pod.getMetadata().getName());
  }

  private Pod setScheduled(Pod pod, boolean scheduled, String message) {
    PodCondition condition =
        new PodConditionBuilder()
            .withType("PodScheduled")
            .withStatus(scheduled ? "True" : "False")
            .withReason(scheduled ? null : "Unschedulable")
            .withMessage(message.isEmpty() ? null : message)
            .withLastTransitionTime(Instant.now().toString())
            .build();
    return Conflicts.editStatus(client, pod,
        current -> {
          PodStatus status = current.getStatus() == null ? new PodStatus() : current.getStatus();
          boolean same =
              status.getConditions().stream()
                  .anyMatch(c -> c.getType().equals("PodScheduled") && c.getStatus().equals(condition.getStatus()));
          if (!same) {
            status.getConditions().removeIf(c -> c.getType().equals("PodScheduled"));
            status.getConditions().add(condition);
          }
          current.setStatus(status);
          return current;
        });
  }
}
