package dev.partita.e2e.cluster;

import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Partita's containers that look after one node: the controllers' and those of the node's plugin.
 *
 * @param starts how often each has been started again so far, by its pod and UID
 */
public record OurContainers(Map<String, Integer> starts) {
  /** As they are now. */
  public static OurContainers of(RealCluster cluster, String node) {
    List<Pod> controllers = Daemons.ready(cluster.client(), Controllers.LABELS);
    Pod plugin = new Daemons(cluster.client()).awaitPlugin(node);
    Map<String, Integer> starts = new TreeMap<>();
    Stream.concat(controllers.stream(), Stream.of(plugin)).forEach(pod -> count(pod, starts));
    return new OurContainers(starts);
  }

  private static void count(Pod pod, Map<String, Integer> starts) {
    String name = pod.getMetadata().getName() + " " + pod.getMetadata().getUid();
    pod.getStatus().getContainerStatuses().stream()
        .mapToInt(ContainerStatus::getRestartCount)
        .forEach(count -> starts.merge(name, count, Integer::sum));
  }
}
