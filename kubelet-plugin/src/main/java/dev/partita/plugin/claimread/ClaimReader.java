package dev.partita.plugin.claimread;

import dev.partita.plugin.grant.ClaimRef;
import dev.partita.plugin.kube.ApiCalls;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.Optional;

/** Reads claims and pods from the API server, and repeats a call where that can help. */
public final class ClaimReader {
  private final KubernetesClient client;
  private final ApiCalls calls;

  public ClaimReader(KubernetesClient client, ApiCalls calls) {
    this.client = client;
    this.calls = calls;
  }

  /** The claim; empty if it is gone, or another one has its name. */
  public Optional<ResourceClaim> claim(ClaimRef claim) {
    return claim(claim.namespace(), claim.name()).filter(found -> claim.uid().equals(found.getMetadata().getUid()));
  }

  /** The claim of this name. */
  public Optional<ResourceClaim> claim(String namespace, String name) {
    return Optional.ofNullable(
        calls.call(() -> client.resources(ResourceClaim.class).inNamespace(namespace).withName(name).get()));
  }

  public Optional<Pod> pod(String namespace, String name) {
    return Optional.ofNullable(calls.call(() -> client.pods().inNamespace(namespace).withName(name).get()));
  }
}
