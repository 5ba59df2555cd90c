package dev.partita.controller.nodestatus;

import dev.partita.api.node.GpuNode;
import dev.partita.api.node.GpuNodeStatus;
import dev.partita.controller.edge.ApiEdge;
import dev.partita.controller.edge.WriteKind;
import io.fabric8.kubernetes.client.KubernetesClient;

/** Writes what the controller has to say into the status of GpuNodes, the rest of which is their plugins'. */
public record NodeStatusWriter(KubernetesClient client, ApiEdge edge) {
  /**
   * Writes the status.
   *
   * @param node as it was read: the API server refuses with a conflict what its plugin has written meanwhile
   */
  void write(GpuNode node, GpuNodeStatus status) {
    GpuNode changed = new GpuNode();
    changed.setMetadata(node.getMetadata());
    changed.setSpec(node.getSpec());
    changed.setStatus(status);
    edge.write(WriteKind.GPUNODE_STATUS, () -> client.resource(changed).updateStatus());
  }
}
