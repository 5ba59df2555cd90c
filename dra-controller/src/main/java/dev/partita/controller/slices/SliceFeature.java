package dev.partita.controller.slices;

import io.fabric8.kubernetes.api.model.resource.v1.ResourceSliceSpec;
import java.util.Set;

/** What of a slice only some API servers keep: with its feature gate off a server drops it. */
enum SliceFeature {
  /** Pods are bound once the MIG instance is made that kube-scheduler allocated (KEP-5007). */
  BINDING_CONDITIONS("DRADeviceBindingConditions") {
    @Override
    boolean isIn(ResourceSliceSpec slice) {
      return slice.getDevices().stream().anyMatch(device -> !device.getBindingConditions().isEmpty());
    }
  },
  /** Devices that are modes of one card say so besides the counters that they take of it (KEP-5963). */
  COMPATIBILITY_GROUPS("DRADeviceCompatibilityGroups") {
    @Override
    boolean isIn(ResourceSliceSpec slice) {
      return slice.getDevices().stream().flatMap(device -> device.getConsumesCounters().stream())
          .anyMatch(taken -> taken.getAdditionalProperties().containsKey(CardCounters.GROUPS));
    }
  },
  /** A ResourcePoolStatusRequest tells which of the devices that exclude each other can be had (KEP-5677). */
  PARTITION_TYPES("DRAPartitionableDevicesType") {
    @Override
    boolean isIn(ResourceSliceSpec slice) {
      return slice.getAdditionalProperties().containsKey(SlicePlan.PARTITION_TYPE_ATTRIBUTE);
    }
  },
  /** Devices say how much of their node's memory their containers take besides what pods request (KEP-5517). */
  NODE_RESOURCES("DRANodeAllocatableResources") {
    @Override
    boolean isIn(ResourceSliceSpec slice) {
      return slice.getDevices().stream()
          .anyMatch(device -> device.getAdditionalProperties().containsKey(SlicePlan.NODE_RESOURCES));
    }
  };

  /** None of them. */
  static final Set<SliceFeature> NONE = Set.of();

  private final String gate;

  SliceFeature(String gate) {
    this.gate = gate;
  }

  /** The feature gate of kube-apiserver and kube-scheduler. */
  String gate() {
    return gate;
  }

  abstract boolean isIn(ResourceSliceSpec slice);
}
