package dev.partita.cli.cluster.install;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.DaemonSetStatus;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The nodes that are to have cards: where the plugin's DaemonSet places a pod, by the chart's values and the labels.
 */
sealed interface PluginNodes {
  /**
   * The DaemonSet has placed all of its pods.
   *
   * @param names of their nodes, sorted and at least one; without those that were not Ready before the plugin came, on
   *        which it cannot start
   */
  record Known(List<String> names) implements PluginNodes {}

  /**
   * The DaemonSet has not placed all of its pods yet, or is for no node.
   *
   * @param why what is missing
   */
  record NotYet(String why) implements PluginNodes {}

  /**
   * Decides by what was read in this order.
   *
   * @param plugin the DaemonSet
   * @param pods those that its selector matches
   * @param nodes all of the cluster
   */
  static PluginNodes of(DaemonSet plugin, List<Pod> pods, List<Node> nodes) {
    String name = "the DaemonSet " + plugin.getMetadata().getName();
    @Nullable DaemonSetStatus status = plugin.getStatus();
    if (status == null || status.getObservedGeneration() == null
        || status.getObservedGeneration() < plugin.getMetadata().getGeneration()) {
      return new NotYet(name + " has no pods yet: no controller has looked at it");
    }
    int wanted = Objects.requireNonNullElse(status.getDesiredNumberScheduled(), 0);
    if (wanted == 0) {
      return new NotYet(name + " is for no node: look at plugin.nodeSelector and the labels of the nodes");
    }
    Set<String> placed = pods.stream().filter(pod -> pod.getMetadata().getDeletionTimestamp() == null)
        .map(pod -> pod.getSpec().getNodeName()).filter(Objects::nonNull).collect(Collectors.toSet());
    if (placed.size() < wanted) {
      return new NotYet("%s has pods on %d of %d nodes".formatted(name, placed.size(), wanted));
    }
    Instant installed = Instant.parse(plugin.getMetadata().getCreationTimestamp());
    Set<String> notReady = nodes.stream().filter(node -> wasNotReady(node, installed))
        .map(node -> node.getMetadata().getName()).collect(Collectors.toSet());
    List<String> names = placed.stream().filter(node -> !notReady.contains(node)).sorted().toList();
    return names.isEmpty() ? new NotYet("no node on which " + name + " has a pod is Ready") : new Known(names);
  }

  /** Whether it was not then and is not yet. A node that is not Ready for a moment afterwards is waited for. */
  private static boolean wasNotReady(Node node, Instant then) {
    return node.getStatus() != null && node.getStatus().getConditions().stream()
        .filter(condition -> "Ready".equals(condition.getType()) && !"True".equals(condition.getStatus()))
        .anyMatch(condition -> condition.getLastTransitionTime() != null
            && Instant.parse(condition.getLastTransitionTime()).isBefore(then));
  }
}
