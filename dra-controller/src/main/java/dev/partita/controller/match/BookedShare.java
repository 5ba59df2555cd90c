package dev.partita.controller.match;

import dev.partita.api.Bytes;
import dev.partita.api.sharing.SharingStrategy;
import dev.partita.controller.booking.Account;
import dev.partita.controller.inventory.Device;
import dev.partita.controller.match.MatchResult.Match;
import dev.partita.controller.request.DeviceRequest;
import java.util.Optional;

/** A part of an opaque card: the books have its memory and cores, and nothing holds containers to them. */
record BookedShare() implements CardUse {
  static final BookedShare INSTANCE = new BookedShare();

  @Override
  public Taking takes() {
    return Taking.SHARE;
  }

  @Override
  public MatchResult match(Device device, DeviceRequest request) {
    Optional<SharingStrategy.ModeField> unfulfilled = SharingStrategy
        .unfulfilledByOpaque(request.oversubscribe(), request.placement(), request.capacity().sharing());
    return unfulfilled.isPresent()
        ? new MatchResult.Refused(new CardRefusal.NotOnOpaque(unfulfilled.get()))
        : HookedShare.part(device, request, this);
  }

  @Override
  public Optional<CardRefusal> clash(Match wanted, Account others) {
    return HookedShare.INSTANCE.clash(wanted, others);
  }

  @Override
  public String words(String card, Match given, int oversubscribe) {
    String cores = given.cores() == 0 ? "" : " and " + given.cores() + " % cores";
    return Bytes.words(given.memory()) + cores + " of " + card + ", which is only counted: nothing enforces it";
  }
}
