package dev.partita.cli.whatif;

import dev.partita.api.Driver;
import dev.partita.api.quota.GpuQuota;
import dev.partita.cli.fleet.FleetReader;
import dev.partita.controller.gang.PodGroup;
import dev.partita.controller.inventory.DeviceTaintRule;
import dev.partita.controller.inventory.DeviceTaintRuleV1Beta2;
import dev.partita.controller.whatif.ClusterSnapshot;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClass;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSlice;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.net.HttpURLConnection;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;
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
            taintRules(client), ifServed(() -> client.resources(PodGroup.class).inAnyNamespace().list().getItems()));
    return new ClusterSnapshot(Instant.now(), cluster, fleet.claims(Optional.empty()),
        client.pods().inAnyNamespace().list().getItems());
  }

  private static List<DeviceTaintRule> taintRules(KubernetesClient client) {
    return ifServed(() -> client.resources(DeviceTaintRule.class).list().getItems())
        .or(() -> ifServed(() -> List.copyOf(client.resources(DeviceTaintRuleV1Beta2.class).list().getItems())))
        .orElse(List.of());
  }

  /** Empty where the API server does not serve the kind in that version: it answers 404. */
  private static <T> Optional<T> ifServed(Supplier<T> list) {
    try {
      return Optional.of(list.get());
    } catch (KubernetesClientException e) {
      if (e.getCode() == HttpURLConnection.HTTP_NOT_FOUND) {
        return Optional.empty();
      }
      throw e;
    }
  }
}
