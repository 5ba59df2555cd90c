package dev.partita.controller.match;

import dev.partita.api.Bytes;
import dev.partita.api.MigSlot;
import dev.partita.api.device.CapacityName;
import dev.partita.api.sharing.SharingStrategy;
import dev.partita.controller.booking.Account;
import dev.partita.controller.inventory.Capacity;
import dev.partita.controller.inventory.Card;
import dev.partita.controller.inventory.Device;
import dev.partita.controller.match.MatchResult.Match;
import dev.partita.controller.request.DeviceRequest;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * A part of the memory of a MIG instance, which the hook library holds containers to, beside others' parts of the same
 * instance. There are no cores of it: what a process has of an instance's time is not measured.
 */
record InstanceShare() implements CardUse {
  static final InstanceShare INSTANCE = new InstanceShare();

  @Override
  public Taking takes() {
    return Taking.INSTANCE_SHARE;
  }

  @Override
  public MatchResult match(Device device, DeviceRequest request) {
    if (request.cores().isPresent()) {
      return new MatchResult.Refused(new CardRefusal.NoSuchCapacity(device.mode(), CapacityName.CORES));
    }
    Optional<CardRefusal> unfulfilled = CardRefusal.unfulfilled(device.mode(), request);
    if (unfulfilled.isPresent()) {
      return new MatchResult.Refused(unfulfilled.get());
    }
    Capacity memory = Objects.requireNonNull(device.capacities().get(CapacityName.MEMORY), CapacityName.MEMORY);
    OptionalLong asked = request.memory().bytesOf(memory.total());
    OptionalLong given = memory.taken(asked);
    return given.isEmpty()
        ? new MatchResult.Refused(
            new CardRefusal.TooSmall(memory.total(), asked.orElseThrow(), device.card().model()))
        : new Match(device, given.getAsLong(), 0, this);
  }

  @Override
  public Optional<CardRefusal> clash(Match wanted, Account others) {
    MigSlot slot = MigInstance.slot(wanted);
    List<MigSlot> elsewhere = others.begunInstances().stream()
        .filter(begun -> !begun.equals(slot) || others.instances().contains(slot)).toList();
    return MigInstance.keptOff(others)
        .or(() -> MigInstance.inTheWay(slot, wanted.device().card(), elsewhere))
        .or(() -> tooMuch(wanted, others.sharesOf(slot)));
  }

  private static Optional<CardRefusal> tooMuch(Match wanted, Account.SharedInstance taken) {
    long free = Math.max(0, wanted.device().total(CapacityName.MEMORY) - taken.memory());
    return wanted.memory() > free
        ? Optional.of(new CardRefusal.MemoryTaken(free, wanted.memory()))
        : Optional.empty();
  }

  @Override
  public String words(String card, Match given, int oversubscribe) {
    Card its = given.device().card();
    return Bytes.words(given.memory()) + " of MIG instance " + MigInstance.profile(MigInstance.slot(given), its)
        + " of " + card;
  }
}
