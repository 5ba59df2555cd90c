package dev.partita.controller.edge;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import dev.partita.api.ApiServerJson;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;

/**
 * Makes the controller's client. It reads no {@code metadata.managedFields}: they are a good part of every object that
 * the informers keep, and nothing here looks at them. An update without them does not change those that the server has.
 */
public final class ControllerClient {
  private ControllerClient() {}

  public static KubernetesClient of(Config config) {
    return new KubernetesClientBuilder().withConfig(config).withKubernetesSerialization(serialization()).build();
  }

  private static KubernetesSerialization serialization() {
    return new KubernetesSerialization(ApiServerJson.mapper().addMixIn(ObjectMeta.class, WithoutManagedFields.class),
        true);
  }

  @JsonIgnoreProperties("managedFields")
  private interface WithoutManagedFields {}
}
