package dev.partita.controller.quota;

import dev.partita.api.quota.GpuQuota;
import dev.partita.api.quota.GpuQuotaSpec;
import dev.partita.controller.inventory.Inventory;
import dev.partita.controller.watch.ClusterView;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Node;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * All that decides which quotas count which claims.
 *
 * @param quotas by name
 * @param namespaces labels of every namespace, by its name
 * @param nodes labels of every node with cards, by its name
 * @param inventory every node's cards
 */
public record QuotaWorld(
    SortedMap<String, GpuQuotaSpec> quotas,
    Map<String, Map<String, String>> namespaces,
    Map<String, Map<String, String>> nodes,
    Inventory inventory) {
  public static final QuotaWorld EMPTY = new QuotaWorld(new TreeMap<>(), Map.of(), Map.of(), Inventory.EMPTY);

  /**
   * The world as the view has it; without quotas it is empty but for the inventory, so that nothing depends on the
   * rest.
   */
  public static QuotaWorld of(ClusterView view, Inventory inventory) {
    SortedMap<String, GpuQuotaSpec> quotas = new TreeMap<>();
    for (GpuQuota quota : view.quotas()) {
      quotas.put(quota.getMetadata().getName(), quota.getSpec() == null ? GpuQuotaSpec.NOBODY : quota.getSpec());
    }
    if (quotas.isEmpty()) {
      return new QuotaWorld(quotas, Map.of(), Map.of(), inventory);
    }
    Map<String, Map<String, String>> nodes = new HashMap<>();
    for (String name : inventory.hosts().keySet()) {
      @Nullable Node node = view.node(name);
      nodes.put(name, node == null ? Map.of() : labels(node));
    }
    return new QuotaWorld(quotas, labels(view.namespaces()), nodes, inventory);
  }

  private static Map<String, Map<String, String>> labels(Collection<? extends HasMetadata> objects) {
    Map<String, Map<String, String>> labels = new HashMap<>();
    objects.forEach(object -> labels.put(object.getMetadata().getName(), labels(object)));
    return labels;
  }

  private static Map<String, String> labels(HasMetadata object) {
    return Objects.requireNonNullElse(object.getMetadata().getLabels(), Map.of());
  }
}
