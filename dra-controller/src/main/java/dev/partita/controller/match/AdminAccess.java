package dev.partita.controller.match;

import dev.partita.api.sharing.SharingStrategy;
import dev.partita.controller.booking.Account;
import dev.partita.controller.inventory.Device;
import dev.partita.controller.match.MatchResult.Match;
import dev.partita.controller.request.DeviceRequest;
import java.util.Optional;

/** Access to a card beside whoever has it, for an administrator. */
record AdminAccess() implements CardUse {
  static final AdminAccess INSTANCE = new AdminAccess();

  @Override
  public Taking takes() {
    return Taking.NOTHING;
  }

  /** The device must have what is asked for, just as if it were taken. */
  @Override
  public MatchResult match(Device device, DeviceRequest request) {
    SharingStrategy had = SharingStrategy.of(device.name(), request.placement(), request.capacity().sharing(), false);
    return switch (CardUse.of(had).match(device, request)) {
      case Match _ -> new Match(device, 0, 0, this);
      case MatchResult.Refused refused -> refused;
    };
  }

  @Override
  public Optional<CardRefusal> clash(Match wanted, Account others) {
    return Optional.empty();
  }

  @Override
  public String words(String card, Match given, int oversubscribe) {
    return "admin access to " + card;
  }
}
