package dev.partita.controller.match;

import dev.partita.api.config.GpuShareConfig;
import dev.partita.api.device.CapacityName;
import dev.partita.api.sharing.SharingStrategy;
import dev.partita.controller.booking.Account;
import dev.partita.controller.inventory.Device;
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
  public Fit fit(Device device, DeviceRequest request) {
    return undivided(device, request, this);
  }

  /** All of the device, had in that way: nothing of it is left for others. */
  static Fit undivided(Device device, DeviceRequest request, CardUse use) {
    if (request.cores().isPresent()) {
      return new Fit.Refused(new CardRefusal.NoSuchCapacity(device.mode(), CapacityName.CORES));
    }
    if (request.memory() instanceof MemoryRequest.Percent) {
      return new Fit.Refused(new CardRefusal.NoSuchCapacity(device.mode(), "memoryPercent"));
    }
    if (request.oversubscribe() != GpuShareConfig.NOT_OVERSUBSCRIBED) {
      return new Fit.Refused(new CardRefusal.NotOversubscribed(device.mode()));
    }
    if (request.placement().exclusive() && !SharingStrategy.canBeExclusive(device.mode())) {
      return new Fit.Refused(new CardRefusal.NotExclusive());
    }
    long memory = device.total(CapacityName.MEMORY);
    if (request.memory() instanceof MemoryRequest.Bytes(long asked) && asked > memory) {
      return new Fit.Refused(new CardRefusal.TooSmall(memory, asked, device.card().model()));
    }
    return new Fit.Fits(device, 0, 0, use);
  }

  @Override
  public Optional<CardRefusal> clash(Fit.Fits wanted, Account others) {
    Optional<CardRefusal> keptOff = HookedShare.keptOff(others);
    return keptOff.isPresent() || others.shares() == 0
        ? keptOff
        : Optional.of(new CardRefusal.HasShares(others.shares()));
  }

  @Override
  public String words(String card, Fit.Fits given, int oversubscribe) {
    return "all of " + card;
  }
}
