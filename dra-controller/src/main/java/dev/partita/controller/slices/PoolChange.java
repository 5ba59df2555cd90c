package dev.partita.controller.slices;

import io.fabric8.kubernetes.api.model.resource.v1.CounterSet;
import io.fabric8.kubernetes.api.model.resource.v1.Device;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceCounterConsumption;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSlice;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSliceSpec;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSliceSpecBuilder;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Says what to write so that a pool becomes what it should be. When the set of slices changes, or which devices and
 * counters one of several holds, all of them move to a new generation, of which consumers see nothing until it is
 * complete. Otherwise they could meet a device twice, or one whose counters are not there, and kube-scheduler would
 * take the pool for invalid. When only what a slice says of its devices changes, that slice alone is updated, under its
 * generation.
 *
 * @param create slices to make, by name; to be made first: where somebody else has made one since, nothing is half done
 * @param update existing slices with what they should say
 * @param delete slices that the pool no longer has; to be deleted last
 */
record PoolChange(Map<String, ResourceSliceSpec> create, List<Update> update, List<ResourceSlice> delete) {
  /** An existing slice and its new spec. */
  record Update(ResourceSlice existing, ResourceSliceSpec spec) {}

  /**
   * The devices of a slice with the counters that each consumes, by name, and its counter sets. In these the slices of
   * a pool depend on each other: a device may stand in one of them only, and another one has the counters it consumes.
   */
  private record Holdings(Map<String, List<DeviceCounterConsumption>> devices, List<CounterSet> counters) {
    static Holdings of(ResourceSliceSpec spec) {
      return new Holdings(
          spec.getDevices().stream().collect(Collectors.toMap(Device::getName, Device::getConsumesCounters)),
          spec.getSharedCounters());
    }
  }

  boolean isEmpty() {
    return create.isEmpty() && update.isEmpty() && delete.isEmpty();
  }

  /**
   * @param names names of the desired slices, in the order of {@code desired}
   * @param desired what the pool should hold, without generation
   * @param existing all slices of the pool that the API server has
   * @param times when taints were added, as far as that is known
   */
  static PoolChange between(
      List<String> names,
      List<ResourceSliceSpec> desired,
      Collection<ResourceSlice> existing,
      TaintTimes times) {
    Map<String, ResourceSlice> byName = new HashMap<>();
    existing.forEach(slice -> byName.put(slice.getMetadata().getName(), slice));
    long newest = existing.stream().mapToLong(PoolChange::generation).max().orElse(0);
    boolean sameGeneration = existing.stream().allMatch(slice -> generation(slice) == newest);
    boolean sameSlices = sameGeneration && byName.keySet().equals(Set.copyOf(names));
    boolean inPlace = sameSlices && (names.size() == 1 || holdings(byName).equals(holdings(names, desired)));
    long generation = inPlace ? newest : newest + 1;

    Map<String, ResourceSliceSpec> create = new LinkedHashMap<>();
    List<Update> update = new ArrayList<>();
    for (int i = 0; i < names.size(); i++) {
      ResourceSliceSpec spec =
          new ResourceSliceSpecBuilder(desired.get(i)).editPool().withGeneration(generation).endPool().build();
      @Nullable ResourceSlice old = byName.remove(names.get(i));
      if (old == null) {
        create.put(names.get(i), times.on(spec));
      } else if (!TaintTimes.without(old.getSpec()).equals(TaintTimes.without(spec))) {
        update.add(new Update(old, times.on(spec)));
      }
    }
    return new PoolChange(create, update, List.copyOf(byName.values()));
  }

  private static Map<String, Holdings> holdings(Map<String, ResourceSlice> slices) {
    return slices.entrySet().stream()
        .collect(Collectors.toMap(Map.Entry::getKey, e -> Holdings.of(e.getValue().getSpec())));
  }

  private static Map<String, Holdings> holdings(List<String> names, List<ResourceSliceSpec> specs) {
    return IntStream.range(0, names.size()).boxed()
        .collect(Collectors.toMap(names::get, i -> Holdings.of(specs.get(i))));
  }

  /** Whether slices of a pool are missing: all, or some of its newest generation. */
  static boolean lacksSlices(Collection<ResourceSlice> existing) {
    long newest = existing.stream().mapToLong(PoolChange::generation).max().orElse(0);
    List<ResourceSlice> ofNewest = existing.stream().filter(slice -> generation(slice) == newest).toList();
    return ofNewest.isEmpty()
        || ofNewest.stream().anyMatch(slice -> slice.getSpec().getPool().getResourceSliceCount() > ofNewest.size());
  }

  static long generation(ResourceSlice slice) {
    Long generation = slice.getSpec().getPool().getGeneration();
    return generation == null ? 0 : generation;
  }
}
