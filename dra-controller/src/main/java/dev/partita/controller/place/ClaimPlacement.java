package dev.partita.controller.place;

import dev.partita.controller.booking.Booking;
import dev.partita.controller.inventory.Device;
import dev.partita.controller.request.ClaimRef;
import dev.partita.controller.request.DeviceAsk;
import java.util.List;

/** A claim's devices, in the order of its requests. */
public record ClaimPlacement(ClaimRef claim, List<DevicePlacement> devices) {
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

  /**
   * A device for a request.
   *
   * @param request which ask of the claim it serves
   * @param memory bytes that a share takes; 0 for a whole card or a MIG instance
   * @param cores percent that a share takes; 0 for a whole card or a MIG instance
   */
  public record DevicePlacement(DeviceAsk request, Device device, long memory, int cores) {}
}
