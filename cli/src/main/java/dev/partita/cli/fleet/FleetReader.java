package dev.partita.cli.fleet;

import dev.partita.api.node.GpuNode;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.List;
import java.util.Optional;

/** Reads cards and claims from the API. */
public final class FleetReader {
  private final KubernetesClient client;

  /** @param client with the user's rights */
  public FleetReader(KubernetesClient client) {
    this.client = client;
  }

  /**
   * Every GpuNode.
   *
   * @throws KubernetesClientException if they cannot be listed
   */
  public List<GpuNode> nodes() {
    return client.resources(GpuNode.class).list().getItems();
  }

  /**
   * The claims of a namespace, or of all.
   *
   * @throws KubernetesClientException if they cannot be listed
   */
  public List<ResourceClaim> claims(Optional<String> namespace) {
    return namespace.isPresent()
        ? client.resources(ResourceClaim.class).inNamespace(namespace.get()).list().getItems()
        : client.resources(ResourceClaim.class).inAnyNamespace().list().getItems();
  }
}
