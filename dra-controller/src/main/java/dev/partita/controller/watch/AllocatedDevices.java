package dev.partita.controller.watch;

import io.fabric8.kubernetes.api.model.resource.v1.AllocationResult;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceRequestAllocationResult;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimStatus;
import java.util.List;
import java.util.Optional;

/** The devices that a claim has, of whichever driver. */
public final class AllocatedDevices {
  private AllocatedDevices() {}

  /** None if the claim is not allocated. */
  public static List<DeviceRequestAllocationResult> of(ResourceClaim claim) {
    return Optional.ofNullable(claim.getStatus())
        .map(ResourceClaimStatus::getAllocation)
        .map(AllocationResult::getDevices)
        .map(devices -> devices.getResults())
        .orElse(List.of());
  }
}
