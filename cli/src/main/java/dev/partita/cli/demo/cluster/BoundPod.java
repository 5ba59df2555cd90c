package dev.partita.cli.demo.cluster;

import dev.partita.api.Bytes;
import dev.partita.api.Driver;
import dev.partita.api.device.CapacityName;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceRequestAllocationResult;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;

/** A pod whose claim is allocated and that is bound to the allocation's node. */
public record BoundPod(Workload workload, Pod pod, ResourceClaim claim, SimulatedNode node) {
  public DeviceRequestAllocationResult result() {
    return resultOf(claim);
  }

  /** The device that our driver gives a claim. */
  public static DeviceRequestAllocationResult resultOf(ResourceClaim claim) {
    return claim.getStatus().getAllocation().getDevices().getResults().stream()
        .filter(result -> result.getDriver().equals(Driver.NAME))
        .findFirst()
        .orElseThrow();
  }

  /** Bytes of memory that the claim's device consumes. */
  public static long memoryOf(ResourceClaim claim) {
    Quantity memory = resultOf(claim).getConsumedCapacity().get(CapacityName.MEMORY);
    return memory == null ? 0 : Bytes.of(memory);
  }

  /** The card: pool and device. */
  public String card() {
    return result().getPool() + "/" + result().getDevice();
  }

  public String uid() {
    return claim.getMetadata().getUid();
  }
}
