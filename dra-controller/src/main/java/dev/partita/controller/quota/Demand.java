package dev.partita.controller.quota;

import dev.partita.api.device.CapacityName;
import dev.partita.controller.inventory.Device;
import dev.partita.controller.inventory.GpuHost;
import dev.partita.controller.match.CardUse;
import dev.partita.controller.match.Taking;
import dev.partita.controller.request.ClaimRequest.NamedRequest;
import dev.partita.controller.request.ClaimRequest;
import dev.partita.controller.request.DeviceRequest;
import java.util.List;

/** Computes what claims will take at least, before it is decided what they get. */
final class Demand {
  private static final int ALL_CORES = 100;

  private Demand() {}

  /** The least memory, cores and cards, each by itself: no placement on the host takes less of any. */
  static Use least(List<ClaimRequest> claims, GpuHost host) {
    Use sum = new Use(0, 0, 0, claims.stream().filter(Demand::takesAnything).count());
    for (ClaimRequest claim : claims) {
      for (NamedRequest request : claim.requests()) {
        sum = sum.plus(request.alternatives().stream().map(alternative -> of(alternative, host)).reduce(Use::min)
            .orElse(Use.NONE));
      }
    }
    return sum;
  }

  /**
   * Bytes of the smallest device that is taken undivided: a card, or the smallest MIG instance that is offered of one.
   */
  static long smallest(GpuHost host) {
    return host.devices().stream().mapToLong(Demand::undivided).min().orElse(0);
  }

  /** Whether what is taken undivided may be less than a card. */
  private static boolean offersParts(GpuHost host) {
    return host.devices().stream().anyMatch(device -> device.mode().isOfInstances());
  }

  private static long undivided(Device device) {
    return device.mode().isOfInstances() ? device.total(CapacityName.MEMORY) : device.card().allocatableMemory();
  }

  private static boolean takesAnything(ClaimRequest claim) {
    return claim.requests().stream().flatMap(request -> request.alternatives().stream())
        .anyMatch(alternative -> !alternative.isAdminAccess());
  }

  private static Use of(DeviceRequest request, GpuHost host) {
    if (request.isAdminAccess()) {
      return Use.NONE;
    }
    long devices = request.count() instanceof DeviceRequest.Count.Exactly(int count) ? count : 1;
    // Without a memory of its own, exclusive or in turn with others, a request takes all of a device; without cores a
    // share takes none.
    long smallest = smallest(host);
    CardUse share = CardUse.of(request.strategyOfShare());
    long memory = share.leastMemory(request.memory(), smallest);
    boolean all = share.takes() == Taking.TURNS || (share.takes() == Taking.CARD && !offersParts(host));
    long cores = all ? ALL_CORES : request.cores().orElse(0);
    return new Use(memory, cores, 1, 0).times(devices);
  }
}
