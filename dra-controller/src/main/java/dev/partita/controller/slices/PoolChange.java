package dev.partita.controller.slices;

import io.fabric8.kubernetes.api.model.resource.v1.CounterSet;
import io.fabric8.kubernetes.api.model.resource.v1.Device;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceCounterConsumption;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceTaint;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSlice;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSliceSpec;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSliceSpecBuilder;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
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
   */
  static PoolChange between(List<String> names, List<ResourceSliceSpec> desired, Collection<ResourceSlice> existing) {
    Map<String, ResourceSlice> byName = new HashMap<>();
    existing.forEach(slice -> byName.put(slice.getMetadata().getName(), slice));
    long newest = existing.stream().mapToLong(PoolChange::generation).max().orElse(0);
    boolean sameGeneration = existing.stream().allMatch(slice -> generation(slice) == newest);
    boolean sameSlices = sameGeneration && byName.keySet().equals(Set.copyOf(names));
    boolean inPlace = sameSlices && (names.size() == 1 || holdings(byName).equals(holdings(names, desired)));
    long generation = inPlace ? newest : newest + 1;

    Map<String, Map<DeviceTaint, String>> times = taintTimes(existing);
    Map<String, ResourceSliceSpec> create = new LinkedHashMap<>();
    List<Update> update = new ArrayList<>();
    for (int i = 0; i < names.size(); i++) {
      ResourceSliceSpec spec =
          new ResourceSliceSpecBuilder(desired.get(i)).editPool().withGeneration(generation).endPool().build();
      @Nullable ResourceSlice old = byName.remove(names.get(i));
      if (old == null) {
        create.put(names.get(i), keepingTaintTimes(spec, times));
      } else if (!comparable(old.getSpec()).equals(comparable(spec))) {
        update.add(new Update(old, keepingTaintTimes(spec, times)));
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

  /** The API server sets the time of a taint; it is no difference. */
  private static ResourceSliceSpec comparable(ResourceSliceSpec spec) {
    return new ResourceSliceSpecBuilder(spec)
        .withDevices(
            spec.getDevices().stream()
                .map(
                    device -> new DeviceBuilder(device)
                        .withTaints(device.getTaints().stream().map(taint -> timed(taint, null)).toList())
                        .build())
                .toList())
        .build();
  }

  /**
   * When the taints of the pool's devices were added, as its newest slices say. A device may go to another slice, and
   * Kubernetes reckons from that time when a pod is evicted that tolerates the taint for a while.
   */
  private static Map<String, Map<DeviceTaint, String>> taintTimes(Collection<ResourceSlice> existing) {
    Map<String, Map<DeviceTaint, String>> times = new HashMap<>();
    existing.stream().sorted(Comparator.comparingLong(PoolChange::generation))
        .flatMap(slice -> slice.getSpec().getDevices().stream())
        .forEach(device -> times.put(device.getName(), taintTimes(device)));
    return times;
  }

  private static Map<DeviceTaint, String> taintTimes(Device device) {
    Map<DeviceTaint, String> times = new HashMap<>();
    device.getTaints().stream().filter(taint -> taint.getTimeAdded() != null)
        .forEach(taint -> times.put(timed(taint, null), taint.getTimeAdded()));
    return times;
  }

  private static ResourceSliceSpec keepingTaintTimes(
      ResourceSliceSpec fresh,
      Map<String, Map<DeviceTaint, String>> times) {
    return new ResourceSliceSpecBuilder(fresh)
        .withDevices(
            fresh.getDevices().stream()
                .map(
                    device -> new DeviceBuilder(device)
                        .withTaints(
                            device.getTaints().stream()
                                .map(taint -> timed(taint,
                                    times.getOrDefault(device.getName(), Map.of()).get(timed(taint, null))))
                                .toList())
                        .build())
                .toList())
        .build();
  }

  private static DeviceTaint timed(DeviceTaint taint, @Nullable String time) {
    return new DeviceTaint(taint.getEffect(), taint.getKey(), time, taint.getValue());
  }
}
