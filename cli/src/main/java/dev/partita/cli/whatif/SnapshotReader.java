package dev.partita.cli.whatif;

import dev.partita.api.Driver;
import dev.partita.api.quota.GpuQuota;
import dev.partita.cli.fleet.FleetReader;
import dev.partita.controller.gang.PodGroup;
import dev.partita.controller.inventory.DeviceTaintRule;
import dev.partita.controller.inventory.DeviceTaintRuleV1Beta2;
import dev.partita.controller.whatif.ClusterSnapshot;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClass;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSlice;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;

/** Reads what the controller decides by from the API, with the user's own rights. */
final class SnapshotReader {
  private SnapshotReader() {}

  /**
   * The cluster as it is now.
   *
   * @throws KubernetesClientException if something of it cannot be listed
   */
  static ClusterSnapshot read(KubernetesClient client) {
    FleetReader fleet = new FleetReader(client);
    ClusterSnapshot.Cluster cluster =
        new ClusterSnapshot.Cluster(
            fleet.nodes(), client.nodes().list().getItems(), client.resources(DeviceClass.class).list().getItems(),
            client.namespaces().list().getItems(), client.resources(GpuQuota.class).list().getItems(),
            client.resources(ResourceSlice.class).list().getItems().stream()
                .filter(slice -> Driver.NAME.equals(slice.getSpec().getDriver()))
                .map(slice -> slice.getSpec().getNodeName()).filter(Objects::nonNull).collect(Collectors.toSet()),
            taintRules(client), ifServed(client, PodGroup.class));
    return new ClusterSnapshot(Instant.now(), cluster, fleet.claims(Optional.empty()),
        client.pods().inAnyNamespace().list().getItems());
  }

  private static List<DeviceTaintRule> taintRules(KubernetesClient client) {
    return ifServed(client, DeviceTaintRule.class)
        .or(() -> ifServed(client, DeviceTaintRuleV1Beta2.class).<List<DeviceTaintRule>>map(List::copyOf))
        .orElse(List.of());
  }

  /**
   * Empty where the API server does not serve the kind in that version. It is asked first what it serves: whoever may
   * not list a kind gets 403, and not 404, for one that is not served, too.
   */
  private static <T extends HasMetadata> Optional<List<T>> ifServed(KubernetesClient client, Class<T> kind) {
    return client.supports(kind)
        ? Optional.of(client.resources(kind).inAnyNamespace().list().getItems())
        : Optional.empty();
  }
}
