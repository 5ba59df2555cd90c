package dev.partita.controller.match;

import dev.partita.api.Bytes;
import dev.partita.api.config.GpuShareConfig;
import dev.partita.api.device.CapacityName;
import dev.partita.controller.booking.Account;
import dev.partita.controller.inventory.Device;
import dev.partita.controller.match.MatchResult.Match;
import dev.partita.controller.request.DeviceRequest;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;

/** A part of a card that the hook library holds containers to, beside others' parts. */
record HookedShare() implements CardUse {
  static final HookedShare INSTANCE = new HookedShare();

  @Override
  public Taking takes() {
    return Taking.SHARE;
  }

  @Override
  public MatchResult match(Device device, DeviceRequest request) {
    return part(device, request, this);
  }

  /** Takes a part of the device in the way that is given. */
  static MatchResult part(Device device, DeviceRequest request, CardUse use) {
    long offered = device.total(CapacityName.MEMORY);
    OptionalLong asked = request.memory().bytesOf(offered);
    OptionalLong memory = consumed(device, CapacityName.MEMORY, asked);
    if (memory.isEmpty()) {
      return new MatchResult.Refused(new CardRefusal.TooSmall(offered, asked.orElseThrow(), device.card().model()));
    }
    OptionalLong cores = consumed(device, CapacityName.CORES, request.cores());
    if (cores.isEmpty()) {
      return new MatchResult.Refused(new CardRefusal.TooManyCores(request.cores().orElseThrow()));
    }
    return new Match(device, memory.getAsLong(), Math.toIntExact(cores.getAsLong()), use);
  }

  private static OptionalLong consumed(Device device, String capacity, OptionalLong asked) {
    return Objects.requireNonNull(device.capacities().get(capacity), capacity).taken(asked);
  }

  @Override
  public Optional<CardRefusal> clash(Match wanted, Account others) {
    Optional<CardRefusal> keptOff = keptOff(others);
    return keptOff.isPresent() ? keptOff : tooMuch(wanted, others);
  }

  /** Why neither a share nor the whole of a card can be had; empty if one of them can. */
  static Optional<CardRefusal> keptOff(Account others) {
    Optional<CardRefusal> undivided = undivided(others);
    return undivided.isEmpty() && others.isCut()
        ? Optional.of(new CardRefusal.CutIntoInstances(others.begunInstances().size()))
        : undivided;
  }

  /** Why nothing can be had of a card that somebody has whole, in turn or by MPS; empty if nobody does. */
  static Optional<CardRefusal> undivided(Account others) {
    if (others.wholes() > 0) {
      return Optional.of(new CardRefusal.TakenWhole());
    }
    if (others.turns() > 0) {
      return Optional.of(new CardRefusal.TakenInTurn(others.turns()));
    }
    return others.mps() > 0 ? Optional.of(new CardRefusal.SharedByMps(others.mps())) : Optional.empty();
  }

  static Optional<CardRefusal> tooMuch(Match wanted, Account others) {
    long freeMemory = Math.max(0, wanted.device().card().allocatableMemory() - others.memory());
    if (wanted.memory() > freeMemory) {
      return Optional.of(new CardRefusal.MemoryTaken(freeMemory, wanted.memory()));
    }
    int freeCores = Math.max(0, (int) wanted.device().total(CapacityName.CORES) - others.cores());
    return wanted.cores() > freeCores
        ? Optional.of(new CardRefusal.CoresTaken(freeCores, wanted.cores()))
        : Optional.empty();
  }

  @Override
  public String words(String card, Match given, int oversubscribe) {
    String cores = given.cores() == 0 ? "no core limit" : given.cores() + " % cores";
    String more = oversubscribe == GpuShareConfig.NOT_OVERSUBSCRIBED
        ? ""
        : ", oversubscribed to " + oversubscribe + " % with host memory";
    return Bytes.words(given.memory()) + " of " + card + ", " + cores + more;
  }
}
