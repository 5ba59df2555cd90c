package dev.partita.controller.nodestatus;

import dev.partita.api.MonotonicClock;
import dev.partita.api.node.GpuNode;
import dev.partita.controller.inventory.GpuHost;
import dev.partita.controller.slices.SlicePlan;
import dev.partita.controller.watch.ClusterView;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes the controller's own condition into the status of GpuNodes, the rest of which their plugins write. For one
 * thread.
 */
public final class NodeConditions {
  private static final Logger LOG = LoggerFactory.getLogger(NodeConditions.class);

  private final NodeStatusWriter writer;
  private final ClusterView view;
  private final Clock clock;
  private final CachedServerVersion version;

  public NodeConditions(KubernetesClient client, NodeStatusWriter writer, ClusterView view, Clock clock) {
    this.writer = writer;
    this.view = view;
    this.clock = clock;
    this.version = new CachedServerVersion(client::getKubernetesVersion, MonotonicClock.start());
  }

  /** Writes the condition if the node is to have another one. */
  public void tell(GpuNode node, GpuHost host) {
    Optional<Condition> wanted = SlicePlan.hasCounters(host)
        ? SchedulingCost.condition(host, view.nodeCount(), version.minor(), node, clock.instant())
        : Optional.empty();
    Optional<Condition> present = SchedulingCost.present(node);
    if (wanted.equals(present)) {
      return;
    }
    List<Condition> conditions = new ArrayList<>(node.getStatus().conditions());
    conditions.removeIf(condition -> GpuNode.SLOW_SCHEDULING.equals(condition.getType()));
    wanted.ifPresent(conditions::add);
    writer.write(node, node.getStatus().withConditions(conditions));
    wanted.ifPresent(condition -> LOG.warn("gpunode {}: {}", node.getMetadata().getName(), condition.getMessage()));
  }
}
