package dev.partita.controller.match;

import dev.partita.api.device.CapacityName;
import dev.partita.api.sharing.SharingStrategy;
import dev.partita.controller.booking.Account;
import dev.partita.controller.inventory.Device;
import dev.partita.controller.match.MatchResult.Match;
import dev.partita.controller.request.DeviceRequest;
import dev.partita.controller.request.MemoryRequest;
import java.util.Optional;

/**
 * All of a card in turn with others, as the driver shares it out. Nobody is held to anything there, so the books have
 * no memory and no cores of it; they count the turns, and keep everybody else off the card.
 */
record TimeSlicing() implements CardUse {
  static final TimeSlicing INSTANCE = new TimeSlicing();

  @Override
  public Taking takes() {
    return Taking.TURNS;
  }

  /** An amount is refused: whoever asks for one relies on it, and nothing would hold the others to theirs. */
  @Override
  public MatchResult match(Device device, DeviceRequest request) {
    if (!(request.memory() instanceof MemoryRequest.Unsaid)) {
      return new MatchResult.Refused(new CardRefusal.NotLimited(CapacityName.MEMORY));
    }
    return request.cores().isPresent()
        ? new MatchResult.Refused(new CardRefusal.NotLimited(CapacityName.CORES))
        : new Match(device, 0, 0, this);
  }

  @Override
  public Optional<CardRefusal> clash(Match wanted, Account others) {
    if (others.wholes() > 0) {
      return Optional.of(new CardRefusal.TakenWhole());
    }
    if (others.mps() > 0) {
      return Optional.of(new CardRefusal.SharedByMps(others.mps()));
    }
    if (others.isCut()) {
      return Optional.of(new CardRefusal.CutIntoInstances(others.begunInstances().size()));
    }
    if (others.shares() > 0) {
      return Optional.of(new CardRefusal.LimitedShares(others.shares()));
    }
    return others.turns() >= SharingStrategy.TimeSlicing.MOST
        ? Optional.of(new CardRefusal.NoMoreTurns(others.turns()))
        : Optional.empty();
  }

  @Override
  public String words(String card, Match given, int oversubscribe) {
    return "all of " + card + " by time-slicing with other claims, neither memory nor cores limited";
  }
}
