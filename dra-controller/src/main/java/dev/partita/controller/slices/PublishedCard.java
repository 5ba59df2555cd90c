package dev.partita.controller.slices;

import dev.partita.api.DeviceName;
import io.fabric8.kubernetes.api.model.resource.v1.CounterSet;
import io.fabric8.kubernetes.api.model.resource.v1.Device;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSlice;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * A card as slices offer it.
 *
 * @param index the card's on its node
 * @param devices what it is offered as
 * @param counters by what these exclude each other, where kube-scheduler allocates them
 */
record PublishedCard(int index, List<Device> devices, Optional<CounterSet> counters) {
  /**
   * The cards that a pool offers by these slices, by index. Where somebody has ended while he wrote them they are of
   * several generations; a card is then what the newest slice says that has it. If the counters that its devices take
   * have been written over, they are told from the devices: one that is in use must never be without.
   */
  static Map<Integer, PublishedCard> in(Collection<ResourceSlice> slices) {
    List<ResourceSlice> newestFirst =
        slices.stream().sorted(Comparator.comparingLong(PoolChange::generation).reversed()).toList();
    Map<Integer, Long> generations = new TreeMap<>();
    Map<Integer, List<Device>> devices = new TreeMap<>();
    for (ResourceSlice slice : newestFirst) {
      long generation = PoolChange.generation(slice);
      for (Device device : slice.getSpec().getDevices()) {
        DeviceName.parse(device.getName())
            .filter(name -> generations.computeIfAbsent(name.index(), _ -> generation) == generation)
            .ifPresent(name -> devices.computeIfAbsent(name.index(), _ -> new ArrayList<>()).add(device));
      }
    }
    Map<Integer, PublishedCard> cards = new TreeMap<>();
    devices.forEach((index, of) -> cards.put(index, new PublishedCard(index, of, counters(of, newestFirst))));
    return cards;
  }

  private static Optional<CounterSet> counters(List<Device> devices, List<ResourceSlice> newestFirst) {
    return CardCounters.takenBy(devices)
        .map(taken -> newestFirst.stream().flatMap(slice -> slice.getSpec().getSharedCounters().stream())
            .filter(set -> CardCounters.has(set, devices))
            .findFirst().orElse(taken));
  }

  Optional<Device> device(String name) {
    return devices.stream().filter(device -> device.getName().equals(name)).findFirst();
  }
}
