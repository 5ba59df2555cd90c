package dev.partita.controller.slices;

import dev.partita.api.Bytes;
import dev.partita.api.DeviceMode;
import dev.partita.api.DeviceName;
import dev.partita.api.Driver;
import dev.partita.api.device.CapacityName;
import dev.partita.controller.booking.Booking;
import dev.partita.controller.claim.AllocatedClaim;
import dev.partita.controller.claim.AllocatedShare;
import dev.partita.controller.watch.AllocatedDevices;
import io.fabric8.kubernetes.api.model.resource.v1.Device;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceCapacity;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What claims have of a node's devices, whoever allocated them. Devices with adminAccess are left out.
 *
 * @param devices names, as published
 * @param byCard what is taken of each card, by index
 * @param grown indices of cards of which a share was granted more than it was allocated, or has more still:
 *        kube-scheduler counts what it was allocated
 */
record PoolUse(Set<String> devices, Map<Integer, List<Booking>> byCard, Set<Integer> grown) {
  static PoolUse of(String node, Collection<ResourceClaim> claims) {
    Set<String> devices =
        claims.stream()
            .flatMap(claim -> AllocatedDevices.of(claim).stream())
            .filter(result -> Driver.NAME.equals(result.getDriver()) && Driver.poolOf(node).equals(result.getPool())
                && !Boolean.TRUE.equals(result.getAdminAccess()))
            .map(result -> result.getDevice())
            .collect(Collectors.toSet());
    Map<Integer, List<Booking>> byCard =
        claims.stream()
            .flatMap(claim -> AllocatedClaim.bookings(claim).stream())
            .filter(booking -> booking.card().node().equals(node))
            .collect(Collectors.groupingBy(booking -> booking.card().index()));
    Set<Integer> grown =
        claims.stream()
            .flatMap(claim -> AllocatedClaim.shares(claim).stream())
            .filter(share -> share.card().node().equals(node) && isGrown(share))
            .map(share -> share.card().index())
            .collect(Collectors.toSet());
    return new PoolUse(devices, byCard, grown);
  }

  private static boolean isGrown(AllocatedShare share) {
    return !share.sizes().booked().isWithin(share.sizes().allocated());
  }

  /**
   * Whether a share has the card to itself, in turn with others or by MPS, or is one of a MIG instance, which cannot be
   * seen from what its device consumes.
   */
  boolean isClosedByShares(int card) {
    return byCard.getOrDefault(card, List.of()).stream()
        .anyMatch(booking -> booking.device() instanceof DeviceName.Whole || booking.isTurn() || booking.mps()
            || booking.device() instanceof DeviceName.MigShared)
        && !devices.contains(DeviceName.of(card, DeviceMode.WHOLE).toString());
  }

  /** Whether a device of that card is allocated that it is not offered as. */
  boolean hasOtherThan(PublishedCard card) {
    return devices.stream()
        .anyMatch(name -> card.device(name).isEmpty()
            && DeviceName.parse(name).filter(its -> its.index() == card.index()).isPresent());
  }

  /**
   * Best fit first: kube-scheduler takes the first devices that fit, in the order in which a slice lists them. Begun
   * cards come before untouched ones, of each those with the least memory left first; what nothing is left of comes
   * last.
   */
  Comparator<PublishedCard> bestFitFirst() {
    return Comparator.comparingInt(this::rank).thenComparingLong(this::left).thenComparingInt(PublishedCard::index);
  }

  private int rank(PublishedCard card) {
    if (!byCard.containsKey(card.index())) {
      return 1;
    }
    return left(card) > 0 ? 0 : 2;
  }

  /** Bytes of the card that nobody has. */
  private long left(PublishedCard card) {
    long left = card.devices().stream().mapToLong(PoolUse::memory).max().orElse(0);
    for (Booking booking : byCard.getOrDefault(card.index(), List.of())) {
      long taken =
          switch (booking.device()) {
            case DeviceName.Whole _ -> left;
            case DeviceName.Shared _ -> booking.isTurn() ? left : booking.memory();
            case DeviceName.Opaque _,DeviceName.MigShared _ -> booking.memory();
            case DeviceName.Mig mig -> card.device(mig.toString()).map(PoolUse::memory).orElse(0L);
          };
      left -= Math.min(left, taken);
    }
    return left;
  }

  private static long memory(Device device) {
    @Nullable DeviceCapacity capacity =
        device.getCapacity() == null ? null : device.getCapacity().get(CapacityName.MEMORY);
    return capacity == null ? 0 : Bytes.of(capacity.getValue());
  }
}
