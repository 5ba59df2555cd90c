package dev.partita.plugin.podresources;

import dev.partita.plugin.claim.CdiName;
import dev.partita.plugin.claimread.ClaimReader;
import dev.partita.plugin.container.ContainerView;
import dev.partita.plugin.grant.ClaimRef;
import dev.partita.plugin.usage.measure.DevicePods;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Asks kubelet which pods have a claim's devices, and the API server for the UIDs of these pods, which kubelet does not
 * tell. A pod that has got another's name since does not count unless it names the claim as well.
 */
public final class PodsOfClaims implements DevicePods {
  private final ContainerDevices kubelet;
  private final ClaimReader api;

  /** @param socket kubelet's, such as /var/lib/kubelet/pod-resources/kubelet.sock */
  public PodsOfClaims(Path socket, ClaimReader api) {
    this.kubelet = new ContainerDevices(socket, "processes of pods whose PodGroup has a claim may not be told apart");
    this.api = api;
  }

  /**
   * @throws io.fabric8.kubernetes.client.KubernetesClientException if the API server does not answer
   */
  @Override
  public Optional<Set<String>> of(ClaimRef claim) {
    return kubelet.ask().map(containers -> of(claim, containers));
  }

  private Set<String> of(ClaimRef claim, Map<String, List<ContainerRef>> containers) {
    return containers.entrySet().stream()
        .filter(device -> CdiName.isOf(claim, device.getKey()))
        .flatMap(device -> device.getValue().stream())
        .filter(container -> container.namespace().equals(claim.namespace()))
        .map(ContainerRef::pod).distinct()
        .flatMap(name -> api.pod(claim.namespace(), name).stream())
        .filter(pod -> ContainerView.claimNames(pod).contains(claim.name()))
        .map(pod -> pod.getMetadata().getUid())
        .collect(Collectors.toUnmodifiableSet());
  }
}
