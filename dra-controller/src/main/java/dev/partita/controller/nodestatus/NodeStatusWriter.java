package dev.partita.controller.nodestatus;

import dev.partita.api.node.GpuNode;
import dev.partita.api.node.GpuNodeStatus;
import dev.partita.controller.edge.ApiEdge;
import dev.partita.controller.edge.JsonPatch;
import dev.partita.controller.edge.WriteKind;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;

/** Writes what the controller has to say into the status of GpuNodes, the rest of which is their plugins'. */
public record NodeStatusWriter(KubernetesClient client, ApiEdge edge) {
  /**
   * Writes those fields of the status that are others now. The rest stays as it is, also what a newer plugin reports
   * and this release does not know.
   *
   * @param node as it was read: the API server refuses with a conflict what its plugin has written meanwhile
   */
  void write(GpuNode node, GpuNodeStatus status) {
    Map<String, Object> before = fields(node.getStatus());
    Map<String, Object> now = fields(status);
    Set<String> names = new TreeSet<>(before.keySet());
    names.addAll(now.keySet());
    names.removeIf(name -> Objects.equals(before.get(name), now.get(name)));
    JsonPatch patch = new JsonPatch().replace("/metadata/resourceVersion", node.getMetadata().getResourceVersion());
    for (String name : names) {
      if (now.containsKey(name)) {
        patch.add("/status/" + name, now.get(name));
      } else {
        patch.remove("/status/" + name);
      }
    }
    patch.applyToStatus(client, edge, WriteKind.GPUNODE_STATUS, node);
  }

  @SuppressWarnings("unchecked") // an object is a map
  private Map<String, Object> fields(GpuNodeStatus status) {
    return client.getKubernetesSerialization().convertValue(status, Map.class);
  }
}
