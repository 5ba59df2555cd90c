package dev.partita.controller.allocate;

import dev.partita.controller.inventory.Device;
import java.util.List;

/** What the allocator decided for all the claims of a pod. */
public sealed interface Outcome {
  /** Every claim has its devices, all of them on one node. */
  record Allocated(String node, List<ClaimPlacement> claims) implements Outcome {
    public Allocated {
      claims = List.copyOf(claims);
    }
  }

  /** No node can meet all of them. */
  record Unallocatable(Explanation explanation) implements Outcome {}

  /** A claim's devices, in the order of its requests. */
  record ClaimPlacement(ClaimRef claim, List<DevicePlacement> devices) {
    public ClaimPlacement {
      devices = List.copyOf(devices);
    }

    /** What the claim takes of the cards; what it only looks at is not there. */
    public List<Booking> bookings() {
      return devices.stream()
          .filter(d -> d.request().access() == DeviceAsk.Access.OWN)
          .map(d -> Booking.of(d.device(), d.memory(), d.cores(), d.request().placement().exclusive()))
          .toList();
    }
  }

  /**
   * A device for a request.
   *
   * @param request which ask of the claim it serves
   * @param memory bytes that a share takes; 0 for a whole card or a MIG instance
   * @param cores percent that a share takes; 0 for a whole card or a MIG instance
   */
  record DevicePlacement(DeviceAsk request, Device device, long memory, int cores) {}
}
