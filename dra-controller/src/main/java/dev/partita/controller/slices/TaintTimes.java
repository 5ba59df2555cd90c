package dev.partita.controller.slices;

import io.fabric8.kubernetes.api.model.resource.v1.Device;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceTaint;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSlice;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSliceSpec;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSliceSpecBuilder;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * When the taints of a pool's devices were added. The API server sets it where a slice does not say it, and Kubernetes
 * reckons from that time when a pod is evicted that tolerates the taint for a while.
 *
 * @param byDevice by the device's name, and by the taint without its time
 */
record TaintTimes(Map<String, Map<DeviceTaint, String>> byDevice) {
  static final TaintTimes NONE = new TaintTimes(Map.of());

  /** As the newest of a pool's slices say: a device may go to another slice. */
  static TaintTimes in(Collection<ResourceSlice> slices) {
    Map<String, Map<DeviceTaint, String>> times = new HashMap<>();
    slices.stream().sorted(Comparator.comparingLong(PoolChange::generation))
        .flatMap(slice -> slice.getSpec().getDevices().stream())
        .forEach(device -> times.put(device.getName(), of(device)));
    return new TaintTimes(times);
  }

  private static Map<DeviceTaint, String> of(Device device) {
    Map<DeviceTaint, String> times = new HashMap<>();
    device.getTaints().stream().filter(taint -> taint.getTimeAdded() != null)
        .forEach(taint -> times.put(timed(taint, null), taint.getTimeAdded()));
    return times;
  }

  /** The same, and what was known before of devices that are in none of the slices now. */
  TaintTimes or(TaintTimes before) {
    Map<String, Map<DeviceTaint, String>> times = new HashMap<>(before.byDevice);
    times.putAll(byDevice);
    return new TaintTimes(times);
  }

  /** Those of taints by which pods are evicted, as far as the devices are to have them still. */
  TaintTimes ofEvictions(Collection<ResourceSliceSpec> wanted) {
    Map<String, Map<DeviceTaint, String>> times = new HashMap<>();
    for (ResourceSliceSpec spec : wanted) {
      for (Device device : spec.getDevices()) {
        for (DeviceTaint taint : device.getTaints()) {
          @Nullable String time = of(device.getName(), taint);
          if (time != null && "NoExecute".equals(taint.getEffect())) {
            times.computeIfAbsent(device.getName(), _ -> new HashMap<>()).put(timed(taint, null), time);
          }
        }
      }
    }
    return new TaintTimes(times);
  }

  /** The slice with these times. */
  ResourceSliceSpec on(ResourceSliceSpec slice) {
    return withTaints(slice, (device, taint) -> timed(taint, of(device, taint)));
  }

  /** The slice without any. */
  static ResourceSliceSpec without(ResourceSliceSpec slice) {
    return withTaints(slice, (_, taint) -> timed(taint, null));
  }

  /** @param retimed the taint that stands for one of a device of that name */
  private static ResourceSliceSpec withTaints(
      ResourceSliceSpec slice,
      BiFunction<String, DeviceTaint, DeviceTaint> retimed) {
    List<Device> devices = slice.getDevices().stream()
        .map(device -> new DeviceBuilder(device)
            .withTaints(device.getTaints().stream().map(taint -> retimed.apply(device.getName(), taint)).toList())
            .build())
        .toList();
    return new ResourceSliceSpecBuilder(slice).withDevices(devices).build();
  }

  private @Nullable String of(String device, DeviceTaint taint) {
    return byDevice.getOrDefault(device, Map.of()).get(timed(taint, null));
  }

  private static DeviceTaint timed(DeviceTaint taint, @Nullable String time) {
    return new DeviceTaint(taint.getEffect(), taint.getKey(), time, taint.getValue());
  }
}
