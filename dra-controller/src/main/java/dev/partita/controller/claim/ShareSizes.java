package dev.partita.controller.claim;

import dev.partita.api.Driver;
import dev.partita.api.device.DeviceStatusData;
import dev.partita.api.resize.GrantedSizes;
import dev.partita.api.resize.ShareSize;
import io.fabric8.kubernetes.api.model.resource.v1.AllocatedDeviceStatus;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceRequestAllocationResult;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.util.List;
import java.util.Optional;

/**
 * How much of its card a share has.
 *
 * @param allocated what the allocation gave it
 * @param granted what the controller has granted last: that, or by a resize
 * @param inForce what its containers are held to, as far as its node has said so
 */
public record ShareSizes(ShareSize allocated, ShareSize granted, ShareSize inForce) {
  /** Those of a share of known size. */
  static ShareSizes of(ResourceClaim claim, DeviceRequestAllocationResult result) {
    return ofResized(claim, result).orElseGet(() -> {
      ShareSize allocated = allocated(result);
      return new ShareSizes(allocated, allocated, allocated);
    });
  }

  /**
   * Those of a share that was resized; empty if it was not. One that is to have again what it was allocated is granted
   * nothing any more, and counts as resized as long as its node says which size is in force.
   */
  static Optional<ShareSizes> ofResized(ResourceClaim claim, DeviceRequestAllocationResult result) {
    Optional<ShareSize> granted = GrantedSizes.of(claim).ofShare(result.getShareID());
    Optional<ShareSize> inForce = inForce(claim, result);
    if (granted.isEmpty() && inForce.isEmpty()) {
      return Optional.empty();
    }
    ShareSize allocated = allocated(result);
    return Optional.of(new ShareSizes(allocated, granted.orElse(allocated), inForce.orElse(allocated)));
  }

  /**
   * What counts as taken: a larger size from when it is granted, and a smaller one from when it is in force. Until then
   * the share's processes may hold what it had before.
   */
  public ShareSize booked() {
    return granted.max(inForce);
  }

  private static ShareSize allocated(DeviceRequestAllocationResult result) {
    return new ShareSize(Math.max(1, AllocatedClaim.memory(result)), AllocatedClaim.cores(result));
  }

  private static Optional<ShareSize> inForce(ResourceClaim claim, DeviceRequestAllocationResult result) {
    List<AllocatedDeviceStatus> devices =
        claim.getStatus() == null || claim.getStatus().getDevices() == null
            ? List.of()
            : claim.getStatus().getDevices();
    return devices.stream()
        .filter(device -> Driver.NAME.equals(device.getDriver()) && device.getShareID() != null
            && device.getShareID().equals(result.getShareID()))
        .findFirst()
        .flatMap(DeviceStatusData.SIZE_IN_FORCE::in)
        .flatMap(ShareSize::parse);
  }
}
