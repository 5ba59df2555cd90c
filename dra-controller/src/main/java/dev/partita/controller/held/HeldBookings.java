package dev.partita.controller.held;

import dev.partita.api.DeviceMode;
import dev.partita.api.DeviceName;
import dev.partita.api.MigSlot;
import dev.partita.api.gpu.MigProfile.Placement;
import dev.partita.api.node.HeldClaim;
import dev.partita.api.node.HeldDevice;
import dev.partita.controller.booking.Booking;
import dev.partita.controller.inventory.Card;
import dev.partita.controller.inventory.CardKey;
import dev.partita.controller.inventory.GpuHost;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What a node's plugin still has prepared for one claim although the claim is gone or cannot tell, as bookings.
 *
 * @param node where
 * @param claimUid for which claim
 * @param namespace of the claim; empty if the node does not know it
 * @param besides whether it counts beside what the claim itself has: the node cannot tell what that is, and gives
 *        nobody else any of it
 * @param bookings what it takes of the node's cards
 */
public record HeldBookings(
    String node,
    String claimUid,
    Optional<String> namespace,
    boolean besides,
    List<Booking> bookings) {
  public HeldBookings {
    bookings = List.copyOf(bookings);
  }

  /** All that a node holds; cards that it does not have any more are left out. */
  public static List<HeldBookings> of(GpuHost host) {
    return host.held().stream().map(claim -> of(host, claim)).filter(held -> !held.bookings().isEmpty()).toList();
  }

  private static HeldBookings of(GpuHost host, HeldClaim claim) {
    List<Booking> bookings = new ArrayList<>();
    for (HeldDevice device : claim.devices()) {
      host.cards().stream()
          .filter(card -> card.gpu().uuid().equals(device.uuid()))
          .findFirst()
          .ifPresent(card -> bookings.add(booking(card, device)));
    }
    return new HeldBookings(
        host.name(),
        claim.claimUid(),
        Optional.ofNullable(claim.namespace()),
        claim.reason() == HeldClaim.Reason.OtherVersion,
        bookings);
  }

  private static Booking booking(Card card, HeldDevice device) {
    CardKey key = card.key();
    return switch (device.kind()) {
      case Whole -> new Booking(key, DeviceMode.WHOLE, 0, 0);
      case Share ->
          new Booking(
              key,
              DeviceMode.SHARED,
              memory(device),
              device.cores() == null ? 0 : device.cores());
      case Mps -> Booking.byMps(key, Math.max(1, memory(device)), device.cores() == null ? 0 : device.cores());
      case Mig -> instance(key, device.profile(), device.placement());
      case MigShare -> shareOf(instance(key, device.profile(), device.placement()), memory(device));
    };
  }

  private static long memory(HeldDevice device) {
    return Math.min(device.memoryBytes() == null ? 0 : device.memoryBytes(), Booking.MOST_MEMORY);
  }

  /** An instance that cannot be read takes all of its card. */
  private static Booking instance(CardKey card, @Nullable String profile, @Nullable Placement placement) {
    if (profile == null || placement == null || placement.mask() == 0 || MigSlot.labelOf(profile).isEmpty()) {
      return new Booking(card, DeviceMode.WHOLE, 0, 0);
    }
    MigSlot slot = new MigSlot(MigSlot.labelOf(profile), placement.start());
    return new Booking(card, new DeviceName.Mig(card.index(), slot), 0, 0);
  }

  /** A share of that instance. */
  private static Booking shareOf(Booking instance, long memory) {
    return instance.device().instance()
        .map(slot -> new Booking(instance.card(), new DeviceName.MigShared(instance.card().index(), slot),
            Math.max(1, memory), 0))
        .orElse(instance);
  }

  /** Whether it takes something besides what the claim itself is known to have: else it would be counted twice. */
  public boolean counts(Collection<Booking> ofClaim) {
    Set<CardKey> had = ofClaim.stream().map(Booking::card).collect(Collectors.toSet());
    return besides || !bookings.stream().allMatch(booking -> had.contains(booking.card()));
  }

  /** The key under which it is in the books, beside those of claims. */
  public String key() {
    return "held/" + node + "/" + claimUid;
  }
}
