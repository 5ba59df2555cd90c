package dev.partita.controller;

import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceRequestBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceToleration;
import io.fabric8.kubernetes.api.model.resource.v1.ExactDeviceRequestBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimBuilder;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A claim in the namespace default with one request, {@code gpu}, as tests fill it in. */
public final class ClaimForm {
  private final String name;
  private final ExactDeviceRequestBuilder request = new ExactDeviceRequestBuilder();
  private final Map<String, Object> config = new HashMap<>();

  public ClaimForm(String name, String className) {
    this.name = name;
    request.withDeviceClassName(className);
  }

  public ClaimForm capacity(Map<String, String> amounts) {
    Map<String, Quantity> requests = new HashMap<>();
    amounts.forEach((capacity, amount) -> requests.put(capacity, new Quantity(amount)));
    request.withNewCapacity().withRequests(requests).endCapacity();
    return this;
  }

  ClaimForm count(long count) {
    request.withCount(count);
    return this;
  }

  ClaimForm tolerations(List<DeviceToleration> tolerations) {
    request.withTolerations(tolerations);
    return this;
  }

  /** Only devices of which this CEL expression holds; all, if it is empty. */
  ClaimForm selector(String expression) {
    if (!expression.isEmpty()) {
      request.addNewSelector().withNewCel(expression).endSelector();
    }
    return this;
  }

  /** To look at all devices of the class. */
  ClaimForm asAdmin() {
    request.withAllocationMode("All").withAdminAccess(true);
    return this;
  }

  /** Fields of the opaque config; there is none without fields. */
  public ClaimForm config(Map<String, Object> fields) {
    config.putAll(fields);
    return this;
  }

  public ResourceClaim claim() {
    ResourceClaimBuilder claim =
        new ResourceClaimBuilder()
            .withNewMetadata()
            .withName(name)
            .withNamespace("default")
            .endMetadata()
            .withNewSpec()
            .withNewDevices()
            .addToRequests(new DeviceRequestBuilder().withName("gpu").withExactly(request.build()).build())
            .endDevices()
            .endSpec();
    if (!config.isEmpty()) {
      Map<String, Object> parameters = new HashMap<>(config);
      parameters.put("apiVersion", "gpu.partita.dev/v1alpha1");
      parameters.put("kind", "GpuShareConfig");
      claim.editSpec().editDevices().addNewConfig().withNewOpaque("gpu.partita.dev", parameters).endConfig()
          .endDevices().endSpec();
    }
    return claim.build();
  }
}
