package dev.partita.controller.state;

import dev.partita.controller.watch.ClusterObjects;
import io.fabric8.kubernetes.api.model.Node;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** What waiting pods depend on of a Node, so that its heartbeats wake none of them. For one thread. */
public final class NodeFacts {
  private final ClusterObjects view;
  private final Map<String, List<Object>> known = new HashMap<>();
  private final Map<String, Boolean> offeredToScheduler = new HashMap<>(); // those with slices

  public NodeFacts(ClusterObjects view) {
    this.view = view;
  }

  /** Whether the node has changed, since this was last asked, in a way that could make room for a pod. */
  public boolean changed(String name) {
    @Nullable Node node = view.node(name);
    if (node == null) {
      known.remove(name);
      return false;
    }
    List<Object> facts =
        List.of(
            Objects.requireNonNullElse(node.getMetadata().getLabels(), Map.of()),
            node.getSpec() == null ? "" : Objects.requireNonNullElse(node.getSpec().getTaints(), List.of()),
            node.getSpec() != null && Boolean.TRUE.equals(node.getSpec().getUnschedulable()),
            node.getStatus() == null ? "" : Objects.requireNonNullElse(node.getStatus().getAllocatable(), Map.of()));
    return !facts.equals(known.put(name, facts));
  }

  /** Whether the node's slices have appeared since this was last asked, or are offered to kube-scheduler no more. */
  public boolean published(String node) {
    if (!view.isPublished(node)) {
      offeredToScheduler.remove(node);
      return false;
    }
    boolean offered = view.isOfferedToScheduler(node);
    @Nullable Boolean before = offeredToScheduler.put(node, offered);
    return before == null || (before && !offered);
  }
}
