package dev.partita.controller.match;

import dev.partita.controller.booking.Account;
import dev.partita.controller.inventory.Device;
import dev.partita.controller.match.MatchResult.Match;
import dev.partita.controller.request.DeviceRequest;
import java.util.Optional;

/** A part of a card that the hook library holds containers to, while nobody else has anything of the card. */
record ExclusiveShare() implements CardUse {
  static final ExclusiveShare INSTANCE = new ExclusiveShare();

  @Override
  public Taking takes() {
    return Taking.CARD;
  }

  @Override
  public MatchResult match(Device device, DeviceRequest request) {
    return HookedShare.part(device, request, this);
  }

  @Override
  public Optional<CardRefusal> clash(Match wanted, Account others) {
    return WholeCard.INSTANCE.clash(wanted, others);
  }

  @Override
  public String words(String card, Match given, int oversubscribe) {
    return HookedShare.INSTANCE.words(card, given, oversubscribe) + ", nobody else on the card";
  }
}
