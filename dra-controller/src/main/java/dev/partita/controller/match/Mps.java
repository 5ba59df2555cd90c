package dev.partita.controller.match;

import dev.partita.api.Bytes;
import dev.partita.api.sharing.SharingStrategy;
import dev.partita.controller.booking.Account;
import dev.partita.controller.inventory.Device;
import dev.partita.controller.match.MatchResult.Match;
import dev.partita.controller.request.DeviceRequest;
import java.util.Optional;

/**
 * A part of a card beside others who share it by MPS. It books memory and cores as any share does, and keeps everybody
 * off the card who does not use MPS.
 */
record Mps() implements CardUse {
  static final Mps INSTANCE = new Mps();

  @Override
  public Taking takes() {
    return Taking.MPS;
  }

  @Override
  public MatchResult match(Device device, DeviceRequest request) {
    return HookedShare.part(device, request, this);
  }

  @Override
  public Optional<CardRefusal> clash(Match wanted, Account others) {
    if (others.shares() > 0) {
      return Optional.of(new CardRefusal.SharesNotByMps(others.shares()));
    }
    if (others.mps() == 0) {
      return HookedShare.INSTANCE.clash(wanted, others);
    }
    return others.mps() >= SharingStrategy.Mps.MOST
        ? Optional.of(new CardRefusal.NoMoreByMps(others.mps()))
        : HookedShare.tooMuch(wanted, others);
  }

  @Override
  public String words(String card, Match given, int oversubscribe) {
    String cores = given.cores() == 0 ? "no limit of cores" : given.cores() + " % of its multiprocessors at most";
    return Bytes.words(given.memory()) + " of " + card + " by MPS beside other claims, " + cores;
  }
}
