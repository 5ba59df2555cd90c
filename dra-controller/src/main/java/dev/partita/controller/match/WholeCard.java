package dev.partita.controller.match;

import dev.partita.api.device.CapacityName;
import dev.partita.controller.booking.Account;
import dev.partita.controller.inventory.Device;
import dev.partita.controller.match.MatchResult.Match;
import dev.partita.controller.request.DeviceRequest;
import dev.partita.controller.request.MemoryRequest;
import java.util.Optional;

/** A whole card, of which nobody else has anything. */
record WholeCard() implements CardUse {
  static final WholeCard INSTANCE = new WholeCard();

  @Override
  public Taking takes() {
    return Taking.CARD;
  }

  @Override
  public MatchResult match(Device device, DeviceRequest request) {
    return undivided(device, request, this);
  }

  /** Takes all of the device in the way that is given. */
  static MatchResult undivided(Device device, DeviceRequest request, CardUse use) {
    if (request.cores().isPresent()) {
      return new MatchResult.Refused(new CardRefusal.NoSuchCapacity(device.mode(), CapacityName.CORES));
    }
    if (request.memory() instanceof MemoryRequest.Percent) {
      return new MatchResult.Refused(new CardRefusal.NoSuchCapacity(device.mode(), "memoryPercent"));
    }
    Optional<CardRefusal> unfulfilled = CardRefusal.unfulfilled(device.mode(), request);
    if (unfulfilled.isPresent()) {
      return new MatchResult.Refused(unfulfilled.get());
    }

    long memory = device.total(CapacityName.MEMORY);
    if (request.memory() instanceof MemoryRequest.Bytes(long asked) && asked > memory) {
      return new MatchResult.Refused(new CardRefusal.TooSmall(memory, asked, device.card().model()));
    }
    return new Match(device, 0, 0, use);
  }

  @Override
  public Optional<CardRefusal> clash(Match wanted, Account others) {
    Optional<CardRefusal> keptOff = HookedShare.keptOff(others);
    return keptOff.isPresent() || others.shares() == 0
        ? keptOff
        : Optional.of(new CardRefusal.HasShares(others.shares()));
  }

  @Override
  public String words(String card, Match given, int oversubscribe) {
    return "all of " + card;
  }
}
