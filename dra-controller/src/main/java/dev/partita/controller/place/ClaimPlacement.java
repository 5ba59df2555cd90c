package dev.partita.controller.place;

import dev.partita.controller.booking.Booking;
import dev.partita.controller.inventory.Device;
import dev.partita.controller.match.MatchResult.Match;
import dev.partita.controller.request.ClaimRef;
import dev.partita.controller.request.DeviceRequest;
import java.util.List;

/** A claim's devices, in the order of its requests. */
public record ClaimPlacement(ClaimRef claim, List<DevicePlacement> devices) {
  public ClaimPlacement {
    devices = List.copyOf(devices);
  }

  /** What the claim takes of the cards. Devices with adminAccess take nothing. */
  public List<Booking> bookings() {
    return devices.stream().flatMap(placement -> placement.given().booking().stream()).toList();
  }

  /**
   * A device for a request.
   *
   * @param request which request of the claim it serves
   * @param given the device, what of it, and how
   */
  public record DevicePlacement(DeviceRequest request, Match given) {
    public Device device() {
      return given.device();
    }

    /** Bytes that a share takes; 0 for a whole card or a MIG instance. */
    public long memory() {
      return given.memory();
    }

    /** Percent that a share takes; 0 for a whole card or a MIG instance. */
    public int cores() {
      return given.cores();
    }
  }
}
