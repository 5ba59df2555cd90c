package dev.partita.controller.slices;

import io.fabric8.kubernetes.api.model.resource.v1.DeviceTaint;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSlice;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSliceSpec;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSliceSpecBuilder;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Says what to write so that a pool becomes what it should be. When the set of slices changes, all of them move to a
 * new generation, of which consumers see nothing until it is complete. When only a slice's devices change, that slice
 * alone is updated, under its generation.
 *
 * @param create slices to make, by name
 * @param update existing slices with what they should say
 * @param delete slices that the pool no longer has; to be deleted last
 */
record PoolChange(Map<String, ResourceSliceSpec> create, List<Update> update, List<ResourceSlice> delete) {
  /** An existing slice and its new spec. */
  record Update(ResourceSlice existing, ResourceSliceSpec spec) {}

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
    boolean sameSet = existing.size() == names.size() && byName.keySet().containsAll(names) && sameGeneration;
    long generation = sameSet ? newest : newest + 1;

    Map<String, ResourceSliceSpec> create = new java.util.LinkedHashMap<>();
    List<Update> update = new ArrayList<>();
    for (int i = 0; i < names.size(); i++) {
      ResourceSliceSpec spec =
          new ResourceSliceSpecBuilder(desired.get(i)).editPool().withGeneration(generation).endPool().build();
      @Nullable ResourceSlice old = byName.remove(names.get(i));
      if (old == null) {
        create.put(names.get(i), spec);
      } else if (!comparable(old.getSpec()).equals(comparable(spec))) {
        update.add(new Update(old, keepingTaintTimes(old.getSpec(), spec)));
      }
    }
    return new PoolChange(create, update, List.copyOf(byName.values()));
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
                    device -> new io.fabric8.kubernetes.api.model.resource.v1.DeviceBuilder(device)
                        .withTaints(device.getTaints().stream().map(taint -> timed(taint, null)).toList())
                        .build())
                .toList())
        .build();
  }

  private static ResourceSliceSpec keepingTaintTimes(ResourceSliceSpec old, ResourceSliceSpec fresh) {
    Map<String, String> times = new HashMap<>();
    for (var device : old.getDevices()) {
      for (DeviceTaint taint : device.getTaints()) {
        if (taint.getTimeAdded() != null) {
          times.put(device.getName() + "\n" + timed(taint, null), taint.getTimeAdded());
        }
      }
    }
    return new ResourceSliceSpecBuilder(fresh)
        .withDevices(
            fresh.getDevices().stream()
                .map(
                    device -> new io.fabric8.kubernetes.api.model.resource.v1.DeviceBuilder(device)
                        .withTaints(
                            device.getTaints().stream()
                                .map(taint -> timed(taint, times.get(device.getName() + "\n" + timed(taint, null))))
                                .toList())
                        .build())
                .toList())
        .build();
  }

  private static DeviceTaint timed(DeviceTaint taint, @Nullable String time) {
    return new DeviceTaint(taint.getEffect(), taint.getKey(), time, taint.getValue());
  }
}
