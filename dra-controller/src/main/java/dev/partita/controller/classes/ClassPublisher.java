package dev.partita.controller.classes;

import dev.partita.api.Driver;
import dev.partita.controller.edge.ApiEdge;
import dev.partita.controller.edge.WriteKind;
import dev.partita.controller.inventory.Inventory;
import dev.partita.controller.watch.ClusterView;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClass;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClassBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceSelector;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes the DeviceClasses for the models of the cluster's cards. It leaves a class of such a name alone if somebody
 * else made it. It keeps classes of models that are gone, for templates refer to them. For one thread.
 */
public final class ClassPublisher {
  private static final Logger LOG = LoggerFactory.getLogger(ClassPublisher.class);

  private final KubernetesClient client;
  private final ApiEdge edge;
  private final ClusterView view;
  private final Set<String> foreign = new HashSet<>();

  public ClassPublisher(KubernetesClient client, ApiEdge edge, ClusterView view) {
    this.client = client;
    this.edge = edge;
    this.view = view;
  }

  /**
   * Makes the classes of these cards, and mends those that somebody changed. One that is refused, as by a policy of the
   * cluster's, keeps no other from being made.
   *
   * @throws KubernetesClientException the first refusal; or why the API server cannot be asked, before the rest is
   *         tried
   */
  public void publish(Inventory inventory) {
    List<KubernetesClientException> refusals = new ArrayList<>();
    ClassPlan.of(inventory).forEach((name, selectors) -> {
      try {
        publish(name, selectors);
      } catch (KubernetesClientException e) {
        if (ApiEdge.isTransient(e)) {
          throw e;
        }
        refusals.add(e);
      }
    });
    if (!refusals.isEmpty()) {
      throw refusals.getFirst();
    }
  }

  private void publish(String name, List<DeviceSelector> selectors) {
    @Nullable DeviceClass existing = view.deviceClass(name);
    if (existing == null) {
      DeviceClass fresh =
          new DeviceClassBuilder()
              .withNewMetadata()
              .withName(name)
              .addToLabels(Driver.MANAGED_BY_LABEL, Driver.MANAGED_BY_CONTROLLER)
              .endMetadata()
              .withNewSpec()
              .withSelectors(selectors)
              .endSpec()
              .build();
      try {
        edge.write(WriteKind.DEVICE_CLASS, () -> client.resource(fresh).create());
        LOG.info("deviceclass {} created", name);
      } catch (KubernetesClientException e) {
        if (!ApiEdge.isConflict(e)) {
          throw e;
        }
      }
    } else if (!isOurs(existing)) {
      if (foreign.add(name)) {
        LOG.warn("deviceclass {} has no label {}={}: it is left as it is", name, Driver.MANAGED_BY_LABEL,
            Driver.MANAGED_BY_CONTROLLER);
      }
    } else if (!selectors.equals(existing.getSpec().getSelectors())) {
      DeviceClass mended = new DeviceClassBuilder(existing).editSpec().withSelectors(selectors).endSpec().build();
      edge.write(WriteKind.DEVICE_CLASS, () -> client.resource(mended).update());
      LOG.info("deviceclass {} updated", name);
    }
  }

  private static boolean isOurs(DeviceClass existing) {
    Map<String, String> labels = Objects.requireNonNullElse(existing.getMetadata().getLabels(), Map.of());
    return Driver.MANAGED_BY_CONTROLLER.equals(labels.get(Driver.MANAGED_BY_LABEL));
  }
}
