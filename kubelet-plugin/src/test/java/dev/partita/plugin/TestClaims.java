package dev.partita.plugin;

import dev.partita.api.Driver;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodResourceClaimBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceAllocationConfiguration;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceAllocationConfigurationBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceRequestAllocationResult;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceRequestAllocationResultBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimConsumerReference;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;

/** Allocated claims for tests. */
public final class TestClaims {
  private TestClaims() {}

  /** A share of a card; an empty amount leaves the capacity out. */
  public static DeviceRequestAllocationResult share(
      String node,
      String request,
      int card,
      String memory,
      String cores) {
    Map<String, Quantity> consumed = new TreeMap<>();
    if (!memory.isEmpty()) {
      consumed.put("memory", new Quantity(memory));
    }
    if (!cores.isEmpty()) {
      consumed.put("cores", new Quantity(cores));
    }
    return new DeviceRequestAllocationResultBuilder()
        .withRequest(request)
        .withDriver(Driver.NAME)
        .withPool(Driver.poolOf(node))
        .withDevice("gpu-" + card + "-shared")
        .withShareID(UUID.randomUUID().toString())
        .withConsumedCapacity(consumed)
        .build();
  }

  public static DeviceRequestAllocationResult whole(String node, String request, int card) {
    return new DeviceRequestAllocationResultBuilder()
        .withRequest(request)
        .withDriver(Driver.NAME)
        .withPool(Driver.poolOf(node))
        .withDevice("gpu-" + card)
        .build();
  }

  /** A MIG instance, by profile and place as names of devices say them: {@code 1g-18gb-6}. */
  public static DeviceRequestAllocationResult instance(String node, String request, int card, String slot) {
    return new DeviceRequestAllocationResultBuilder()
        .withRequest(request)
        .withDriver(Driver.NAME)
        .withPool(Driver.poolOf(node))
        .withDevice("gpu-" + card + "-mig-" + slot)
        .build();
  }

  /** A share of a MIG instance. */
  public static DeviceRequestAllocationResult instanceShare(
      String node,
      String request,
      int card,
      String slot,
      String memory) {
    return new DeviceRequestAllocationResultBuilder(share(node, request, card, memory, ""))
        .withDevice("gpu-" + card + "-mig-" + slot + "-shared")
        .build();
  }

  public static DeviceAllocationConfiguration config(
      String source,
      List<String> requests,
      Map<String, Object> parameters) {
    return new DeviceAllocationConfigurationBuilder()
        .withSource(source)
        .withRequests(requests)
        .withNewOpaque()
        .withDriver(Driver.NAME)
        .withParameters(parameters)
        .endOpaque()
        .build();
  }

  /** Has cards in turn with others. */
  public static DeviceAllocationConfiguration timeSlicing(String interval) {
    return config("FromClaim", List.of(), Map.of("apiVersion", Driver.GROUP_VERSION, "kind", "GpuShareConfig",
        "sharing", Map.of("strategy", "TimeSlicing", "interval", interval)));
  }

  /** Shares cards with others by MPS. */
  public static DeviceAllocationConfiguration byMps() {
    return config("FromClaim", List.of(), Map.of("apiVersion", Driver.GROUP_VERSION, "kind", "GpuShareConfig",
        "sharing", Map.of("strategy", "MPS")));
  }

  public static ResourceClaim claim(String name, DeviceRequestAllocationResult... results) {
    return claim(name, List.of(), results);
  }

  public static ResourceClaim claim(
      String name,
      List<DeviceAllocationConfiguration> configs,
      DeviceRequestAllocationResult... results) {
    return new ResourceClaimBuilder()
        .withNewMetadata()
        .withName(name)
        .withNamespace("default")
        .withUid(UUID.randomUUID().toString())
        .endMetadata()
        .withNewSpec()
        .endSpec()
        .withNewStatus()
        .withNewAllocation()
        .withNewDevices()
        .withResults(results)
        .withConfig(configs)
        .endDevices()
        .endAllocation()
        .endStatus()
        .build();
  }

  /** The claim, reserved for a pod. */
  public static ResourceClaim reserved(ResourceClaim claim, Pod pod) {
    claim
        .getStatus()
        .setReservedFor(List.of(
            new ResourceClaimConsumerReference("", pod.getMetadata().getName(), "pods", pod.getMetadata().getUid())));
    return claim;
  }

  /** A pod whose only container uses all of these claims. */
  public static Pod podOf(String name, List<String> claims) {
    return new PodBuilder()
        .withNewMetadata()
        .withName(name)
        .withNamespace("default")
        .endMetadata()
        .withNewSpec()
        .withResourceClaims(claims.stream()
            .map(claim -> new PodResourceClaimBuilder().withName(claim).withResourceClaimName(claim).build()).toList())
        .addNewContainer()
        .withName("main")
        .withNewResources()
        .withClaims(claims.stream()
            .map(claim -> new io.fabric8.kubernetes.api.model.ResourceClaimBuilder().withName(claim).build()).toList())
        .endResources()
        .endContainer()
        .endSpec()
        .build();
  }
}
