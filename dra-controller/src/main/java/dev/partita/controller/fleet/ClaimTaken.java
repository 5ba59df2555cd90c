package dev.partita.controller.fleet;

import dev.partita.controller.booking.Booking;
import dev.partita.controller.claim.AllocatedClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.util.List;

/**
 * What was read of one ResourceClaim: the devices that it is allocated, or is about to be, and what it takes of their
 * cards.
 *
 * @param uid of the claim
 * @param devices what it has
 * @param bookings what these take
 */
record ClaimTaken(String uid, List<ClaimDevice> devices, List<Booking> bookings) {
  ClaimTaken {
    devices = List.copyOf(devices);
    bookings = List.copyOf(bookings);
  }

  static ClaimTaken of(ResourceClaim claim) {
    List<ClaimDevice> devices =
        AllocatedClaim.isAllocated(claim) ? ClaimDevice.of(claim) : ClaimDevice.proposedFor(claim);
    return new ClaimTaken(claim.getMetadata().getUid(), devices,
        devices.stream().map(ClaimDevice::booking).toList());
  }
}
