package dev.partita.controller.slices;

import dev.partita.api.DeviceName;
import io.fabric8.kubernetes.api.model.resource.v1.CounterSet;
import io.fabric8.kubernetes.api.model.resource.v1.Device;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSlice;
import java.util.ArrayList;
import java.util.Collection;
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
  /** The cards that a pool offers by these slices, of whose generations the newest counts; by index. */
  static Map<Integer, PublishedCard> in(Collection<ResourceSlice> slices) {
    long newest = slices.stream().mapToLong(PoolChange::generation).max().orElse(0);
    Map<Integer, List<Device>> devices = new TreeMap<>();
    Map<String, CounterSet> counters = new TreeMap<>();
    for (ResourceSlice slice : slices) {
      if (PoolChange.generation(slice) == newest) {
        slice.getSpec().getSharedCounters().forEach(set -> counters.put(set.getName(), set));
        for (Device device : slice.getSpec().getDevices()) {
          DeviceName.parse(device.getName())
              .ifPresent(name -> devices.computeIfAbsent(name.index(), i -> new ArrayList<>()).add(device));
        }
      }
    }
    Map<Integer, PublishedCard> cards = new TreeMap<>();
    devices.forEach((index, of) -> cards.put(index,
        new PublishedCard(index, of, Optional.ofNullable(counters.get(CardCounters.nameOf(index))))));
    return cards;
  }

  Optional<Device> device(String name) {
    return devices.stream().filter(device -> device.getName().equals(name)).findFirst();
  }
}
