package dev.partita.cli.doctor;

import dev.partita.controller.claim.PodClaims;
import dev.partita.controller.nodes.NodeFit;
import io.fabric8.kubernetes.api.model.Affinity;
import io.fabric8.kubernetes.api.model.NodeAffinity;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodCondition;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BinaryOperator;
import org.jspecify.annotations.Nullable;

/** Whether the plugin runs where it is to. */
final class PluginChecks {
  private static final String PLUGIN = "node plugin";

  /**
   * An evicted pod stays in the list beside the one that took its place, and in a rolling update one that waits for
   * room stands beside the one that runs.
   */
  private static final Comparator<Pod> CURRENT =
      Comparator.comparing((Pod pod) -> !PodClaims.hasEnded(pod)).thenComparing(PodClaims::isBound)
          .thenComparing(pod -> String.valueOf(pod.getMetadata().getCreationTimestamp()));

  private final Reading<List<Pod>> pods;
  private final Map<String, Pod> byNode = new HashMap<>();
  private final Snapshot.Installation partita;

  /**
   * @param pods of the plugin, in the namespace where Partita is looked for
   * @param partita what else is there
   */
  PluginChecks(Reading<List<Pod>> pods, Snapshot.Installation partita) {
    this.pods = pods;
    this.partita = partita;
    if (pods instanceof Reading.Known<List<Pod>>(List<Pod> all)) {
      for (Pod pod : all) {
        node(pod).ifPresent(node -> byNode.merge(node, pod, BinaryOperator.maxBy(CURRENT)));
      }
    }
  }

  /** Where it runs, or may run alone: each pod of a DaemonSet is for one node, whether it is scheduled or not. */
  private static Optional<String> node(Pod pod) {
    return PodClaims.isBound(pod)
        ? Optional.of(pod.getSpec().getNodeName())
        : Optional.ofNullable(pod.getSpec().getAffinity()).map(Affinity::getNodeAffinity)
            .map(NodeAffinity::getRequiredDuringSchedulingIgnoredDuringExecution).flatMap(NodeFit::onlyNode);
  }

  /** Those that a pod of the plugin is for, running or not. */
  Set<String> nodes() {
    return byNode.keySet();
  }

  /** The pod that is for the node; null if there is none, or pods could not be read. */
  @Nullable
  Pod pod(String node) {
    return byNode.get(node);
  }

  /** What is to be said of no node by name. */
  List<Finding> ofAll() {
    List<Finding> findings = new ArrayList<>(pods.needed(PLUGIN, "install the chart"));
    if (pods instanceof Reading.Known && byNode.isEmpty()) {
      findings.add(
          partita.controller() instanceof Reading.Missing
              ? Finding.fail(PLUGIN, "", "none runs in namespace " + partita.namespace(),
                  "name Partita's namespace with --partita-namespace, or install the chart")
              : Finding.fail(PLUGIN, "", "runs on no node",
                  "look at the DaemonSet partita-kubelet-plugin, its nodeSelector and its tolerations"));
    }
    return findings;
  }

  /** What is to be said of a node that has a plugin, or a GpuNode, which was written by one. */
  List<Finding> of(String node) {
    @Nullable Pod pod = pod(node);
    if (pod == null) {
      return pods instanceof Reading.Known && isPartitaThere()
          ? List.of(Finding.warn(PLUGIN, node, "no plugin runs there any more, but its GpuNode is there",
              "if it is to have none: kubectl delete gpunode " + node))
          : List.of();
    }
    String name = pod.getMetadata().getNamespace() + " " + pod.getMetadata().getName();
    if (!PodClaims.isBound(pod)) {
      return List.of(Finding.fail(PLUGIN, node, "is not scheduled" + whyNotScheduled(pod),
          "make room for it on the node, or have it ask for less (plugin.resources); kubectl describe pod -n " + name));
    }
    return List.of(
        PodClaims.isReady(pod)
            ? Finding.ok(PLUGIN, node, "is ready")
            : Finding.fail(PLUGIN, node, "is not ready",
                "kubectl describe pod -n " + name + "; kubectl logs -n " + name));
  }

  /** Whether Partita is in this namespace at all: otherwise its plugins may well run in another one. */
  private boolean isPartitaThere() {
    return !byNode.isEmpty() || partita.controller() instanceof Reading.Known;
  }

  private static String whyNotScheduled(Pod pod) {
    return pod.getStatus() == null
        ? ""
        : pod.getStatus().getConditions().stream()
            .filter(condition -> "PodScheduled".equals(condition.getType()) && condition.getMessage() != null)
            .map(PodCondition::getMessage).map(message -> ": " + message).findFirst().orElse("");
  }
}
