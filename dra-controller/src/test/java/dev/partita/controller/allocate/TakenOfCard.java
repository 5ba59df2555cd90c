package dev.partita.controller.allocate;

import dev.partita.api.DeviceMode;
import dev.partita.api.MigSlot;
import dev.partita.controller.booking.Account;
import dev.partita.controller.inventory.CardKey;
import dev.partita.controller.place.ClaimPlacement.DevicePlacement;
import dev.partita.controller.place.ClaimPlacement;
import dev.partita.controller.request.DeviceRequest;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * What of one card is taken, added up from what results say: names of devices, and amounts. The allocator keeps
 * accounts of its own.
 *
 * @param wholes how often it is had as a whole, or as a share that has it for itself
 * @param turns how often it is had in turn
 * @param mps how many shares are by MPS, which are no other shares
 */
record TakenOfCard(
    int wholes,
    int shares,
    long memory,
    long cores,
    List<ReportedDevice> instances,
    int turns,
    int mps) {
  static final TakenOfCard NOTHING = new TakenOfCard(0, 0, 0, 0, List.of(), 0, 0);

  /**
   * What is taken of every card of which anything is.
   *
   * @param offered every device of every node, by node and name
   */
  static Map<CardKey, TakenOfCard> of(Collection<ClaimPlacement> claims, Map<String, ReportedDevice> offered) {
    Map<CardKey, TakenOfCard> taken = new HashMap<>();
    for (ClaimPlacement claim : claims) {
      for (DevicePlacement result : claim.devices()) {
        ReportedDevice device =
            Objects.requireNonNull(offered.get(place(result)), () -> place(result) + " is not offered");
        TakenOfCard before = taken.getOrDefault(device.card(), NOTHING);
        TakenOfCard after = before.plus(device, result.request(), result.memory(), result.cores());
        if (!after.equals(NOTHING)) {
          taken.put(device.card(), after);
        }
      }
    }
    return taken;
  }

  /** Node and name of the device. */
  static String place(DevicePlacement result) {
    return result.device().card().key().node() + " " + result.device().name();
  }

  TakenOfCard plus(ReportedDevice device, DeviceRequest request) {
    boolean share = device.mode() == DeviceMode.SHARED;
    return plus(device, request, share ? device.bytes(request) : 0, share ? request.cores().orElse(0) : 0);
  }

  private TakenOfCard plus(ReportedDevice device, DeviceRequest request, long bytes, long percent) {
    if (request.access() == DeviceRequest.Access.MONITOR) {
      return this;
    }
    if (device.mode() == DeviceMode.MIG) {
      List<ReportedDevice> more = new ArrayList<>(instances);
      more.add(device);
      return new TakenOfCard(wholes, shares, memory, cores, more, turns, mps);
    }
    if (device.mode() == DeviceMode.SHARED && Requests.isInTurn(request)) {
      return new TakenOfCard(wholes, shares, memory, cores, instances, turns + 1, mps);
    }
    if (device.mode() == DeviceMode.SHARED && Requests.isByMps(request)) {
      return new TakenOfCard(wholes, shares, memory + bytes, cores + percent, instances, turns, mps + 1);
    }
    return device.mode() == DeviceMode.WHOLE || request.placement().exclusive()
        ? new TakenOfCard(wholes + 1, shares, memory, cores, instances, turns, mps)
        : new TakenOfCard(wholes, shares + 1, memory + bytes, cores + percent, instances, turns, mps);
  }

  /** Whether more is taken than there is, or things that exclude each other. */
  boolean isTooMuch(ReportedDevice anyOfCard) {
    int ways = (wholes > 0 ? 1 : 0) + (shares > 0 ? 1 : 0) + (instances.isEmpty() ? 0 : 1) + (turns > 0 ? 1 : 0)
        + (mps > 0 ? 1 : 0);
    return ways > 1 || wholes > 1 || turns > 8 || mps > 48 || memory > anyOfCard.allocatable() || cores > 100
        || overlap()
        || instances.stream().anyMatch(this::areTooMany);
  }

  private boolean overlap() {
    long slices = 0;
    for (ReportedDevice instance : instances) {
      if ((slices & instance.slices()) != 0) {
        return true;
      }
      slices |= instance.slices();
    }
    return false;
  }

  private boolean areTooMany(ReportedDevice instance) {
    return sameAs(instance.profileName()) > instance.profile().orElseThrow().count();
  }

  long sameAs(String profile) {
    return instances.stream().filter(instance -> instance.profileName().equals(profile)).count();
  }

  /** In the allocator's own terms, to compare. */
  Account account() {
    List<MigSlot> slots =
        instances.stream()
            .map(instance -> new MigSlot(instance.profileName().replaceAll("[.+]", "-"), instance.start())).sorted()
            .toList();
    return new Account(shares, wholes, memory, (int) cores, slots, turns, mps);
  }
}
