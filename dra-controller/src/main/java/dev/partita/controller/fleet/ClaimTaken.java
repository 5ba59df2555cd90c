package dev.partita.controller.fleet;

import dev.partita.controller.booking.Booking;
import dev.partita.controller.claim.AllocatedClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.util.List;

/**
 * What was read of one ResourceClaim: the devices that it is allocated, and what it takes of their cards.
 *
 * @param uid of the claim
 * @param devices what it has
 * @param bookings what it takes: of its devices, or of those that are only proposed for it
 */
record ClaimTaken(String uid, List<ClaimDevice> devices, List<Booking> bookings) {
  ClaimTaken {
    devices = List.copyOf(devices);
    bookings = List.copyOf(bookings);
  }

  static ClaimTaken of(ResourceClaim claim) {
    List<ClaimDevice> devices = ClaimDevice.of(claim);
    return new ClaimTaken(claim.getMetadata().getUid(), devices,
        devices.isEmpty() ? AllocatedClaim.taken(claim) : devices.stream().map(ClaimDevice::booking).toList());
  }
}
