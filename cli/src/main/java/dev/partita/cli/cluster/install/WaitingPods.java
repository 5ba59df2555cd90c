package dev.partita.cli.cluster.install;

import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Why Partita's own pods do not run: mostly images that the nodes cannot pull. */
public final class WaitingPods {
  private WaitingPods() {}

  /**
   * One clause, such as {@code "; its pods wait: ErrImagePull of registry.example/partita/kubelet-plugin:v1"}; empty if
   * none waits.
   */
  public static String in(KubernetesClient client, String namespace) {
    String reasons = reasons(client.pods().inNamespace(namespace).list().getItems());
    return reasons.isEmpty() ? "" : "; its pods wait: " + reasons;
  }

  static String reasons(List<Pod> pods) {
    return pods.stream()
        .filter(pod -> pod.getStatus() != null)
        .flatMap(
            pod -> Stream.concat(
                pod.getStatus().getInitContainerStatuses().stream(), pod.getStatus().getContainerStatuses().stream()))
        .filter(WaitingPods::isStuck)
        .map(container -> container.getState().getWaiting().getReason() + " of " + container.getImage())
        .collect(Collectors.toCollection(TreeSet::new))
        .stream()
        .collect(Collectors.joining(", "));
  }

  /** A container that waits for its init containers says PodInitializing: that is not what it lacks. */
  private static boolean isStuck(ContainerStatus container) {
    return container.getState() != null
        && container.getState().getWaiting() != null
        && container.getState().getWaiting().getReason() != null
        && !container.getState().getWaiting().getReason().equals("PodInitializing");
  }
}
