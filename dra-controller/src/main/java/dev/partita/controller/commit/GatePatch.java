package dev.partita.controller.commit;

import dev.partita.api.Driver;
import dev.partita.controller.claim.AllocationGate;
import dev.partita.controller.edge.ApiEdge;
import dev.partita.controller.edge.JsonPatch;
import dev.partita.controller.edge.WriteKind;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.Optional;

/**
 * The patch that removes the {@link AllocationGate} from a pod. It names the gate by its place among the pod's gates,
 * which changes when somebody else removes one: then the API server refuses it, and it is made anew.
 */
public record GatePatch(KubernetesClient client, ApiEdge edge) {
  private static final int ATTEMPTS = 5;

  /**
   * Removes the gate if the pod has it.
   *
   * @return the pod as it is then, with the gate if other writes came first every time; empty if it is gone, or is
   *         another one of that name
   */
  public Optional<Pod> removed(Pod pod) {
    Optional<Pod> now = Optional.of(pod);
    for (int i = 0; i < ATTEMPTS && now.filter(AllocationGate::isOn).isPresent(); i++) {
      now = patched(now.get()).filter(it -> isSame(it, pod));
    }
    return now;
  }

  /** After the patch; as it is now if the patch did not meet the pod that it was made for. */
  private Optional<Pod> patched(Pod pod) {
    String gate = "/spec/schedulingGates/" + AllocationGate.index(pod);
    try {
      return Optional.of(new JsonPatch()
          .test("/metadata/uid", pod.getMetadata().getUid())
          .test(gate + "/name", Driver.ALLOCATION_GATE)
          .remove(gate)
          .apply(client, edge, WriteKind.GATE, pod));
    } catch (KubernetesClientException e) {
      if (JsonPatch.isOutdated(e) || ApiEdge.isNotFound(e)) {
        return Optional.ofNullable(client.resource(pod).get());
      }
      throw e;
    }
  }

  static boolean isSame(Pod now, Pod pod) {
    return now.getMetadata().getUid().equals(pod.getMetadata().getUid());
  }
}
