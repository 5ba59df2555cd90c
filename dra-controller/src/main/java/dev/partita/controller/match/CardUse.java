package dev.partita.controller.match;

import dev.partita.api.DeviceMode;
import dev.partita.api.DeviceName;
import dev.partita.api.sharing.SharingStrategy;
import dev.partita.controller.booking.Account;
import dev.partita.controller.booking.Booking;
import dev.partita.controller.inventory.CardKey;
import dev.partita.controller.inventory.Device;
import dev.partita.controller.match.MatchResult.Match;
import dev.partita.controller.request.DeviceRequest;
import dev.partita.controller.request.MemoryRequest;
import java.util.Optional;

/**
 * Says what a {@link SharingStrategy} means to the controller. There is one class for each strategy, and one object of
 * each class; what is special to a claim comes as a parameter. Besides these only {@code AllocatedClaim.shares} tells
 * strategies apart, and the compiler names it. Books, quotas and proposals go by what is {@linkplain #booking booked},
 * and the search for a place by what is {@linkplain #takes taken}.
 */
public sealed interface CardUse
    permits HookedShare, ExclusiveShare, BookedShare, TimeSlicing, Mps, WholeCard, MigInstance, InstanceShare,
    AdminAccess {
  static CardUse of(SharingStrategy strategy) {
    return switch (strategy) {
      case SharingStrategy.HookedShare _ -> HookedShare.INSTANCE;
      case SharingStrategy.ExclusiveShare _ -> ExclusiveShare.INSTANCE;
      case SharingStrategy.BookedShare _ -> BookedShare.INSTANCE;
      case SharingStrategy.TimeSlicing _ -> TimeSlicing.INSTANCE;
      case SharingStrategy.Mps _ -> Mps.INSTANCE;
      case SharingStrategy.WholeCard _ -> WholeCard.INSTANCE;
      case SharingStrategy.MigInstance _ -> MigInstance.INSTANCE;
      case SharingStrategy.InstanceShare _ -> InstanceShare.INSTANCE;
      case SharingStrategy.AdminAccess _ -> AdminAccess.INSTANCE;
    };
  }

  /** What it takes of the card. */
  Taking takes();

  /**
   * Whether the capacities of the device are enough for the request if nothing of its card is taken. Neither selectors
   * nor taints are looked at.
   */
  MatchResult match(Device device, DeviceRequest request);

  /** Why the device cannot be used in that way beside what others have of its card; empty if it can. */
  Optional<CardRefusal> clash(Match wanted, Account others);

  /**
   * What it books of the card; empty if it takes nothing.
   *
   * @param memory bytes that a share has
   * @param cores percent that a share has
   */
  default Optional<Booking> booking(CardKey card, DeviceName device, long memory, int cores) {
    return switch (takes()) {
      // a share of no bytes would be a turn
      case SHARE -> Optional.of(new Booking(card, device, Math.max(1, memory), cores));
      case INSTANCE_SHARE -> Optional.of(new Booking(card, device, Math.max(1, memory), 0));
      case MPS -> Optional.of(Booking.byMps(card, Math.max(1, memory), cores));
      case TURNS -> Optional.of(Booking.turn(card));
      case INSTANCE -> device.instance().map(slot -> new Booking(card, new DeviceName.Mig(card.index(), slot), 0, 0));
      case CARD -> Optional.of(new Booking(card, DeviceMode.WHOLE, 0, 0));
      case NOTHING -> Optional.empty();
    };
  }

  /**
   * Bytes that quotas count at least for a request, before it is decided which device it gets.
   *
   * @param total bytes of the smallest device that it could get
   */
  default long leastMemory(MemoryRequest asked, long total) {
    return switch (takes()) {
      case SHARE, MPS, INSTANCE_SHARE -> asked.bytesOf(total).orElse(total);
      case INSTANCE, CARD, TURNS -> total;
      case NOTHING -> 0;
    };
  }

  /**
   * What was given, for people: {@code 8 GiB of NVIDIA H200 GPU-…, 25 % cores}.
   *
   * @param card which one
   * @param oversubscribe memory of the container in percent of what it has of the card
   */
  String words(String card, Match given, int oversubscribe);
}
