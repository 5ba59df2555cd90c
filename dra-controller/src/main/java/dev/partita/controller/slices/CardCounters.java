package dev.partita.controller.slices;

import dev.partita.api.DeviceMode;
import dev.partita.api.DeviceName;
import dev.partita.controller.inventory.Device;
import dev.partita.controller.inventory.MigGeometry;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.resource.v1.Counter;
import io.fabric8.kubernetes.api.model.resource.v1.CounterSet;
import io.fabric8.kubernetes.api.model.resource.v1.CounterSetBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceCounterConsumption;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceCounterConsumptionBuilder;
import java.math.BigDecimal;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Makes the counters by which the devices of one card exclude each other where kube-scheduler allocates. A card that is
 * not offered as MIG instances has one counter, which each of its devices takes. Otherwise there is one for each memory
 * slice, as in NVIDIA's own DRA driver, and one for each profile of which there can be fewer than places. The card as a
 * whole and its shares take all of them.
 */
final class CardCounters {
  /** Most counters of a set, and of what a device consumes (resource.k8s.io/v1). */
  static final int MAX = 32;

  static final String CARD = "card";

  /** The field of what a device consumes that says beside which others; Kubernetes 1.37 has it, the client not yet. */
  static final String GROUPS = "compatibilityGroups";

  private final String set;
  private final MigGeometry geometry;
  private final SortedMap<String, Long> all = new TreeMap<>();

  /** @param devices what one card is offered as */
  CardCounters(Collection<Device> devices) {
    Device any = devices.iterator().next();
    set = nameOf(any.name().index());
    geometry = any.card().mig();
    if (devices.stream().noneMatch(device -> device.mode() == DeviceMode.MIG)) {
      all.put(CARD, 1L);
      return;
    }
    for (int slice = 0; slice < Integer.SIZE; slice++) {
      if ((geometry.slices() & 1 << slice) != 0) {
        all.put(ofSlice(slice), 1L);
      }
    }
    geometry.kinds().stream()
        .filter(MigGeometry.Kind::isLimited)
        .limit(MAX - (long) all.size())
        .toList()
        .forEach(kind -> all.put(ofProfile(kind.label()), (long) kind.profile().count()));
  }

  /** The name of the set of the card of that index. */
  static String nameOf(int index) {
    return "gpu-" + index;
  }

  CounterSet set() {
    return new CounterSetBuilder().withName(set).withCounters(counters(all)).build();
  }

  /** What the device takes. */
  DeviceCounterConsumption of(Device device) {
    SortedMap<String, Long> taken = new TreeMap<>(all);
    if (device.name() instanceof DeviceName.Mig mig) {
      taken.clear();
      int slices = geometry.slices(mig.slot());
      for (int slice = 0; slice < Integer.SIZE; slice++) {
        if ((slices & geometry.slices() & 1 << slice) != 0) {
          taken.put(ofSlice(slice), 1L);
        }
      }
      if (all.containsKey(ofProfile(mig.slot().profile()))) {
        taken.put(ofProfile(mig.slot().profile()), 1L);
      }
    }
    return new DeviceCounterConsumptionBuilder().withCounterSet(set).withCounters(counters(taken)).build();
  }

  /**
   * The same with its mode as its only compatibility group: kube-scheduler then allocates devices of one card together
   * only if they are of one mode (KEP-5963). The counters come to the same.
   */
  DeviceCounterConsumption withGroups(Device device) {
    DeviceCounterConsumption taken = of(device);
    taken.setAdditionalProperty(GROUPS, List.of(device.mode().attributeValue()));
    return taken;
  }

  /** Whether there are all counters in the set that these devices take. */
  static boolean has(CounterSet set, List<io.fabric8.kubernetes.api.model.resource.v1.Device> devices) {
    return taken(devices).allMatch(
        taken -> taken.getCounterSet().equals(set.getName())
            && set.getCounters().keySet().containsAll(taken.getCounters().keySet()));
  }

  /** The set that these devices of one card take, as far as it can be told from them: of each counter the most. */
  static Optional<CounterSet> takenBy(List<io.fabric8.kubernetes.api.model.resource.v1.Device> devices) {
    SortedMap<String, Counter> most = new TreeMap<>();
    taken(devices).forEach(
        taken -> taken.getCounters().forEach((name, counter) -> most.merge(name, counter, CardCounters::larger)));
    return taken(devices).findFirst()
        .map(any -> new CounterSetBuilder().withName(any.getCounterSet()).withCounters(most).build());
  }

  private static Stream<DeviceCounterConsumption> taken(
      List<io.fabric8.kubernetes.api.model.resource.v1.Device> devices) {
    return devices.stream().flatMap(device -> device.getConsumesCounters().stream());
  }

  private static Counter larger(Counter one, Counter other) {
    BigDecimal value = one.getValue().getNumericalAmount();
    return value.compareTo(other.getValue().getNumericalAmount()) < 0 ? other : one;
  }

  private static SortedMap<String, Counter> counters(SortedMap<String, Long> values) {
    SortedMap<String, Counter> counters = new TreeMap<>();
    values.forEach((name, value) -> counters.put(name, new Counter(new Quantity(Long.toString(value)))));
    return counters;
  }

  private static String ofSlice(int slice) {
    return "memory-slice-" + slice;
  }

  private static String ofProfile(String label) {
    return "profile-" + label;
  }
}
